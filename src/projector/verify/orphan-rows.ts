/**
 * Reports orphan rows: the row count of a view differs from the sum over all entities, although no
 * compared entity differs.
 *
 * Two differences are not faults. A folded view may have entities as of a later position: one row
 * more or fewer for each entity changed since. A store may expose a batch before its position
 * includes it: at most one row more for each record, and any number fewer.
 */
import type { Position } from "../../core/position.ts";
import { changedSince } from "./entities/changed-entities.ts";
import type { VerificationParts } from "./entities/run-batches.ts";
import type { VerifiedView, ViewRows } from "./view-rows.ts";

/** Maximum number of changed entities; with more, the row count is not checked. */
const CHANGED_ENTITIES_MAX = 200_000;

/** Returns the faults, as sentences. */
export async function orphanRows(
  { log, signal }: Pick<VerificationParts, "log" | "signal">,
  view: Pick<VerifiedView, "foldedFrom"> & { readonly rows: Pick<ViewRows, "early"> },
  { count, position }: { readonly count: number; readonly position: Position },
): Promise<readonly string[]> {
  if (count === 0) return [];
  const folded = view.foldedFrom !== undefined;
  if (folded || view.rows.early === true) {
    const later = await changedSince(log, position, await log.head(), CHANGED_ENTITIES_MAX, signal);
    if (folded && Math.abs(count) <= later.urns.size) return [];
    if (!folded && later.records > 0 && count <= later.records) return [];
  }
  return [
    count > 0
      ? `${count} rows belong to no entity`
      : `the view counts ${-count} rows fewer than its entities have`,
  ];
}
