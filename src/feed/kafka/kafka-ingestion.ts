/**
 * Ingestion from Kafka: every message of MetadataChangeProposal_v1 is appended to the log, or sent
 * to FailedMetadataChangeProposal_v1 with the cause. No message is lost, and none blocks the next.
 *
 * Each message is a separate request with topic/partition/offset as its idempotency key. So
 * redelivery has no further effect, and a failure affects one message only. Messages of a fetch are
 * sent concurrently, so that the log needs few commits; messages of one urn are sent one after
 * another. Offsets of the group are committed when the log has the records.
 *
 * While the catalog rejects all writes (disk full, log unavailable, …), messages wait for a retry.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Batch, Consumer, EachBatchPayload, KafkaMessage, Producer } from "kafkajs";
import { CatalogError, type ErrorCode } from "../../core/errors.ts";
import type { ServerAddress } from "../../storage/view-origin.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { EventCodec } from "../event-codec.ts";
import { topics } from "../event-schemas.ts";
import type { TopicOffsets } from "../topic-offsets.ts";
import { ingestionTopics, type KafkaNames, namesOf } from "./feed-topics.ts";
import { parseKafkaAddress } from "./kafka-address.ts";
import {
  createKafkaClient,
  type KafkaClient,
  producerSettings,
  withAdmin,
} from "./kafka-client.ts";
import { isTooLarge, kafkaFailure } from "./kafka-failures.ts";
import { ensureTopics } from "./topics.ts";

type Codec = Pick<EventCodec, "decodeProposal" | "encodeFailure">;
type Proposal = Awaited<ReturnType<EventCodec["decodeProposal"]>>;

export interface KafkaIngestionParts extends ServerAddress {
  /** `url`: see parseKafkaAddress. */
  readonly codec: Codec;
  /** Ingests as the system actor. */
  readonly ingest: (
    proposals: readonly Proposal[],
    caller: { readonly idempotencyKey: string },
  ) => Promise<unknown>;
  readonly logger?: Logger | undefined;
}

export interface KafkaIngestion {
  /** Committed offsets. Rejects with `unavailable`. */
  offsets(): Promise<TopicOffsets>;
  /** Numbers since the start. */
  counts(): { readonly ingested: number; readonly failed: number };
  /** Reason why ingestion is stalled; undefined if no reason is known. */
  trouble(): string | undefined;
  /** Finishes messages in flight; the next member of the group reads the remaining ones. */
  close(): Promise<void>;
}

/** Maximum number of messages that are ingested together. */
const BATCH_MAX = 500;
const PARTITIONS_AT_ONCE_MAX = 3;
/** Maximum time that a fetch waits for the first message; closing waits for it, too. */
const FETCH_MS_MAX = 500;
/** Well below the session timeout of the group. */
const HEARTBEAT_MS = 2_000;
const RETRY_MS = { first: 50, max: 5_000 };
const RESTART_MS = 2_000;
/** Attempts for internal errors. */
const INTERNAL_ATTEMPTS_MAX = 3;

/** Codes of errors that are retried. */
const transient: ReadonlySet<ErrorCode> = new Set(["unavailable", "rate_limited", "conflict"]);

/** Rejects with `unavailable` if Kafka cannot be reached now; after that, outages are retried. */
export async function openKafkaIngestion(parts: KafkaIngestionParts): Promise<KafkaIngestion> {
  const { logger } = parts;
  const address = parseKafkaAddress(parts.url);
  const names = namesOf(address, parts);
  const client = createKafkaClient(address, { clientId: names.ingestion, ...parts });
  const topic = names.topic(topics.proposals);
  const failing = client.kafka.producer(producerSettings);
  const stopping = new AbortController();
  let trouble: string | undefined;
  let reader: Consumer | undefined;
  let restarting: Promise<void> = Promise.resolve();

  const handling = createHandling(parts, {
    sendFailed: createSendFailed(failing, names, parts),
    stopping: stopping.signal,
    onTrouble(why) {
      if (why !== undefined && trouble === undefined) logger?.warn({ why }, "ingestion waits");
      trouble = why;
    },
  });

  async function read(): Promise<void> {
    const consumer = client.kafka.consumer({
      groupId: names.ingestion,
      maxWaitTimeInMs: FETCH_MS_MAX,
      allowAutoTopicCreation: false,
    });
    reader = consumer;
    consumer.on("consumer.crash", ({ payload: { error, restart } }) => {
      trouble = kafkaFailure(error, address, "cannot be read").message;
      logger?.warn({ err: error }, "reading proposals from Kafka stopped, and begins again");
      // The driver restarts after errors that it considers transient; this handles all others.
      if (!restart) restarting = resubscribe(consumer);
    });
    consumer.on("consumer.group_join", () => {
      trouble = undefined;
    });
    await consumer.connect();
    // Includes messages that were sent before the first start.
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE_MAX,
      eachBatch: handling.handle,
    });
  }

  async function resubscribe(crashed: Consumer): Promise<void> {
    let before = crashed;
    while (!stopping.signal.aborted) {
      await before.disconnect().catch(() => {});
      await ignoringErrors(pause(RESTART_MS, undefined, { signal: stopping.signal }));
      if (stopping.signal.aborted) return;
      try {
        return await read();
      } catch (error) {
        trouble = kafkaFailure(error, address, "cannot be read").message;
        before = reader ?? before;
      }
    }
  }

  try {
    await withAdmin(client, (admin) => ensureTopics(admin, ingestionTopics(names, address)));
    await failing.connect();
    await read();
  } catch (error) {
    await reader?.disconnect().catch(() => {});
    await failing.disconnect().catch(() => {});
    throw kafkaFailure(error, address, "cannot be read for proposals");
  }

  return {
    offsets: () =>
      readOffsets(client, names.ingestion, topic).catch((error: unknown) => {
        throw kafkaFailure(error, address, "cannot be asked for its proposals");
      }),
    counts: handling.counts,
    trouble: () => trouble,
    async close() {
      stopping.abort();
      await restarting;
      await reader?.disconnect().catch(() => {});
      await failing.disconnect().catch(() => {});
    },
  };
}

