/**
 * Rows of a view beyond those that its entities have, or fewer: counted, where none of the entities
 * that were compared says which they are.
 *
 * A view that is folded from another may show some entities as they became after its own position, and
 * so have rows of those that came to be since, and none of those that went. So many are no fault. Nor is
 * what a batch brought or took that is on its way, where it is seen before the position tells of it: a
 * record brings one row at most, and may take any number.
 */
import type { Position } from "../../core/position.ts";
import type { VerificationParts } from "./running.ts";
import { touchedSince } from "./touched.ts";
import type { VerifiedView, ViewRows } from "./view-rows.ts";

/** Entities beyond which nobody looks for more: a view so far behind has more to it than a count. */
const TOUCHED_MAX = 200_000;

/** What is wrong in words; nothing where it may be as it should. */
export async function strayRows(
  { log, signal }: Pick<VerificationParts, "log" | "signal">,
  view: Pick<VerifiedView, "foldedFrom"> & { readonly rows: Pick<ViewRows, "early"> },
  { count, position }: { readonly count: number; readonly position: Position },
): Promise<readonly string[]> {
  if (count === 0) return [];
  const folded = view.foldedFrom !== undefined;
  if (folded || view.rows.early === true) {
    const later = await touchedSince(log, position, await log.head(), TOUCHED_MAX, signal);
    if (folded && Math.abs(count) <= later.urns.size) return [];
    if (!folded && later.records > 0 && count <= later.records) return [];
  }
  return [
    count > 0 ? `${count} rows belong to no entity` : `the rows are ${-count} fewer than they seem`,
  ];
}
