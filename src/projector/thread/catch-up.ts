/**
 * Waits at the start until a view has all records of the log. A large log takes hours, so a view that
 * moves may take as long as it needs. The wait ends if the view is stalled or keeps failing.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { Progress } from "./progress.ts";

interface CatchUpLimits {
  /** In total, in milliseconds. */
  readonly waitMsMax: number;
  /** Without a change of the position; not limited when absent. */
  readonly stalledMsMax?: number;
  /** How long the view may fail without a break. */
  readonly failingMsMax: number;
  /** Milliseconds between two checks. */
  readonly pollMs: number;
}

/** Rejects with CatalogError `unavailable`, naming why. */
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
      // The wait was rejected at once: the view cannot get there.
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
