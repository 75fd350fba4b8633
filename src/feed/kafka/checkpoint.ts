/**
 * The feed's checkpoint: the newest record of a compacted topic with one partition. It is written in
 * the transaction of the events that it covers, so both always match.
 *
 * The offset of a consumer group could be committed in the same transaction and is cheaper to read.
 * But brokers delete offsets of a group without members a week after the last commit
 * (offsets.retention.minutes), and a catalog without writes for a week would send its log again.
 */
import { randomUUID } from "node:crypto";
import { type Position, position } from "../../core/position.ts";
import type { KafkaClient } from "./kafka-client.ts";
import { withAdmin } from "./kafka-client.ts";
import type { WantedTopic } from "./topics.ts";

interface Checkpoint {
  readonly position: Position;
  /** Id of the log whose events were sent. */
  readonly log: string | undefined;
  /** Name of the record at the position; undefined when the checkpoint has none. */
  readonly record: string | undefined;
}

export const checkpointKey = "feed";

export const checkpointText = ({ position, log, record }: Checkpoint): string =>
  JSON.stringify({ position, log, record });

/**
 * Segments are small, because only full ones are compacted and the rest must be read. Transaction
 * markers are kept for a minute instead of a day.
 */
export const checkpointTopic = (topic: string): WantedTopic => ({
  topic,
  partitions: 1,
  settings: {
    "cleanup.policy": "compact",
    "segment.bytes": String(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "60000",
  },
});

/** Maximum time that a fetch waits for further records. */
const FETCH_MS_MAX = 100;

/**
 * Undefined without a checkpoint. The topic must exist. Ignores records of open transactions.
 */
export async function readCheckpoint(
  client: KafkaClient,
  topic: string,
): Promise<Checkpoint | undefined> {
  const [ends] = await withAdmin(client, (admin) => admin.fetchTopicOffsets(topic));
  if (ends === undefined || ends.low === ends.high) return undefined;
  const end = BigInt(ends.high);
  // The driver can read partitions only in groups. This group has one member and commits nothing.
  const consumer = client.kafka.consumer({
    groupId: `${topic}-reader-${randomUUID()}`,
    maxWaitTimeInMs: FETCH_MS_MAX,
    allowAutoTopicCreation: false,
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let newest: Buffer | null | undefined;
  consumer.on("consumer.crash", ({ payload }) => reject(payload.error));
  // Ends of transactions are not messages, but they have offsets.
  consumer.on("consumer.end_batch_process", ({ payload }) => {
    if (BigInt(payload.lastOffset) >= end - 1n) resolve();
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        newest = batch.messages.at(-1)?.value ?? newest;
      },
    });
    await promise;
  } finally {
    await consumer.disconnect().catch(() => {});
  }
  return newest == null ? undefined : checkpointOf(newest.toString("utf8"));
}

function checkpointOf(text: string): Checkpoint {
  const {
    position: at,
    log,
    record,
  } = JSON.parse(text) as Omit<Checkpoint, "position"> & {
    readonly position: number;
  };
  return { position: position(at), log, record };
}
