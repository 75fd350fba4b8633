/**
 * Waits at the start until a view has all records of the log. A large log takes hours, so there is
 * no timeout while the view moves. The wait ends if the view stalls or keeps failing.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { Progress } from "./progress.ts";

interface CatchUpLimits {
  /** Maximum total time, in milliseconds. */
  readonly waitMsMax: number;
  /** Maximum time without a change of the position; unlimited when absent. */
  readonly stalledMsMax?: number;
  /** Maximum time of uninterrupted failure. */
  readonly failingMsMax: number;
  /** Milliseconds between two checks. */
  readonly pollMs: number;
}

/** Rejects with CatalogError `unavailable`, with the reason. */
export async function catchUp(
  progress: Pick<Progress, "reached" | "errors" | "positions">,
  view: string,
  head: Position,
  { waitMsMax, stalledMsMax = waitMsMax, failingMsMax, pollMs }: CatchUpLimits,
): Promise<void> {
  const begun = performance.now();
  let movedAt = begun;
  let position = progress.positions()[view];
  let failingSince: number | undefined;
  for (;;) {
    const polledAt = performance.now();
    try {
      await progress.reached(view, head, { timeoutMs: pollMs, patient: true });
      return;
    } catch (error) {
      const now = performance.now();
      const at = progress.positions()[view];
      if (at !== position) movedAt = now;
      position = at;
      // The wait was rejected immediately: the view cannot reach the position.
      if (now - polledAt < pollMs / 2 || now - begun >= waitMsMax || now - movedAt >= stalledMsMax)
        throw error;
      const why = progress.errors()[view];
      failingSince = why === undefined ? undefined : (failingSince ?? polledAt);
      if (failingSince === undefined || now - failingSince < failingMsMax) continue;
      throw new CatalogError(
        "unavailable",
        `the view "${view}" does not reach the end of the log: ${why}`,
        { cause: error },
      );
    }
  }
}
