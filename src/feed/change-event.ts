/**
 * What subscribers are told: a change that gave an aspect another value or took its value away, with
 * the value before. What only confirms a value wakes nobody.
 */
import type { PlacedChange, SystemMetadata } from "../core/change.ts";

/** The value that an aspect had before, and what was last told with it. */
export interface PreviousValue {
  /** JSON text. */
  readonly value: string;
  readonly system: SystemMetadata;
}

export interface ChangeEvent {
  readonly change: PlacedChange;
  /** Absent where there was none, where nobody asked for it, and of timeseries. */
  readonly previous?: PreviousValue | undefined;
}
