/**
 * Port: where a projection's writes go. One per view; the read side of a view is another port.
 *
 * Idempotent: writes carry positions; applying a batch twice equals applying it once, and a later
 * write is never undone by an earlier one. The checkpoint is stored with the rows that it covers.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";

export interface Sink<W> {
  /**
   * Applies writes in order, then moves the checkpoint to `upTo`, in one transaction where the
   * store has one. `upTo` may lie beyond the last write: records that the view ignores.
   */
  apply(writes: readonly W[], upTo: Position): Promise<void>;

  /** The checkpoint: every record up to it is in the view. START for a new view. */
  position(): Promise<Position>;

  /** Empties the view; its checkpoint is START again. */
  reset(): Promise<void>;

  /**
   * Releases the view. One that was regrown beside another takes that one's place now, durable;
   * with "discard" it is dropped and the other stays. Else the word changes nothing.
   */
  close(outcome?: "keep" | "discard"): Promise<void>;
}

/** A pure function from a change to a view's writes (projections/). */
export type Projection<W> = (change: PlacedChange) => readonly W[];

/** One view as the projector sees it. */
export interface View<W = unknown> {
  readonly name: string;
  readonly project: Projection<W>;
  readonly sink: Sink<W>;
}
