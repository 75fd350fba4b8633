/**
 * A platform event that a client produced: a record of the log without an entity. Subscribers of
 * PlatformEvent_v1 receive it; every view ignores it.
 *
 * In the log it is a change with an empty urn, in a stream of its own (core/stream.ts), whose value
 * is the event.
 */
import type { Change } from "./change.ts";

export interface PlatformEvent {
  readonly name: string;
  /** Key of the message in Kafka; the name when absent. */
  readonly key?: string | undefined;
  readonly header: {
    /** Epoch milliseconds. */
    readonly timestampMillis: number;
  };
  readonly payload: {
    readonly contentType: string;
    /** Text; JSON for the content type application/json. */
    readonly value: string;
  };
}

/** The aspect name of platform events; no aspect can have it. */
export const PLATFORM_EVENT = "$platformEvent";

export const isPlatformEvent = ({ aspect }: Pick<Change, "aspect">): boolean =>
  aspect === PLATFORM_EVENT;

/** The event of such a change. */
export const platformEventOf = ({ value = "" }: Pick<Change, "value">): PlatformEvent =>
  JSON.parse(value) as PlatformEvent;
