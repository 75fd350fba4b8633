/** Topics: made when they are missing, and how large a message each takes. */
import { setTimeout as pause } from "node:timers/promises";
import kafkajs, { type Admin } from "kafkajs";
import { errorTypeOf } from "./kafka-failures.ts";

/** Node does not find this one by its name. */
const { ConfigResourceTypes } = kafkajs;

export interface WantedTopic {
  readonly topic: string;
  readonly partitions: number;
  /** Settings that are not the broker's own. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Copies of a topic, as far as there are brokers. */
const REPLICAS_MAX = 3;
const CREATE_MS_MAX = 10_000;
const LED_MS_MAX = 5_000;
const LED_PAUSE_MS = 50;
/** Kafka's own default of message.max.bytes. */
const MESSAGE_BYTES_DEFAULT = 1_048_588;

/**
 * Room for the largest aspect value, the value before it, and all else of an event. Kafka's own limit
 * is a megabyte, and one event over it would stop all that come after.
 */
export const eventBytesMax = 2 * 17_000_000;

/** Topics that are there stay as they are, also where they differ from what is wanted. */
export async function ensureTopics(admin: Admin, wanted: readonly WantedTopic[]): Promise<void> {
  const there = new Set(await admin.listTopics());
  const missing = wanted.filter(({ topic }) => !there.has(topic));
  if (missing.length === 0) return;
  const { brokers } = await admin.describeCluster();
  const replicationFactor = Math.min(REPLICAS_MAX, brokers.length);
  for (const { topic, partitions, settings = {} } of missing) {
    const create = (entries: Readonly<Record<string, string>>) =>
      // One by one: the driver forgives a topic that another process has just made, but only alone.
      admin.createTopics({
        topics: [
          {
            topic,
            numPartitions: partitions,
            replicationFactor,
            configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
          },
        ],
        timeout: CREATE_MS_MAX,
        waitForLeaders: false,
      });
    try {
      await create({ "max.message.bytes": String(eventBytesMax), ...settings });
    } catch (error) {
      // Who runs the brokers may allow less.
      if (!["POLICY_VIOLATION", "INVALID_CONFIG"].includes(errorTypeOf(error) ?? "")) throw error;
      await create(settings);
    }
  }
  await untilLed(
    admin,
    missing.map(({ topic }) => topic),
  );
}

/** A broker learns of a new topic a moment later than the one that made it. */
async function untilLed(admin: Admin, topics: string[]): Promise<void> {
  for (const end = Date.now() + LED_MS_MAX; ; await pause(LED_PAUSE_MS)) {
    try {
      const told = await admin.fetchTopicMetadata({ topics });
      const led = told.topics.flatMap(({ partitions }) => partitions.map(({ leader }) => leader));
      if (led.length >= topics.length && led.every((leader) => leader >= 0)) return;
    } catch (error) {
      if (errorTypeOf(error) === undefined || Date.now() > end) throw error;
    }
    // Whoever uses a topic without a leader is told so.
    if (Date.now() > end) return;
  }
}

/** Settings of topics, for those that are there and that the user may see. */
export async function readTopicSettings(
  admin: Admin,
  topics: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: ConfigResourceTypes.TOPIC, name })),
  });
  return new Map(
    resources
      .filter(({ errorCode }) => errorCode === 0)
      .map(({ resourceName, configEntries }) => [
        resourceName,
        Object.fromEntries(
          configEntries.map(({ configName, configValue }) => [configName, configValue]),
        ),
      ]),
  );
}

/** Largest batch of records that each topic takes, in bytes. */
export async function readMessageLimits(
  admin: Admin,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // Without the right to see settings the default is a good guess; the broker has the last word.
  const settings = await readTopicSettings(admin, topics).catch(() => new Map());
  return new Map(
    topics.map((topic) => {
      const told = Number(settings.get(topic)?.["max.message.bytes"]);
      return [topic, told > 0 ? told : MESSAGE_BYTES_DEFAULT];
    }),
  );
}
