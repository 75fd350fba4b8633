/**
 * The rows of a view for verification, and the fold of the log into rows of the same shape (FoldedRows). Ids that a
 * store assigns are in no row.
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
export interface HeldRows {
  readonly from: Position;
  /** Undefined: any later position, which may differ between entities. */
  readonly to: Position | undefined;
  /** In the order of the urns; within one in any order. May cover fewer urns than requested, at least one. */
  readonly rows: readonly (readonly Row[])[];
}

/** Number of all rows, also of those without an entity. */
interface HeldCount {
  readonly position: Position;
  /** Undefined if it is not known for the position. */
  readonly rows: number | undefined;
}

/** The rows of one view. Every method throws `unavailable` when the view cannot be read. */
export interface ViewRows {
  /** A batch may be visible before the position includes it. */
  readonly early?: true;
  position(): Promise<Position>;
  read(urns: readonly string[]): Promise<HeldRows>;
  count(): Promise<HeldCount>;
  /** Every urn that has rows, in pages; some may repeat. */
  urns(): AsyncIterable<readonly string[]>;
  /**
   * Faults of the store that no row shows, including all that the store finds in its own files and indexes: sentences
   * without a full stop. Takes as long as reading them.
   */
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The rows of one entity, folded change by change. */
export interface FoldedRows {
  /**
   * Adds changes in the order of the log, without those that the view skips. `skipped`: the skipped parts of a change
   * that affects both states and events.
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
  /** The view that it is built from: it may show any later state, and none that is parked there. */
  readonly foldedFrom?: string | undefined;
  /** The view that it has events of timeseries from. */
  readonly eventsFrom?: string | undefined;
  /** Urns in the rows of a change: requests to forget these affect the entity. */
  readonly mentions?: ((change: PlacedChange) => readonly string[]) | undefined;
}

/** The view and those that it is built from: records that these skip affect it. */
export const madeOf = ({
  name,
  foldedFrom,
  eventsFrom,
}: Pick<FoldedView, "name" | "foldedFrom" | "eventsFrom">): readonly string[] =>
  [name, foldedFrom, eventsFrom].filter((one) => one !== undefined);

export interface VerifiedView extends FoldedView {
  readonly rows: ViewRows;
}