interface HandlingParts {
  readonly sendFailed: SendFailed;
  readonly stopping: AbortSignal;
  readonly onTrouble: (why: string | undefined) => void;
}

interface Handling {
  readonly handle: (payload: EachBatchPayload) => Promise<void>;
  readonly counts: KafkaIngestion["counts"];
}

function createHandling(
  { codec, ingest, logger }: KafkaIngestionParts,
  { sendFailed, stopping, onTrouble }: HandlingParts,
): Handling {
  let ingested = 0;
  let failed = 0;

  async function handle(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, commitOffsetsIfNecessary, uncommittedOffsets } = payload;
    for (let from = 0; from < batch.messages.length; from += BATCH_MAX) {
      if (stopping.aborted || !payload.isRunning() || payload.isStale()) return;
      const messages = batch.messages.slice(from, from + BATCH_MAX);
      const done = await whileMember(payload, (member) => takeAll(batch, messages, member));
      const last = messages.at(-1);
      if (!done || last === undefined) return;
      resolveOffset(last.offset);
      await commitOffsetsIfNecessary(uncommittedOffsets());
      onTrouble(undefined);
    }
  }

  /** Runs work with heartbeats to the group; aborts it when this member loses its partitions. */
  async function whileMember(
    { heartbeat }: EachBatchPayload,
    work: (member: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    const lost = new AbortController();
    const beat = setInterval(() => {
      heartbeat().catch((error: unknown) => lost.abort(error));
    }, HEARTBEAT_MS);
    try {
      const done = await work(AbortSignal.any([lost.signal, stopping]));
      // The driver handles it.
      if (!done) lost.signal.throwIfAborted();
      return done;
    } finally {
      clearInterval(beat);
    }
  }

  /** True if all messages are in the log or in the topic of failures. */
  async function takeAll(
    { topic, partition }: Batch,
    messages: readonly KafkaMessage[],
    member: AbortSignal,
  ): Promise<boolean> {
    const decoded = await Promise.all(messages.map((message) => decode(message, member)));
    // Messages of a urn stay in order, even with retries.
    const lastOfUrn = new Map<string, Promise<boolean>>();
    for (const [n, message] of messages.entries()) {
      const source = `${topic}/${partition}/${message.offset}`;
      const key = textOf(message.key);
      const content = decoded[n];
      const urn = content?.proposal?.entityUrn ?? key;
      const before = lastOfUrn.get(urn) ?? Promise.resolve(true);
      const taking = before.then(
        async (done) => (await take(content, { source, key, message, member })) && done,
      );
      lastOfUrn.set(urn, taking);
    }
    return (await Promise.all(lastOfUrn.values())).every(Boolean);
  }

  /** Undefined after an abort. */
  async function decode(message: KafkaMessage, member: AbortSignal): Promise<Content | undefined> {
    return until(member, async () => {
      try {
        return { proposal: await codec.decodeProposal(bytesOf(message)) };
      } catch (error) {
        return { rejection: rejectionOf(error) };
      }
    });
  }

  /** True if the message is in the log or in the topic of failures. */
  async function take(
    content: Content | undefined,
    { source, key, message, member }: MessageOrigin,
  ): Promise<boolean> {
    if (content === undefined) return false;
    let faults = 0;
    const done = await until(member, async () => {
      let { rejection } = content;
      if (content.proposal !== undefined) {
        try {
          await ingest([content.proposal], { idempotencyKey: source });
        } catch (error) {
          if (!mayPass(error)) faults += 1;
          rejection = rejectionOf(error, faults);
        }
      }
      if (rejection === undefined) ingested += 1;
      else {
        await sendFailed({ value: bytesOf(message), key, error: rejection, source });
        failed += 1;
      }
      return true;
    });
    return done === true;
  }

  /** Returns the reason of a permanent rejection; throws transient errors. */
  function rejectionOf(error: unknown, faults = INTERNAL_ATTEMPTS_MAX): string {
    if (mayPass(error)) throw error;
    if (error instanceof CatalogError && error.code !== "internal") return error.text;
    if (faults < INTERNAL_ATTEMPTS_MAX) throw error;
    logger?.error({ err: error }, "a proposal from Kafka could not be taken");
    return "internal error";
  }

  /** Retries until it succeeds; undefined after an abort. */
  async function until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await work();
      } catch (error) {
        onTrouble(error instanceof CatalogError ? error.text : String(error));
        const ms = Math.min(RETRY_MS.first * 2 ** (attempt - 1), RETRY_MS.max);
        await ignoringErrors(pause(ms, undefined, { signal }));
      }
    }
    return undefined;
  }

  return { handle, counts: () => ({ ingested, failed }) };
}

