/** A search right after a write waits briefly until the search view has the write. */
import { type Position, START } from "../../core/position.ts";
import { type ChangeLog, recordsBetween } from "../../log/change-log.ts";
import type { Progress } from "../../projector/thread/progress.ts";

/** A view with at most this many missing records usually catches up within msMax. */
const SOON = { recordsMax: 500, msMax: 100 };

/**
 * Waits until a view has a position, if it is only some hundred records behind; returns at once otherwise. Waits
 * a tenth of a second at most, and never rejects.
 */
export async function soonReached(
  view: string,
  wanted: Position,
  parts: {
    readonly log: Pick<ChangeLog, "countBetween">;
    readonly progress: Pick<Progress, "positions" | "reached">;
  },
): Promise<void> {
  const { log, progress } = parts;
  const at = progress.positions()[view] ?? START;
  if (at >= wanted || recordsBetween(log, at, wanted) > SOON.recordsMax) return;
  await progress.reached(view, wanted, { timeoutMs: SOON.msMax }).catch(() => {});
}
