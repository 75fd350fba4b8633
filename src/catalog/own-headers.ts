/**
 * Headers that the service sets itself, and reads again: bounds of deletes, what was undone, what a
 * request was answered. A client that could set them would say what the log means.
 */
import { CatalogError } from "../core/errors.ts";
import type { Proposal } from "./catalog.ts";
import { labelOf } from "./labels.ts";

const OWN = /^annals-/i;

/** Throws `invalid` where a proposal of a client has such a header. */
export function refuseOwnHeaders(proposals: readonly Proposal[]): void {
  for (const [index, proposal] of proposals.entries()) {
    if (proposal.headers === undefined) continue;
    const own = Object.keys(proposal.headers).find((name) => OWN.test(name));
    if (own === undefined) continue;
    const label = labelOf(proposal, { index, count: proposals.length });
    throw new CatalogError(
      "invalid",
      `${label}header "${own.slice(0, 120)}" is the service's own`,
      {
        hint: 'Headers of proposals have names that do not begin with "annals-"',
      },
    );
  }
}
