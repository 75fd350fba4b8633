/** Waits until searches show a write, for requests that ask for it with a header. */
import type { Catalog, Proposal, Written } from "../../catalog/catalog.ts";

const SYNC = "x-datahub-sync-index-update";

const asksForIt = ({ headers }: Proposal): boolean =>
  headers !== undefined &&
  Object.entries(headers).some(([name, value]) => name.toLowerCase() === SYNC && value === "true");

/** Throws `unavailable` after a timeout. The write is in the log then; a retry changes nothing. */
export async function untilFound(
  proposals: readonly Proposal[],
  { position }: Written,
  catalog: Pick<Catalog, "reach">,
): Promise<void> {
  if (position !== undefined && proposals.some(asksForIt)) await catalog.reach("search", position);
}
