/**
 * Validates the values of a large request outside the main thread, as far as validation does not depend
 * on stored state. The main thread gets the text to store or the validation error of each value. It
 * throws the errors where validation throws its own: after authorization.
 */
import { CatalogError } from "../../../core/errors.ts";
import { CHECKED, type CheckedValue, type Proposal, proposalsMax } from "../../catalog.ts";
import type { ProposalValidation } from "./validated-proposal.ts";

/** Longest value whose validation depends on other entities: the main thread validates it. */
const OPEN_CHARACTERS_MAX = 1024 * 1024;

/** Throws `too_large` for more proposals than one request may have. */
export function requireProposalsMax(count: number): void {
  if (count <= proposalsMax) return;
  throw new CatalogError(
    "too_large",
    `the request has ${count} proposals; at most ${proposalsMax} are allowed`,
    { hint: "Send it in several requests" },
  );
}

/** The proposals with their values as text, each marked with the result of its validation. */
export function checkProposals(
  proposals: readonly Proposal[],
  validation: Pick<
    ProposalValidation,
    "address" | "dependencies" | "validate" | "dependsOnNothingElse"
  >,
): readonly Proposal[] {
  const count = proposals.length;
  // Only patches use the stamp, and they are not applied here.
  const stamp = { time: 0, actor: "" };

  function check(proposal: Proposal, index: number): Proposal {
    if (proposal.aspect?.value === undefined || proposal.aspect.value === null) return proposal;
    try {
      const addressed = validation.address(proposal, { index, count });
      const open = validation.dependencies(addressed) !== undefined;
      const value = open ? undefined : validation.validate(addressed, stamp).command.value;
      if (typeof value === "object") return withText(proposal, value.text, "valid");
      const text = textOf(proposal.aspect.value);
      if (text.length <= OPEN_CHARACTERS_MAX || validation.dependsOnNothingElse(addressed)) {
        return withText(proposal, text, "open");
      }
      return withText(proposal, "", { rejection: tooLong(addressed.label, proposal, text.length) });
    } catch (rejection) {
      if (!(rejection instanceof CatalogError)) throw rejection;
      return withText(proposal, "", { rejection });
    }
  }

  return proposals.map(check);
}

/** The JSON text of a proposal's value. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const withText = (proposal: Proposal, value: string, checked: CheckedValue): Proposal => ({
  ...proposal,
  aspect: { ...proposal.aspect, value },
  [CHECKED]: checked,
});

const tooLong = (
  label: string,
  { aspectName = "", changeType }: Proposal,
  length: number,
): CatalogError =>
  new CatalogError(
    "too_large",
    `${label}the ${changeType} of "${aspectName}" depends on other entities and has ${length} characters; at most ${OPEN_CHARACTERS_MAX} are allowed`,
    { hint: "Send it in several smaller changes" },
  );
