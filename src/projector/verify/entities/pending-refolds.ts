/**
 * Differences that disappear by themselves: a staging generation catches up with the log before it is read, and a view
 * built from others then builds the entities again that have later records. Until then such an entity may be in a state
 * that the log never had, since its aspects and its timeseries were read at two positions.
 */
import type { Position } from "../../../core/position.ts";
import type { VerifiedView } from "../view-rows.ts";
import { changedSince } from "./changed-entities.ts";
import type { VerificationParts } from "./run-batches.ts";

/** Entities of one view that are excluded at most. */
const TOUCHED_MAX = 200_000;

/** Returns true if a view builds an entity again when it catches up. */
export async function pendingRefolds(
  { log, broughtOn = false, signal }: Pick<VerificationParts, "log" | "broughtOn" | "signal">,
  positions: readonly { readonly view: VerifiedView; readonly position: Position }[],
): Promise<(view: string, urn: string) => boolean> {
  const again = new Map<string, ReadonlySet<string>>();
  if (broughtOn) {
    const head = await log.head();
    for (const { view, position } of positions) {
      if (view.foldedFrom === undefined) continue;
      const { urns } = await changedSince(log, position, head, TOUCHED_MAX, signal);
      again.set(view.name, urns);
    }
  }
  return (view, urn) => again.get(view)?.has(urn) ?? false;
}
