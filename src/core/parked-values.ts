/** Values that a document is built without, because they cannot be projected or were dropped. */
import type { Position } from "./position.ts";

/** A value of an aspect of an entity. */
export interface ParkedValue {
  /** Empty: the whole document, which the store rejects. */
  readonly aspect: string;
  /** Number of the value; of a timeseries aspect, position of the event's record. */
  readonly version: number;
}

/** A value that cannot be projected. */
export interface FailedValue extends ParkedValue {
  readonly error: unknown;
}

/** The policy for single values during the build of a document. */
export interface ValuePolicy {
  /** True if the document omits the value. */
  omits(aspect: string, version: number): boolean;
  /** Called each time a document is built, with the values that could not be projected. */
  reportFailed(failed: readonly FailedValue[]): void;
}

/** The parked values of a view of documents. */
export interface ParkedValues {
  /** True if the value was dropped. */
  omits(urn: string, aspect: string, version: number): boolean;
  /** True if the store rejected the entity's document. */
  isRejected(urn: string): boolean;
  /** The entity has no document until a record after this position changes it. */
  omittedUpTo(urn: string): Position;
  /** True if exactly these values of the entity are parked. */
  lists(urn: string, failed: readonly FailedValue[]): boolean;
}
