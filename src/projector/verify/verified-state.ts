/** Port: the results of the last verifications. */
import type { Position } from "../../core/position.ts";
import type { Difference } from "./differences.ts";

export interface Look {
  readonly position: Position;
  /** Epoch milliseconds. */
  readonly time: number;
}

/** The result of a verification for a view. */
export interface Verified {
  readonly view: string;
  /** Up to here the view equals the log, except for the differences. */
  readonly position: Position;
  /** Rows that the log implies there. */
  readonly rows: number;
  /** End of the verification; epoch milliseconds. */
  readonly time: number;
  /** The last one that compared all entities. */
  readonly full: Look | undefined;
  /** The same: both fields exist for clients. */
  readonly whole: Look | undefined;
  /** Number of differences, and the first of them. */
  readonly count: number;
  readonly differences: readonly Difference[];
}

/** The last result for a view, without its differences. */
export type Remembered = Omit<Verified, "differences">;

export interface VerifiedState {
  /** By view; without results of another log or model. */
  load(): Readonly<Record<string, Remembered>>;
  save(verified: readonly Verified[]): void;
  /** In the order of verification, view after view. */
  list(page: {
    readonly view?: string | undefined;
    readonly start: number;
    readonly count: number;
  }): { readonly total: number; readonly differences: readonly Difference[] };
  close(): void;
}

/** Differences of one view that are kept; all are counted. */
export const differencesMax = 10_000;
