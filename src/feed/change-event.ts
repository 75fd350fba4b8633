/**
 * An event for subscribers: a change that set or removed the value of an aspect, with the previous
 * value, or a platform event of a producer. A change that only confirms a value is not an event.
 */
import type { PlacedChange, SystemMetadata } from "../core/change.ts";

/** The previous value of an aspect, with its last system metadata. */
export interface PreviousValue {
  /** JSON text. */
  readonly value: string;
  readonly system: SystemMetadata;
}

export interface ChangeEvent {
  readonly change: PlacedChange;
  /** Absent if there was none, if it was not requested, and for timeseries. */
  readonly previous?: PreviousValue | undefined;
  /** For the event of a run: its current `dataProcessInstanceRelationships`, as JSON text. */
  readonly relationships?: string | undefined;
}
