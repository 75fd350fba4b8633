/**
 * The feed to Kafka against its driver alone: an idempotent producer sends the same messages,
 * serialized in advance, in the same batches. The feed also builds its messages from changes, and
 * commits each batch in a transaction with its checkpoint.
 */
import { type Message, Partitioners, type Producer } from "kafkajs";
import { lastOf, position, type Revision } from "../../src/core/position.ts";
import type { ChangeEvent } from "../../src/feed/change-event.ts";
import { createEventCodec } from "../../src/feed/event-codec.ts";
import { openKafkaFeedSink } from "../../src/feed/kafka/kafka-feed-sink.ts";
import { createPlatformEvents } from "../../src/feed/platform-events.ts";
import { createKafkaSpace, type KafkaSpace } from "../adapter/kafka-place.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { rate, report } from "./report.ts";
import { propertiesOf, urnOf } from "./sample.ts";

const TARGET = 0.7;
/** The batch size of the projector. */
const BATCH = 2_000;
const WARM_ROUNDS = 8;
const ROUNDS = 16;
const REQUEST_BYTES = 1024 * 1024;
const RAW_TOPIC = "raw";

const codec = createEventCodec({ findSchema: async () => undefined });

export async function benchKafka(): Promise<void> {
  const store = await reachStore("kafka");
  console.log(storeTitle("kafka", store));
  if ("skipped" in store) return;
  const space = createKafkaSpace(store.url);
  try {
    await benchFeed(space);
  } finally {
    await space.remove();
  }
}

async function benchFeed(space: KafkaSpace): Promise<void> {
  const log = { id: "00000000-0000-4000-8000-000000000000", head: position(10 ** 9) };
  const sink = await openKafkaFeedSink({
    url: space.url,
    name: "bench",
    codec,
    platformEventsOf: createPlatformEvents({}),
    log,
  });
  const raw = space.kafka.producer({
    ...{ createPartitioner: Partitioners.DefaultPartitioner, allowAutoTopicCreation: false },
    idempotent: true,
  });
  const admin = space.kafka.admin();
  await Promise.all([raw.connect(), admin.connect()]);
  const topic = space.prefix + RAW_TOPIC;
  await admin.createTopics({ topics: [{ topic, numPartitions: 3, replicationFactor: 1 }] });
  await admin.disconnect();
  try {
    const times = { feed: 0, raw: 0 };
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      const events = eventsOf(round);
      const upTo = lastOf(events.map(({ change }) => change));
      const requests = requestsOf(events, log.id);
      const turns = [
        ["feed", () => sink.apply(events, upTo)],
        ["raw", () => sendAll(raw, topic, requests)],
      ] as const;
      for (const [who, turn] of round % 2 === 0 ? turns : turns.toReversed()) {
        const begun = performance.now();
        await turn();
        if (round >= WARM_ROUNDS) times[who] += (performance.now() - begun) / 1_000;
      }
    }
    const ratio = times.raw / times.feed;
    report("feed to kafka", rate((ROUNDS * BATCH) / times.feed), {
      ...{ ratio, target: TARGET },
      of: "the raw producer",
    });
  } finally {
    await raw.disconnect();
    await sink.close();
  }
}

/** Values with their previous values: some 1.4 kB a message. */
function eventsOf(round: number): readonly ChangeEvent[] {
  return Array.from({ length: BATCH }, (_, i): ChangeEvent => {
    const at = round * BATCH + i + 1;
    const created = { time: 1_790_000_000_000 + at, actor: "urn:li:corpuser:ingestion" };
    const system = {
      lastObserved: created.time,
      runId: `run-${round}`,
      version: String(round + 2),
    };
    return {
      change: {
        ...{ urn: urnOf(i), entityType: "dataset", aspect: "datasetProperties" },
        ...{ changeType: "UPSERT", value: JSON.stringify(propertiesOf(i, round)), created, system },
        ...{ position: position(at), revision: at as number as Revision, timeseries: false },
      },
      previous: { value: JSON.stringify(propertiesOf(i, round - 1)), system },
    };
  });
}

function requestsOf(events: readonly ChangeEvent[], log: string): readonly (readonly Message[])[] {
  const requests: Message[][] = [[]];
  let bytes = 0;
  for (const event of events) {
    const { key, value } = codec.encodeChange(event);
    const headers = { "annals-position": String(event.change.position), "annals-log": log };
    if (bytes + value.length > REQUEST_BYTES) {
      requests.push([]);
      bytes = 0;
    }
    bytes += value.length;
    requests.at(-1)?.push({ key, value, headers });
  }
  return requests;
}

async function sendAll(
  producer: Producer,
  topic: string,
  requests: readonly (readonly Message[])[],
): Promise<void> {
  for (const messages of requests) await producer.send({ topic, messages: [...messages] });
}

if (import.meta.main) await benchKafka();
