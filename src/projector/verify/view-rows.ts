/**
 * What a view holds, as verification sees it: rows of cells, which what the log says is folded into
 * as well (RowFold). Numbers that a store gives for itself are in no row.
 */
import type { PlacedChange } from "../../core/change.ts";
import type { ParkedValues } from "../../core/parked-values.ts";
import type { Position } from "../../core/position.ts";

export type Cell = string | number | null;

/** The first cell names the aspect, or is empty for what is of the entity as a whole. */
export type Row = readonly Cell[];

/** What the cells of a view's rows are. */
export interface RowShape {
  /** Names of the cells. */
  readonly names: readonly string[];
  /** So many of the first cells tell a row from the others of its entity. */
  readonly keys: number;
  /** Cells that give the order of an entity's rows: unique, and the same however they are read. */
  readonly order: readonly number[];
}

/** Rows of some entities. What they show is true of some position in between. */
export interface HeldRows {
  readonly from: Position;
  /** Undefined: of any later one, which may be another for each entity. */
  readonly to: Position | undefined;
  /** In the order of the urns, and within one in any order. Fewer urns may be answered, never none. */
  readonly rows: readonly (readonly Row[])[];
}

/** How many rows there are in all, those of entities and those that are of none. */
export interface HeldCount {
  readonly position: Position;
  /** Undefined: it cannot be told for the position. */
  readonly rows: number | undefined;
}

/** The rows of one view. Every method throws `unavailable` when the view cannot be read. */
export interface ViewRows {
  /** Rows of a batch may be there, or be gone, before the position tells of it. */
  readonly early?: true;
  position(): Promise<Position>;
  read(urns: readonly string[]): Promise<HeldRows>;
  count(): Promise<HeldCount>;
  /** Every urn that there are rows of, in pages; some may come twice. */
  urns(): AsyncIterable<readonly string[]>;
  /**
   * Faults of the store that no row shows, including all that the store finds in its own files and indexes: sentences
   * without a full stop. Takes as long as reading them.
   */
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What the rows of one entity come to, change by change. */
export interface FoldedRows {
  /**
   * In the order of the log; changes that the view passes over are not told. `skipped`: what is passed
   * over of one that bears on both, where one view has states and another events.
   */
  add(change: PlacedChange, skipped?: { readonly states: boolean; readonly events: boolean }): void;
  /** How many rows there are now. */
  size(): number;
  rows(): readonly Row[];
}

/** What the log says there is in a view. */
export interface FoldedView {
  readonly name: string;
  readonly shape: RowShape;
  /** `parked`: values that a document of the entity is built without. */
  readonly fold: (urn: string, parked?: ParkedValues) => FoldedRows;
  /** The view that it is folded from: it may show any later state, and none that is parked there. */
  readonly foldedFrom?: string | undefined;
  /** The view that it has events of timeseries from. */
  readonly eventsFrom?: string | undefined;
  /** Urns in the rows that a change makes: requests to forget them bear on the entity. */
  readonly mentions?: ((change: PlacedChange) => readonly string[]) | undefined;
}

/** The view, and those that it is made of: what they pass over bears on it. */
export const madeOf = ({
  name,
  foldedFrom,
  eventsFrom,
}: Pick<FoldedView, "name" | "foldedFrom" | "eventsFrom">): readonly string[] =>
  [name, foldedFrom, eventsFrom].filter((one) => one !== undefined);

export interface VerifiedView extends FoldedView {
  readonly rows: ViewRows;
}
