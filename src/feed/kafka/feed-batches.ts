/**
 * Splits events into transactions, and transactions into requests: in order, bounded in bytes.
 * Pure.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { EventMessage } from "../event-codec.ts";

/** A message with the log position of its change. */
export interface FeedMessage extends EventMessage {
  readonly position: Position;
}

/** The messages of one transaction. */
export interface FeedPart {
  readonly requests: readonly (readonly FeedMessage[])[];
  /** This part and earlier ones have all messages up to this position. */
  readonly upTo: Position;
}

interface FeedLimits {
  /** Maximum size of a batch of records of a topic, in bytes. */
  readonly topicBytesMax: (topic: string) => number;
  /** Also sends larger messages, alone: compression may make them small enough. */
  readonly tryLarger: boolean;
}

/** A failed transaction is repeated, so it must be short. */
const PART_BYTES_MAX = 32 * 1024 * 1024;
/** Maximum size of a request with several messages; larger ones are hardly faster. */
const REQUEST_BYTES_MAX = 1024 * 1024;
/** Overhead of a record (lengths, numbers, headers) and of a batch. */
const RECORD_BYTES = 140;
const BATCH_BYTES = 61;

/**
 * Takes messages in the order of positions; a part has all messages of a position or none. If a
 * message is too large or the iterable throws, first yields a part with the messages before, then
 * throws `too_large` or the error of the iterable.
 */
export function* partsOf(
  messages: Iterable<FeedMessage>,
  upTo: Position,
  { topicBytesMax, tryLarger }: FeedLimits,
): Generator<FeedPart> {
  let requests: FeedMessage[][] = [];
  let request: FeedMessage[] = [];
  let filled = new Map<string, number>();
  let partBytes = 0;
  let last: Position | undefined;
  /** The position before `last`. */
  let before: Position | undefined;

  const nextRequest = (): void => {
    if (request.length > 0) requests.push(request);
    request = [];
    filled = new Map();
  };
  const nextPart = (end: Position): FeedPart => {
    nextRequest();
    const part = { requests, upTo: end };
    requests = [];
    partBytes = 0;
    return part;
  };

  let failure: unknown;
  const rest = messages[Symbol.iterator]();
  for (;;) {
    let message: FeedMessage;
    let bytes: number;
    let room: number;
    try {
      const next = rest.next();
      if (next.done) break;
      message = next.value;
      bytes = bytesOf(message);
      room = topicBytesMax(message.topic) - BATCH_BYTES;
      if (bytes > room && !tryLarger) {
        if (message.position === last) {
          const earlier = ({ position }: FeedMessage) => position !== message.position;
          requests = requests.map((one) => one.filter(earlier)).filter((one) => one.length > 0);
          request = request.filter(earlier);
          last = before;
        }
        throw tooLarge(message, bytes);
      }
    } catch (error) {
      failure = error;
      break;
    }
    const whole = message.position !== last;
    if (whole && last !== undefined && partBytes + bytes > PART_BYTES_MAX) yield nextPart(last);
    const inTopic = filled.get(message.topic) ?? 0;
    if (inTopic > 0 && inTopic + bytes > Math.min(room, REQUEST_BYTES_MAX)) nextRequest();
    filled.set(message.topic, (filled.get(message.topic) ?? 0) + bytes);
    request.push(message);
    partBytes += bytes;
    if (whole) before = last;
    last = message.position;
  }
  if (failure === undefined) yield nextPart(upTo);
  else {
    if (last !== undefined && partBytes > 0) yield nextPart(last);
    throw failure;
  }
}

const bytesOf = ({ key, value }: FeedMessage): number =>
  Buffer.byteLength(key) + value.length + RECORD_BYTES;

export function tooLarge({ topic, key, position: at }: FeedMessage, bytes: number): CatalogError {
  return new CatalogError(
    "too_large",
    `the event of "${key}" at position ${at} has ${bytes} bytes, more than the topic "${topic}" accepts`,
    {
      hint: `Raise max.message.bytes of the topic "${topic}"; the feed waits until then`,
    },
  );
}
