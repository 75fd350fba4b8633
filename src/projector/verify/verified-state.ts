/** Port: the results of the last verifications. */
import type { Position } from "../../core/position.ts";
import type { Difference } from "./differences.ts";

/** The position and time of a verification. */
export interface VerifiedAt {
  readonly position: Position;
  /** Epoch milliseconds. */
  readonly time: number;
}

/** The result of a verification for a view. */
export interface Verified {
  readonly view: string;
  /** Up to this position, the view equals the log, except for the differences. */
  readonly position: Position;
  /** Number of rows that the log implies at the position. */
  readonly rows: number;
  /** End of the verification; epoch milliseconds. */
  readonly time: number;
  /** The last verification that compared all entities. */
  readonly full: VerifiedAt | undefined;
  /** The same as `full`: both fields exist for clients. */
  readonly whole: VerifiedAt | undefined;
  /** Number of differences, and the first of them. */
  readonly count: number;
  readonly differences: readonly Difference[];
}

/** The last result for a view, without its differences. */
export type VerificationSummary = Omit<Verified, "differences">;

export interface VerifiedState {
  /** Results by view; results for another log or model are omitted. */
  load(): Readonly<Record<string, VerificationSummary>>;
  save(verified: readonly Verified[]): void;
  /** Differences in the order of verification, view by view. */
  list(page: {
    readonly view?: string | undefined;
    readonly start: number;
    readonly count: number;
  }): { readonly total: number; readonly differences: readonly Difference[] };
  close(): void;
}

/** Maximum number of stored differences of a view; the count includes all. */
export const differencesMax = 10_000;
