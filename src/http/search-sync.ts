/** Writes that are answered when searches show them: what a proposal's header asks of its request. */
import type { Catalog, Proposal, Written } from "../catalog/catalog.ts";

const SYNC = "x-datahub-sync-index-update";

const asksForIt = ({ headers }: Proposal): boolean =>
  headers !== undefined &&
  Object.entries(headers).some(([name, value]) => name.toLowerCase() === SYNC && value === "true");

/**
 * Throws `unavailable` when that takes too long: the write is in the log all the same, and sent
 * again it changes nothing.
 */
export async function untilFound(
  proposals: readonly Proposal[],
  { position }: Written,
  catalog: Pick<Catalog, "reach">,
): Promise<void> {
  if (position !== undefined && proposals.some(asksForIt)) await catalog.reach("search", position);
}
