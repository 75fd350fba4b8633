/** The time limit of a query, in CPU time of its thread. */
import { CatalogError } from "../../../../core/errors.ts";
import { threadCpuMs } from "../../../../projector/thread/cpu-time.ts";

/** Steps between two readings of the clock. */
const STEPS = 1 << 15;

export class Deadline {
  private readonly end: number;
  private readonly limitMs: number;
  private left = STEPS;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
    this.end = threadCpuMs() + limitMs;
  }

  /** Counts steps of a few nanoseconds. Throws `too_large` beyond the limit. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left > 0) return;
    this.left = STEPS;
    if (threadCpuMs() < this.end) return;
    throw new CatalogError(
      "too_large",
      `the search took more than ${this.limitMs / 1_000} s of computing`,
      { hint: "Search with fewer criteria, or with a word or value that fewer entities have" },
    );
  }
}