const mayPass = (error: unknown): boolean =>
  error instanceof CatalogError && transient.has(error.code);

/** The content of a message, or why it cannot be read. */
interface Content {
  readonly proposal?: Proposal;
  readonly rejection?: string;
}

interface MessageOrigin {
  readonly source: string;
  readonly key: string;
  readonly message: KafkaMessage;
  readonly member: AbortSignal;
}

const bytesOf = ({ value }: KafkaMessage): Buffer => value ?? Buffer.alloc(0);

const textOf = (key: Buffer | null): string => key?.toString("utf8") ?? "";

/** Resolves at the end of a pause, also when it is aborted. */
const ignoringErrors = (waiting: Promise<unknown>): Promise<unknown> =>
  waiting.catch(() => undefined);

async function readOffsets(
  client: KafkaClient,
  group: string,
  topic: string,
): Promise<TopicOffsets> {
  const [ends, [read]] = await withAdmin(client, (admin) =>
    Promise.all([
      admin.fetchTopicOffsets(topic),
      admin.fetchOffsets({ groupId: group, topics: [topic] }),
    ]),
  );
  const next = new Map(read?.partitions.map(({ partition, offset }) => [partition, offset]));
  const partitions = ends.map(({ partition, low, high }) => {
    const committed = next.get(partition) ?? "-1";
    const offset = Number(committed === "-1" ? low : committed);
    return { partition, offset, lag: Math.max(0, Number(high) - offset) };
  });
  return { group, topic, partitions };
}

/** Identifies the original message, so that consumers can detect duplicates. */
const sourceHeader = "annals-source";

interface FailedProposal {
  readonly value: Buffer;
  readonly key: string;
  readonly error: string;
  /** `topic/partition/offset` */
  readonly source: string;
}

type SendFailed = (failed: FailedProposal) => Promise<void>;

/** Maximum size of the kept part of a message that is too large together with its cause. */
const KEPT_BYTES_MAX = 100_000;
const ERROR_CHARACTERS_MAX = 10_000;

/**
 * Sends rejected proposals with the cause to FailedMetadataChangeProposal_v1, at least once.
 * Rejects with errors of the driver; then the message may be sent or not.
 */
function createSendFailed(
  producer: Producer,
  names: KafkaNames,
  { codec, logger }: { codec: Pick<EventCodec, "encodeFailure">; logger?: Logger | undefined },
): SendFailed {
  async function send({ value, key, error, source }: FailedProposal): Promise<void> {
    const message = await codec.encodeFailure({ value, key, error });
    await producer.send({
      topic: names.topic(message.topic),
      messages: [{ key: message.key, value: message.value, headers: { [sourceHeader]: source } }],
    });
  }

  return async (failed) => {
    const error = failed.error.slice(0, ERROR_CHARACTERS_MAX);
    try {
      await send({ ...failed, error });
    } catch (cause) {
      if (!isTooLarge(cause)) throw cause;
      const kept = failed.value.subarray(0, KEPT_BYTES_MAX);
      const cut = `${error} (of ${failed.value.length} bytes, the first ${kept.length} are kept)`;
      await send({ ...failed, value: kept, error: cut }).catch((again: unknown) => {
        if (!isTooLarge(again)) throw again;
        // If even this is rejected, the message is dropped, so that it does not block the others.
        logger?.error(
          { source: failed.source, cause: error },
          "the rejected proposal could not be written to the topic of failures",
        );
      });
    }
  };
}
