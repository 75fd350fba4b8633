/** Port: what is remembered of verifications, so that the next one goes on from there. */
import type { Position } from "../../core/position.ts";
import type { Difference } from "./differences.ts";
import type { RowSums } from "./view-rows.ts";

export interface Look {
  readonly position: Position;
  /** Epoch milliseconds. */
  readonly time: number;
}

/** What a verification found of a view. */
export interface Verified {
  readonly view: string;
  /** Up to here the view is what the log says, but for the differences. */
  readonly position: Position;
  /** Rows that the log says there are there. */
  readonly rows: number;
  /** When it was found; epoch milliseconds. */
  readonly time: number;
  /** The last one that folded all of the log. */
  readonly full: Look | undefined;
  /** The last one that looked at every row, by sums or one by one. */
  readonly whole: Look | undefined;
  /** Of the rows that the log says there are there. */
  readonly sums: RowSums | undefined;
  /** How many differences there are, and the first of them. */
  readonly count: number;
  readonly differences: readonly Difference[];
}

/** The same as it is remembered. */
export interface Remembered extends Omit<Verified, "differences"> {
  /** Entities that differed. */
  readonly urns: readonly string[];
  /** Whether `urns` names all, and nothing was wrong but entities. */
  readonly complete: boolean;
}

export interface VerifiedState {
  /** By view; none of another log or model. Of another release there are no sums. */
  load(): Readonly<Record<string, Remembered>>;
  save(verified: readonly Verified[]): void;
  /** In the order in which they were found, view after view. */
  list(page: {
    readonly view?: string | undefined;
    readonly start: number;
    readonly count: number;
  }): { readonly total: number; readonly differences: readonly Difference[] };
  close(): void;
}

/** Differences of one view that are kept; all are counted. */
export const differencesMax = 10_000;
