/** A Kafka for tests: topics of one test under its own prefix, read as consumers read them. */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import avro, { type Type } from "avsc";
import { type IHeaders, Kafka, logLevel } from "kafkajs";
import { type Position, position, type Revision } from "../../src/core/position.ts";
import type { ChangeEvent } from "../../src/feed/change-event.ts";
import { eventSchemas } from "../../src/feed/event-schemas.ts";
import { parseKafkaAddress } from "../../src/feed/kafka/kafka-address.ts";
import { createKafkaClient, withAdmin } from "../../src/feed/kafka/kafka-client.ts";
import { retryWhileLoading } from "../../src/feed/kafka/kafka-failures.ts";

export interface ReadMessage {
  readonly key: string | undefined;
  readonly value: Buffer;
  readonly partition: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface KafkaSpace {
  /** Settings of the feed. */
  readonly url: string;
  readonly prefix: string;
  readonly kafka: Kafka;
  /**
   * All messages of a topic, in order within each partition. Waits a moment first, because
   * committed messages become visible a moment later.
   */
  read(
    topic: string,
    options?: { readonly uncommitted?: boolean },
  ): Promise<readonly ReadMessage[]>;
  /** Sets max.message.bytes of a topic. */
  limit(topic: string, bytes: number): Promise<void>;
  remove(): Promise<void>;
}

const SETTLING_MS = 250;
const LOADING_MS_MAX = 60_000;

/** Types of resources, as the protocol numbers them. */
const TOPIC = 2;

export interface KafkaSpaceOptions {
  /** Parameters for the address, such as `&partitions=1`. */
  readonly options?: string;
  /** Given for topics that another program has written. */
  readonly prefix?: string;
  readonly certificates?: string | undefined;
}

export function createKafkaSpace(
  server: string,
  {
    options = "",
    prefix = `t${randomBytes(5).toString("hex")}.`,
    certificates,
  }: KafkaSpaceOptions = {},
): KafkaSpace {
  const base = server.includes("://") ? server : `kafka://${server}`;
  const url = `${base}${base.includes("?") ? "&" : "?"}topicPrefix=${prefix}${options}`;
  const { kafka } = createKafkaClient(parseKafkaAddress(url), {
    clientId: "annals-tests",
    certificates,
  });
  return {
    url,
    prefix,
    kafka,
    async read(topic, { uncommitted = false } = {}) {
      await pause(SETTLING_MS);
      // A coordinator that is still loading ends a consumer that joins its group.
      return retryWhileLoading(() => readTopic(kafka, prefix + topic, uncommitted), LOADING_MS_MAX);
    },
    limit: (topic, bytes) =>
      withAdmin({ kafka }, async (admin) => {
        const configEntries = [{ name: "max.message.bytes", value: String(bytes) }];
        const resources = [{ type: TOPIC, name: prefix + topic, configEntries }];
        await admin.alterConfigs({ validateOnly: false, resources });
      }),
    remove: () =>
      withAdmin({ kafka }, async (admin) => {
        const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
        if (topics.length > 0) await admin.deleteTopics({ topics });
        const { groups } = await admin.listGroups();
        const own = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix));
        if (own.length > 0) await admin.deleteGroups(own).catch(() => {});
      }),
  };
}

/** A plain client, for requests without the adapter. */
export const plainKafka = (server: string): Kafka =>
  new Kafka({
    clientId: "somebody",
    brokers: [...parseKafkaAddress(server).brokers],
    logLevel: logLevel.NOTHING,
  });

async function readTopic(
  kafka: Kafka,
  topic: string,
  readUncommitted: boolean,
): Promise<readonly ReadMessage[]> {
  const ends = await withAdmin({ kafka }, (admin) => admin.fetchTopicOffsets(topic));
  const left = new Map(
    ends.filter(({ low, high }) => low !== high).map(({ partition, high }) => [partition, high]),
  );
  if (left.size === 0) return [];
  const consumer = kafka.consumer({
    groupId: `${topic}-${randomUUID()}`,
    readUncommitted,
    maxWaitTimeInMs: 50,
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const messages: ReadMessage[] = [];
  consumer.on("consumer.crash", ({ payload }) => reject(payload.error));
  consumer.on("consumer.end_batch_process", ({ payload: { partition, lastOffset } }) => {
    const end = left.get(partition);
    if (end !== undefined && BigInt(lastOffset) >= BigInt(end) - 1n) left.delete(partition);
    if (left.size === 0) resolve();
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message: { key, value, headers } }) => {
        messages.push({
          key: key?.toString(),
          value: value ?? Buffer.alloc(0),
          partition,
          headers: textsOf(headers),
        });
      },
    });
    await promise;
    return messages;
  } finally {
    await consumer.disconnect();
  }
}

const textsOf = (headers: IHeaders = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Decodes a frame with the schema of its id, as a consumer with a registry does. */
export function createReader(
  schemaText: (id: number) => Promise<string> = async (id) =>
    eventSchemas.find((schema) => schema.id === id)?.text ?? "",
): (value: Buffer) => Promise<Record<string, unknown>> {
  const types = new Map<number, Type>();
  return async (value) => {
    const id = value.readUInt32BE(1);
    let type = types.get(id);
    if (type === undefined) {
      type = avro.Type.forSchema(JSON.parse(await schemaText(id)));
      types.set(id, type);
    }
    return type.fromBuffer(value.subarray(5)) as Record<string, unknown>;
  };
}

export const urnOf = (n: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,db.table${n},PROD)`;

/** Events in the form of a log: positions increase, and some records have no event. */
export function eventsFrom(
  first: number,
  count: number,
  { urns = 17, size = 20 } = {},
): readonly ChangeEvent[] {
  return Array.from({ length: count }, (_, i) => {
    const at = first + 2 * i;
    return eventAt(position(at), urnOf(at % urns), "x".repeat(size));
  });
}

export function eventAt(at: Position, urn: string, text: string): ChangeEvent {
  const created = { time: 1_700_000_000_000 + at, actor: "urn:li:corpuser:tester" };
  return {
    change: {
      urn,
      entityType: "dataset",
      aspect: "status",
      changeType: "UPSERT",
      value: JSON.stringify({ removed: false, text }),
      created,
      system: { lastObserved: created.time, runId: "test", version: "1" },
      position: at,
      revision: at as number as Revision,
      timeseries: at % 5 === 0,
    },
  };
}
