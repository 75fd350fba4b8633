/**
 * Reports a count of rows that differs from the sum over all entities, although no compared entity differs.
 *
 * Two differences are no fault. A view built from another one may show entities as of a later position: one row more or
 * less for each entity changed since. A store may show a batch before its position: at most one row more for each
 * record, and any number fewer.
 */
import type { Position } from "../../core/position.ts";
import { changedSince } from "./entities/changed-entities.ts";
import type { VerificationParts } from "./entities/run-batches.ts";
import type { VerifiedView, ViewRows } from "./view-rows.ts";

/** Changed entities that are listed at most: a view so far behind is not judged by a count. */
const TOUCHED_MAX = 200_000;

/** Returns the faults, as sentences. */
export async function orphanRows(
  { log, signal }: Pick<VerificationParts, "log" | "signal">,
  view: Pick<VerifiedView, "foldedFrom"> & { readonly rows: Pick<ViewRows, "early"> },
  { count, position }: { readonly count: number; readonly position: Position },
): Promise<readonly string[]> {
  if (count === 0) return [];
  const folded = view.foldedFrom !== undefined;
  if (folded || view.rows.early === true) {
    const later = await changedSince(log, position, await log.head(), TOUCHED_MAX, signal);
    if (folded && Math.abs(count) <= later.urns.size) return [];
    if (!folded && later.records > 0 && count <= later.records) return [];
  }
  return [
    count > 0
      ? `${count} rows belong to no entity`
      : `the view counts ${-count} rows fewer than its entities have`,
  ];
}
