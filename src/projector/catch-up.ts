/**
 * Waits at the start until a view has what is in the log. As long as it moves, or may yet move, the
 * wait goes on; a view that keeps failing will not come, and the start ends with its reason.
 */
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { Progress } from "./progress.ts";

export interface CatchUpLimits {
  /** All in all, in milliseconds. */
  readonly waitMsMax: number;
  /** How long the view may fail without a break. */
  readonly failingMsMax: number;
  /** How often it is looked at. */
  readonly lookMs: number;
}

/** Rejects with CatalogError `unavailable`, naming why. */
export async function catchUp(
  progress: Pick<Progress, "reached" | "errors">,
  view: string,
  head: Position,
  { waitMsMax, failingMsMax, lookMs }: CatchUpLimits,
): Promise<void> {
  const begun = performance.now();
  let failingSince: number | undefined;
  for (;;) {
    const looked = performance.now();
    try {
      await progress.reached(view, head, { timeoutMs: lookMs, patient: true });
      return;
    } catch (error) {
      const now = performance.now();
      // It did not wait at all: nothing will come any more.
      if (now - looked < lookMs / 2 || now - begun >= waitMsMax) throw error;
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
