/**
 * The rows of a view for verification, and the fold of the log into rows of the same shape
 * (FoldedRows). Rows do not contain ids that a store assigns.
 */
import type { PlacedChange } from "../../core/change.ts";
import type { ParkedValues } from "../../core/parked-values.ts";
import type { Position } from "../../core/position.ts";

export type Cell = string | number | null;

/** The first cell is the name of the aspect, or empty for the whole entity. */
export type Row = readonly Cell[];

/** Layout of a view's rows. */
export interface RowShape {
  /** Names of the cells. */
  readonly names: readonly string[];
  /** Number of first cells that identify a row within its entity. */
  readonly keys: number;
  /** Cells by which an entity's rows are sorted; unique. */
  readonly order: readonly number[];
}

/** Rows of some entities at a position between `from` and `to`. */
export interface RowSnapshot {
  readonly from: Position;
  /** Undefined: any later position, which may differ between entities. */
  readonly to: Position | undefined;
  /** By urn; rows of an urn are unordered. May have fewer urns than requested, but at least one. */
  readonly rows: readonly (readonly Row[])[];
}

/** Number of all rows, including orphan rows. */
interface RowCount {
  readonly position: Position;
  /** Undefined if the count at the position is unknown. */
  readonly rows: number | undefined;
}

/** The rows of one view. Every method throws `unavailable` when the view cannot be read. */
export interface ViewRows {
  /** A batch may be visible before the position includes it. */
  readonly early?: true;
  position(): Promise<Position>;
  /** At most some hundreds of urns. */
  read(urns: readonly string[]): Promise<RowSnapshot>;
  count(): Promise<RowCount>;
  /** Every urn with rows, in pages; urns may repeat. */
  urns(): AsyncIterable<readonly string[]>;
  /**
   * Faults of the store that no row shows, including the results of its own integrity checks, as
   * sentences without a full stop. Reads all files and indexes.
   */
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The rows of one entity, folded change by change. */
export interface FoldedRows {
  /**
   * Adds changes in the order of the log, without those that the view skips. `skipped`: the skipped
   * parts of a change that affects both states and events.
   */
  add(change: PlacedChange, skipped?: { readonly states: boolean; readonly events: boolean }): void;
  /** Number of rows. */
  size(): number;
  rows(): readonly Row[];
}

/** The fold of the log into the rows of a view. */
export interface FoldedView {
  readonly name: string;
  readonly shape: RowShape;
  /** `parked`: values that are left out of a document. */
  readonly fold: (urn: string, parked?: ParkedValues) => FoldedRows;
  /** The source view: this view may have any later state of an entity, except parked ones. */
  readonly foldedFrom?: string | undefined;
  /** The view that provides its timeseries events. */
  readonly eventsFrom?: string | undefined;
  /** Urns in the rows of a change: requests to forget these affect the entity. */
  readonly mentions?: ((change: PlacedChange) => readonly string[]) | undefined;
}

/** A view and its sources: records that the sources skip affect the view. */
export const withSources = ({
  name,
  foldedFrom,
  eventsFrom,
}: Pick<FoldedView, "name" | "foldedFrom" | "eventsFrom">): readonly string[] =>
  [name, foldedFrom, eventsFrom].filter((one) => one !== undefined);

export interface VerifiedView extends FoldedView {
  readonly rows: ViewRows;
}
