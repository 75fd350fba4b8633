/** Creates missing topics, and reads the settings of topics. */
import { setTimeout as pause } from "node:timers/promises";
import kafkajs, { type Admin } from "kafkajs";
import { errorTypeOf } from "./kafka-failures.ts";

/** Node cannot import this one by name. */
const { ConfigResourceTypes } = kafkajs;

export interface WantedTopic {
  readonly topic: string;
  readonly partitions: number;
  /** Settings that differ from the broker's defaults. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Maximum number of replicas of a topic; fewer with fewer brokers. */
const REPLICAS_MAX = 3;
const CREATE_MS_MAX = 10_000;
const LED_MS_MAX = 5_000;
const LED_PAUSE_MS = 50;
/** Kafka's own default of message.max.bytes. */
const MESSAGE_BYTES_DEFAULT = 1_048_588;

/**
 * Maximum size of an event: the largest aspect value, its previous value, and the rest. Kafka's
 * default is a megabyte, and a larger event would block all later ones.
 */
export const eventBytesMax = 2 * 17_000_000;

/** Existing topics stay unchanged, even if their settings differ. */
export async function ensureTopics(admin: Admin, wanted: readonly WantedTopic[]): Promise<void> {
  const there = new Set(await admin.listTopics());
  const missing = wanted.filter(({ topic }) => !there.has(topic));
  if (missing.length === 0) return;
  const { brokers } = await admin.describeCluster();
  const replicationFactor = Math.min(REPLICAS_MAX, brokers.length);
  for (const { topic, partitions, settings = {} } of missing) {
    const create = (entries: Readonly<Record<string, string>>) =>
      // One by one: the driver ignores the error for an existing topic only if it is the only topic.
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
      // The broker's policy may allow less.
      if (!["POLICY_VIOLATION", "INVALID_CONFIG"].includes(errorTypeOf(error) ?? "")) throw error;
      await create(settings);
    }
  }
  await awaitLeaders(
    admin,
    missing.map(({ topic }) => topic),
  );
}

/** Waits until all partitions have leaders: a new topic needs some time to reach all brokers. */
async function awaitLeaders(admin: Admin, topics: string[]): Promise<void> {
  for (const end = Date.now() + LED_MS_MAX; ; await pause(LED_PAUSE_MS)) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      const led = metadata.topics.flatMap(({ partitions }) =>
        partitions.map(({ leader }) => leader),
      );
      if (led.length >= topics.length && led.every((leader) => leader >= 0)) return;
    } catch (error) {
      if (errorTypeOf(error) === undefined || Date.now() > end) throw error;
    }
    // Using a topic without a leader fails with its own error.
    if (Date.now() > end) return;
  }
}

/** Settings of the topics that exist and that the user may describe. */
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

/** Maximum size of a batch of records of each topic, in bytes. */
export async function readMessageLimits(
  admin: Admin,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // Uses the default if the user may not read the settings; the broker enforces its own limit.
  const settings = await readTopicSettings(admin, topics).catch(() => new Map());
  return new Map(
    topics.map((topic) => {
      const bytes = Number(settings.get(topic)?.["max.message.bytes"]);
      return [topic, bytes > 0 ? bytes : MESSAGE_BYTES_DEFAULT];
    }),
  );
}
