/**
 * Port: where a projection's writes go. One per view; the read side of a view is another port.
 *
 * Idempotent: writes carry positions; applying a batch twice equals applying it once, and a later
 * write is never undone by an earlier one. The checkpoint is stored with the rows that it covers.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { Parking } from "./parking.ts";

/**
 * A generation in a server that was grown beside the one in use, and how far. What else it takes to
 * read it, only its adapter knows; plain data, so that a thread can be given it.
 */
export interface Grown {
  readonly position: Position;
}

export interface Sink<W> {
  /**
   * Applies writes in order, then moves the checkpoint to `upTo`, in one transaction where the
   * store has one. `upTo` may lie beyond the last write: records that the view ignores. The
   * checkpoint stores `record`, the name of the record at `upTo` (log/record-name.ts), or no name when
   * it is absent.
   */
  apply(writes: readonly W[], upTo: Position, record?: string): Promise<void>;

  /**
   * Makes what the view has of one entity what these writes make of an empty view: what is missing
   * comes, what should not be there goes. The writes are all of the entity's up to the checkpoint,
   * in order; the checkpoint stays, and so does what the view has of others. In one transaction
   * where the store has one.
   */
  restore(urn: string, writes: Iterable<W> | AsyncIterable<W>): Promise<void>;

  /**
   * All restores that `work` does come to be in the view at once, or, when it rejects, none of them:
   * one transaction for many entities. Absent where that would save nothing.
   */
  together?(work: () => Promise<void>): Promise<void>;

  /**
   * Does a bounded part of what `apply` put off, and tells whether there is more. What is read does
   * not depend on it. Absent where nothing is ever put off.
   */
  tidy?(): Promise<boolean>;

  /** The checkpoint: every record up to it is in the view. START for a new view. */
  position(): Promise<Position>;

  /**
   * The name of the record at the checkpoint; undefined for an empty view, and if an earlier release
   * wrote the checkpoint. Absent if the store has no names.
   */
  lastRecord?(): Promise<string | undefined>;

  /** Empties the view; its checkpoint is START again. */
  reset(): Promise<void>;

  /**
   * Of one that is regrown beside another in a server: all that was applied can be read from now on,
   * by whoever is given this (verify/view-rows.ts), until more is. Absent of views in files.
   */
  grown?(): Promise<Grown>;

  /**
   * Of one that was regrown beside another in a server: it takes that one's place now. What is done
   * with the other one, `close` does. Rejects `conflict` while the other one is further, unless that is
   * beyond `head`, the end of the log; may be called again. Absent where closing alone does it.
   */
  publish?(head: Position): Promise<void>;

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
  /**
   * Streams beside the entity's own whose changes bear on what a write of it makes; undefined where
   * there are none. Sink.restore is given their writes, too.
   */
  readonly bearing?: ((write: W) => readonly StreamName[]) | undefined;
  /**
   * It costs much more than others, which must not wait for it: it follows in batches of its own,
   * and mostly while they have nothing to do.
   */
  readonly costly?: boolean | undefined;
  /** The views that it is made of, beside the log: it never goes past those. */
  readonly madeOf?: readonly string[] | undefined;
  /**
   * Of a view of documents: the parking that lists values which documents are built without. Called
   * before the view is fed. Absent of a view of records, which parks entities.
   */
  readonly useParking?: ((parking: Parking) => void) | undefined;
  /**
   * Another edition of views that it reads is in place: it goes on with that one at once, so that the
   * files of the other are not kept for it until the next batch. Never rejects.
   */
  readonly letGo?: (() => Promise<void>) | undefined;
  /**
   * It is kept in a server, where a projector of another process may feed it as well: this one does
   * so while no other does ("led"), or never ("watched"). Undefined: it is this process's own.
   */
  readonly shared?: "led" | "watched" | undefined;
  /** Of a shared view: whether another model made it. Processes of that one go on feeding it. */
  readonly ofAnotherModel?: (() => boolean) | undefined;
  /**
   * Other processes wait for its position: its checkpoint moves over what it ignores, too, with
   * every batch.
   */
  readonly awaited?: boolean | undefined;
}
