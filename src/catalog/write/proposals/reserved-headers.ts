/**
 * Reserved headers: the service sets and reads them (bounds of deletes, rollbacks, responses to
 * requests). Clients must not set them, because they would change the meaning of the log.
 */
import { CatalogError } from "../../../core/errors.ts";
import type { Proposal } from "../../catalog.ts";
import { labelOf } from "../../labels.ts";

const OWN = /^annals-/i;

/** Throws `invalid` if a client's proposal has a reserved header. */
export function rejectOwnHeaders(proposals: readonly Proposal[]): void {
  for (const [index, proposal] of proposals.entries()) {
    if (proposal.headers === undefined) continue;
    const own = Object.keys(proposal.headers).find((name) => OWN.test(name));
    if (own === undefined) continue;
    const label = labelOf(proposal, { index, count: proposals.length });
    throw new CatalogError("invalid", `${label}header "${own.slice(0, 120)}" is reserved`, {
      hint: 'Use names that do not begin with "annals-"',
    });
  }
}
