/**
 * The sink of the feed in Kafka: sends each event once, in the order of the log for each urn.
 *
 * Each batch is one transaction or a few, of the events and of the checkpoint that covers them. A
 * consumer that reads only committed messages (the default of most clients, not of Java's) sees
 * every event once, even after crashes. Other consumers also see events of failed transactions, and
 * may see an event twice: the headers `annals-log` and `annals-position` identify it, and within a
 * partition positions of one log only grow.
 *
 * If several processes use the same catalog's name, the last writer fences the others (they share
 * the transactional id): their next transaction fails as a whole. After any failure the producer is
 * replaced: the new one first ends the transaction of the old one, so that the checkpoint then
 * shows whether it was committed. The driver must not retry requests, because with several brokers
 * it would repeat requests that are still in flight.
 *
 * Sent events cannot be removed: `restore` does nothing, and after `reset`, or with another log,
 * all events are sent after those in the topics.
 */
import { setTimeout as pause } from "node:timers/promises";
import { CompressionTypes, type Producer, type Transaction } from "kafkajs";
import { CatalogError } from "../../core/errors.ts";
import { isPlatformEvent } from "../../core/platform-event.ts";
import { type Position, START } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";
import type { ServerView } from "../../storage/view-origin.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ChangeEvent } from "../change-event.ts";
import type { EventCodec } from "../event-codec.ts";
import { topics } from "../event-schemas.ts";
import type { PlatformEventsOf } from "../platform-events.ts";
import { spokenVersion } from "../topic-names.ts";
import { checkpointKey, checkpointText, readCheckpoint } from "./checkpoint.ts";
import { type FeedMessage, type FeedPart, partsOf, tooLarge } from "./feed-batches.ts";
import { feedTopics, namesOf } from "./feed-topics.ts";
import { parseKafkaAddress } from "./kafka-address.ts";
import { createKafkaClient, producerSettings, withAdmin } from "./kafka-client.ts";
import {
  errorTypeOf,
  isFenced,
  isTooLarge,
  isTransient,
  kafkaFailure,
  retryWhileLoading,
} from "./kafka-failures.ts";
import { ensureTopics, readMessageLimits } from "./topics.ts";

export interface KafkaFeed extends Omit<ServerView, "model" | "bulk"> {
  /** `url`: see parseKafkaAddress. */
  readonly codec: Pick<EventCodec, "encodeChange" | "encodePlatformEvent" | "encodeVersion">;
  readonly platformEventsOf: PlatformEventsOf;
  readonly logger?: Logger | undefined;
}

const positionHeader = "annals-position";
const logHeader = "annals-log";

const ATTEMPTS_MAX = 5;
const RETRY_MS = { first: 100, max: 1_600 };
/** The next transaction waits until the brokers have completed the previous one. */
const SETTLING_MS_MAX = 3_000;
const SETTLING_PAUSE_MS = { first: 1, max: 50 };
const OPEN_MS_MAX = 20_000;
/** A broker needs some time after its start to load its groups. */
const LOADING_MS_MAX = 10_000;
const ABORT_MS_MAX = 1_000;
/** Time after which the brokers abort a transaction. */
const TRANSACTION_MS_MAX = 60_000;

