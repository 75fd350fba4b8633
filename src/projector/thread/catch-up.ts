/**
 * Waits at the start until a view has all records of the log. A view that moves may take as long as it needs: one of a
 * large log takes hours from its beginning. The wait ends if the view is stalled or keeps failing.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { Progress } from "./progress.ts";

export interface CatchUpLimits {
  /** In total, in milliseconds. */
  readonly waitMsMax: number;
  /** Without a change of the position; not limited when absent. */
  readonly stillMsMax?: number;
  /** How long the view may fail without a break. */
  readonly failingMsMax: number;
  /** How often it is looked at. */
  readonly lookMs: number;
}

/** Rejects with CatalogError `unavailable`, naming why. */
export async function catchUp(
  progress: Pick<Progress, "reached" | "errors" | "positions">,
  view: string,
  head: Position,
  { waitMsMax, stillMsMax = waitMsMax, failingMsMax, lookMs }: CatchUpLimits,
): Promise<void> {
  const begun = performance.now();
  let movedAt = begun;
  let position = progress.positions()[view];
  let failingSince: number | undefined;
  for (;;) {
    const looked = performance.now();
    try {
      await progress.reached(view, head, { timeoutMs: lookMs, patient: true });
      return;
    } catch (error) {
      const now = performance.now();
      const at = progress.positions()[view];
      if (at !== position) movedAt = now;
      position = at;
      // It did not wait at all: nothing will come any more.
      if (now - looked < lookMs / 2 || now - begun >= waitMsMax || now - movedAt >= stillMsMax)
        throw error;
      const why = progress.errors()[view];
      failingSince = why === undefined ? undefined : (failingSince ?? looked);
      if (failingSince === undefined || now - failingSince < failingMsMax) continue;
      throw new CatalogError(
        "unavailable",
        `the view "${view}" does not come to the end of the log: ${why}`,
        { cause: error },
      );
    }
  }
}
