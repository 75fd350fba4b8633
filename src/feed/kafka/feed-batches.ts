/**
 * How events are parted into transactions, and those into requests: in order, bounded in bytes.
 * Pure.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { EventMessage } from "../event-codec.ts";

/** A message with its change's place in the log. */
export interface FeedMessage extends EventMessage {
  readonly position: Position;
}

/** What is told in one transaction. */
export interface FeedPart {
  readonly requests: readonly (readonly FeedMessage[])[];
  /** Every message up to here is in this part or in one before. */
  readonly upTo: Position;
}

export interface FeedLimits {
  /** Largest batch of records that a topic takes, in bytes. */
  readonly topicBytesMax: (topic: string) => number;
  /** Lets larger messages pass, alone: they may be small enough once compressed. */
  readonly tryLarger: boolean;
}

/** A transaction is done over when something fails in it, so it must not take long. */
const PART_BYTES_MAX = 32 * 1024 * 1024;
/** A request holds no more than this, or one message; larger ones are hardly faster. */
const REQUEST_BYTES_MAX = 1024 * 1024;
/** Lengths, numbers and headers around key and value of a record, and around records of a batch. */
const RECORD_BYTES = 140;
const BATCH_BYTES = 61;

/**
 * Takes messages whose positions rise, one by one. When one cannot be had, or is too large, what
 * came before it is still a part; then it throws, `too_large` or what the messages threw.
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
      if (bytes > room && !tryLarger) throw tooLarge(message, bytes);
    } catch (error) {
      failure = error;
      break;
    }
    if (last !== undefined && partBytes + bytes > PART_BYTES_MAX) yield nextPart(last);
    const inTopic = filled.get(message.topic) ?? 0;
    if (inTopic > 0 && inTopic + bytes > Math.min(room, REQUEST_BYTES_MAX)) nextRequest();
    filled.set(message.topic, (filled.get(message.topic) ?? 0) + bytes);
    request.push(message);
    partBytes += bytes;
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
    `the event of "${key}" at position ${at} has ${bytes} bytes, more than the topic "${topic}" takes`,
    {
      hint: `Raise max.message.bytes of the topic "${topic}"; nothing is told until then`,
    },
  );
}