/** Rejects with `unavailable` if the feed's position cannot be read from Kafka. */
export async function openKafkaFeedSink(feed: KafkaFeed): Promise<Sink<ChangeEvent>> {
  const address = parseKafkaAddress(feed.url);
  const names = namesOf(address, feed);
  const client = createKafkaClient(address, { clientId: names.transactions, ...feed });
  const compression = address.compression === "gzip" ? CompressionTypes.GZIP : undefined;
  const logId = feed.log?.id;
  const logIdBytes = logId === undefined ? undefined : Buffer.from(logId);

  let limits: ReadonlyMap<string, number> | undefined;
  /** Set while no other process has moved the feed since `known`. */
  let producer: Producer | undefined;
  /** Position of the feed; without a producer, the position at the last request. */
  let known: Position | undefined;
  /** Position before the last transaction, which readers may not see yet. */
  let earlier: Position | undefined;
  let closed = false;

  async function readPosition(): Promise<Position> {
    const checkpoint = await readCheckpoint(client, names.checkpoint);
    if (checkpoint === undefined) return START;
    // The position of another log is meaningless here, but a checkpoint without a log id is accepted.
    const ofAnother = checkpoint.log !== logId && checkpoint.log !== undefined;
    const begun = ofAnother && feed.log !== undefined && checkpoint.position <= feed.log.head;
    return begun ? START : checkpoint.position;
  }

  async function prepare(): Promise<void> {
    limits = await withAdmin(client, async (admin) => {
      await ensureTopics(admin, feedTopics(names, address));
      const fed = [topics.versioned, topics.timeseries, topics.platformEvents];
      return readMessageLimits(admin, fed.map(names.topic));
    });
  }

  /** DataHub's consumers wait until the last record has the version that they expect. */
  async function announceVersion(): Promise<void> {
    const { topic, key, value } = feed.codec.encodeVersion(`${spokenVersion}-0`);
    const announcing = client.kafka.producer(producerSettings);
    try {
      await announcing.connect();
      await announcing.send({ topic: names.topic(topic), messages: [{ key, value }] });
    } finally {
      await announcing.disconnect().catch(() => {});
    }
  }

  /**
   * Fences other producers: afterwards, no transaction of theirs is in flight or can be committed.
   */
  async function takeOver(): Promise<Producer> {
    const taken = client.kafka.producer({
      ...producerSettings,
      transactionalId: names.transactions,
      transactionTimeout: TRANSACTION_MS_MAX,
      retry: { retries: 0 },
    });
    try {
      await taken.connect();
      // Beginning a transaction fences other producers; this one is empty.
      await (await taken.transaction()).abort();
      return taken;
    } catch (error) {
      await taken.disconnect().catch(() => {});
      throw error;
    }
  }

  async function drop(): Promise<void> {
    const dropped = producer;
    producer = undefined;
    known = undefined;
    await dropped?.disconnect().catch(() => {});
  }

  async function commitPart(part: FeedPart, from: Position, record?: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        if (producer === undefined) {
          await prepare();
          producer = await takeOver();
          const at = await readPosition();
          // An earlier attempt may be committed though its response was lost.
          const done = attempt > 1 && at === part.upTo;
          if (at !== from && !done) throw moved(at);
          known = at;
          if (done) return;
        }
        await transact(producer, part, record);
        earlier = from;
        known = part.upTo;
        return;
      } catch (error) {
        await drop();
        if (isFenced(error)) throw fenced(error);
        if (attempt === ATTEMPTS_MAX || !isTransient(error)) throw error;
        feed.logger?.debug({ err: error, attempt }, "the feed's transaction failed");
        await pause(Math.min(RETRY_MS.first * 2 ** (attempt - 1), RETRY_MS.max));
      }
    }
  }

  async function transact(
    taken: Producer,
    { requests, upTo }: FeedPart,
    record: string | undefined,
  ): Promise<void> {
    const transaction = await taken.transaction();
    try {
      const value = checkpointText({ position: upTo, log: logId, record });
      // Sent alone, because it is repeated until the previous transaction is complete.
      await retryWhileSettling(() =>
        transaction.send({
          topic: names.checkpoint,
          messages: [{ key: checkpointKey, value }],
        }),
      );
      for (const request of requests) await send(transaction, request);
      await transaction.commit();
    } catch (error) {
      // Ends the transaction before its timeout, for readers. Fails if it was already ending.
      await within(ABORT_MS_MAX, () => transaction.abort()).catch(() => {});
      throw error;
    }
  }

  async function send(transaction: Transaction, request: readonly FeedMessage[]): Promise<void> {
    const byTopic = Map.groupBy(request, ({ topic }) => topic);
    const topicMessages = [...byTopic].map(([topic, messages]) => ({
      topic,
      messages: messages.map(({ key, value, position }) => ({
        key,
        value,
        headers: { [positionHeader]: String(position), ...logIdHeader },
      })),
    }));
    try {
      await transaction.sendBatch({ topicMessages, compression });
    } catch (error) {
      const [first] = request;
      if (request.length === 1 && first !== undefined && isTooLarge(error)) {
        throw tooLarge(first, first.value.length);
      }
      throw error;
    }
  }
  const logIdHeader = logIdBytes === undefined ? {} : { [logHeader]: logIdBytes };

  function* messagesAfter(events: readonly ChangeEvent[], after: Position): Generator<FeedMessage> {
    for (const event of events) {
      const { position } = event.change;
      if (position <= after) continue;
      // All of a change before the first is sent, because the checkpoint covers whole changes.
      const messages = [
        ...(isPlatformEvent(event.change) ? [] : [feed.codec.encodeChange(event)]),
        ...feed.platformEventsOf(event).map(feed.codec.encodePlatformEvent),
      ];
      for (const one of messages) yield { ...one, topic: names.topic(one.topic), position };
    }
  }

  /** Translates errors. */
  async function translatingErrors<T>(doing: string, work: () => Promise<T>): Promise<T> {
    if (closed) throw new CatalogError("unavailable", "the feed to Kafka is closed");
    try {
      return await work();
    } catch (error) {
      throw kafkaFailure(error, address, doing);
    }
  }

  /**
   * Waits for this producer's last transaction, which becomes readable shortly after the commit.
   */
  async function findPosition(): Promise<Position> {
    const end = Date.now() + SETTLING_MS_MAX;
    for (;;) {
      const at = await readPosition();
      const unseen = producer !== undefined && at !== known && at === earlier;
      if (unseen && Date.now() < end) {
        await pause(SETTLING_PAUSE_MS.max);
        continue;
      }
      // Another process moved the feed, or the last transaction was lost.
      if (producer !== undefined && at !== known) await drop();
      known = at;
      return at;
    }
  }

  async function begin(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await prepare();
        const checkpoint = await readCheckpoint(client, names.checkpoint);
        const at = await findPosition();
        await announceVersion();
        if (checkpoint !== undefined && at < checkpoint.position) feed.onEmptied?.("another log");
        return;
      } catch (error) {
        // Brokers respond before they are fully loaded, as after their start.
        const passing = errorTypeOf(error) !== undefined && isTransient(error);
        if (!passing || attempt === ATTEMPTS_MAX) throw error;
        await pause(RETRY_MS.first * 2 ** (attempt - 1));
      }
    }
  }

  await translatingErrors("cannot be asked for the feed's position", () =>
    within(OPEN_MS_MAX, () => retryWhileLoading(begin, LOADING_MS_MAX)),
  );

  return {
    async apply(events, upTo, record) {
      await translatingErrors("did not take the feed's events", async () => {
        let from = known ?? (await findPosition());
        if (upTo <= from) return;
        if (limits === undefined) await prepare();
        const parts = partsOf(messagesAfter(events, from), upTo, {
          topicBytesMax: (topic) => limits?.get(topic) ?? 0,
          tryLarger: compression !== undefined,
        });
        try {
          for (const part of parts) {
            await commitPart(part, from, part.upTo === upTo ? record : undefined);
            from = part.upTo;
          }
        } catch (error) {
          // The topic's limit may be raised before the next attempt.
          if (isTooLarge(error)) limits = undefined;
          throw error;
        }
      });
    },

    restore: async () => {},

    position: () =>
      translatingErrors("cannot be asked for the feed's position", () =>
        retryWhileLoading(findPosition, LOADING_MS_MAX),
      ),

    lastRecord: () =>
      translatingErrors("cannot be asked for the feed's position", async () => {
        const checkpoint = await readCheckpoint(client, names.checkpoint);
        return checkpoint?.log === logId ? checkpoint?.record : undefined;
      }),

    async reset() {
      await translatingErrors("did not reset the feed", async () => {
        await commitPart({ requests: [], upTo: START }, await findPosition());
      });
    },

    async close() {
      closed = true;
      await drop();
    },
  };
}

/** Retries while the brokers complete the previous transaction. */
async function retryWhileSettling(send: () => Promise<unknown>): Promise<void> {
  const end = Date.now() + SETTLING_MS_MAX;
  for (let ms = SETTLING_PAUSE_MS.first; ; ms = Math.min(ms * 2, SETTLING_PAUSE_MS.max)) {
    try {
      await send();
      return;
    } catch (error) {
      if (errorTypeOf(error) !== "CONCURRENT_TRANSACTIONS" || Date.now() > end) throw error;
      await pause(ms);
    }
  }
}

const moved = (at: Position): CatalogError =>
  new CatalogError("conflict", `the feed was moved to position ${at} by another projector`);

const fenced = (cause: unknown): CatalogError =>
  new CatalogError("conflict", "the feed was taken over by another projector", {
    hint: "Give only one process the role feed; this one retries",
    cause,
  });

/** Rejects after a timeout; the work continues without a caller. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = pause(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}
