/**
 * Port: the write side of a view, which stores the writes of its projection. The read side of a
 * view is another port.
 *
 * A sink is idempotent: writes have positions, applying a batch twice equals applying it once, and
 * an earlier write never overwrites a later one. The checkpoint is stored with the rows that it
 * covers.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { Parking } from "./parking/parking.ts";

/**
 * A staging generation in a server, and its position. Plain data for other threads; the adapter
 * adds members that it needs to read the generation.
 */
export interface Staged {
  readonly position: Position;
}

export interface Sink<W> {
  /**
   * Applies writes in order, then moves the checkpoint to `upTo`, in one transaction where the
   * store has one. `upTo` may lie beyond the last write: records that the view ignores. The
   * checkpoint stores `record`, the name of the record at `upTo` (log/record-name.ts), or no name
   * when it is absent.
   */
  apply(writes: readonly W[], upTo: Position, record?: string): Promise<void>;

  /**
   * Replaces the rows of one entity by the result of `writes` in an empty view. `writes`: all
   * writes of the entity up to the checkpoint, in order. The checkpoint and the rows of other
   * entities stay. In one transaction where the store has one.
   */
  restore(urn: string, writes: Iterable<W> | AsyncIterable<W>): Promise<void>;

  /** Runs the restores of `work` in one transaction. Absent if a transaction has no advantage. */
  inTransaction?(work: () => Promise<void>): Promise<void>;

  /**
   * Runs a bounded step of maintenance, such as deletes and merges that `apply` deferred. Resolves
   * with true if more is due. Reads do not depend on it. Absent if the view has no maintenance.
   */
  maintain?(): Promise<boolean>;

  /** The checkpoint: every record up to it is in the view. START for a new view. */
  position(): Promise<Position>;

  /**
   * The name of the record at the checkpoint; undefined for an empty view, and if an earlier
   * release wrote the checkpoint. Absent if the store has no names.
   */
  lastRecord?(): Promise<string | undefined>;

  /** Empties the view; its checkpoint is START again. */
  reset(): Promise<void>;

  /**
   * For a staging generation on a server: makes all applied writes readable for verification,
   * through the result (verify/view-rows.ts), until the next write. Absent for views in files.
   */
  staged?(): Promise<Staged>;

  /**
   * For a staging generation on a server: makes it live; `close` then removes the old one. Rejects
   * `conflict` while the live one has a higher position, unless that is after `head`, the end of
   * the log. Idempotent. Absent if `close` makes the generation live.
   */
  publish?(head: Position): Promise<void>;

  /**
   * Releases the view. A staging generation becomes live, durably; with "discard" it is dropped and
   * the live one stays. `outcome` has no effect on other views.
   */
  close(outcome?: "keep" | "discard"): Promise<void>;
}

/** A pure function from a change to a view's writes (projections/). */
export type Projection<W> = (change: PlacedChange) => readonly W[];

/** A view of the projector. */
export interface View<W = unknown> {
  readonly name: string;
  readonly project: Projection<W>;
  readonly sink: Sink<W>;
  /**
   * Streams of other entities that affect the result of a write: Sink.restore gets their writes,
   * too. Absent if there are none.
   */
  readonly relatedStreams?: ((write: W) => readonly StreamName[]) | undefined;
  /**
   * True if writes are expensive: the view gets batches of its own, mostly while the other views
   * are idle, so that they do not wait for it.
   */
  readonly costly?: boolean | undefined;
  /** The source views that it is built from, besides the log: it never moves past them. */
  readonly builtFrom?: readonly string[] | undefined;
  /**
   * For a view of documents: sets the parking for values that cannot be projected, before the first
   * batch. Absent for a view of records, which parks entities.
   */
  readonly onParking?: ((parking: Parking) => void) | undefined;
  /**
   * A view that it reads has a new live generation: switches to it at once, so that the old files
   * are not held open until the next batch. Never rejects.
   */
  readonly followSources?: (() => Promise<void>) | undefined;
  /**
   * For a view on a server, which other processes may project: this process projects the view while
   * no other process does ("leader"), or never ("standby"). Undefined for a view of this process
   * alone.
   */
  readonly shared?: "leader" | "standby" | undefined;
  /** True if a shared view was built with another model; processes with that model project it. */
  readonly builtWithAnotherModel?: (() => boolean) | undefined;
  /**
   * True if other processes wait for the position: the checkpoint moves with every batch, even over
   * records that the view ignores.
   */
  readonly awaited?: boolean | undefined;
}
