/**
 * Entities of a staging generation that may differ temporarily. A folded view reads aspects and
 * timeseries at two positions, so an entity with later records may be in a state that the log never
 * had. The generation catches up with the log before it becomes live, and folds these entities
 * again.
 */
import type { Position } from "../../../core/position.ts";
import type { VerifiedView } from "../view-rows.ts";
import { changedSince } from "./changed-entities.ts";
import type { VerificationParts } from "./run-batches.ts";

/** Maximum number of excluded entities per view. */
const REFOLDED_MAX = 200_000;

/** Tests if a view folds an entity again when it catches up. */
export async function pendingRefolds(
  { log, catchesUp = false, signal }: Pick<VerificationParts, "log" | "catchesUp" | "signal">,
  positions: readonly { readonly view: VerifiedView; readonly position: Position }[],
): Promise<(view: string, urn: string) => boolean> {
  const refolded = new Map<string, ReadonlySet<string>>();
  if (catchesUp) {
    const head = await log.head();
    for (const { view, position } of positions) {
      if (view.foldedFrom === undefined) continue;
      const { urns } = await changedSince(log, position, head, REFOLDED_MAX, signal);
      refolded.set(view.name, urns);
    }
  }
  return (view, urn) => refolded.get(view)?.has(urn) ?? false;
}
