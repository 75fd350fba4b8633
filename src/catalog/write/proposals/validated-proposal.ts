/** The results of validation, and its interface. */
import type { AuditStamp } from "../../../core/change.ts";
import type { AspectCommand, DefaultAspect } from "../../../core/decide.ts";
import type { AllOfType, OtherEntities } from "../../../core/rules/other-entities.ts";
import type { Aspect, Entity } from "../../../model/model.ts";
import type { Address } from "../../address.ts";
import type { Proposal } from "../../catalog.ts";

/** The needs of one proposal: urns, and all entities of a type with the key of its own urn. */
export interface Needed {
  readonly urns: readonly string[];
  readonly all?: (AllOfType & { readonly key: string }) | undefined;
}

/** A validated proposal; only the entity's state is still unknown. */
export interface ValidatedProposal {
  readonly urn: string;
  readonly entity: Entity;
  readonly aspect: Aspect;
  readonly command: AspectCommand;
}

/** A proposal with a valid urn and valid names. */
export interface Addressed extends Address {
  readonly aspect: Aspect;
  readonly proposal: Proposal;
  /** The aspect's value as sent, parsed once. */
  readonly sent: () => unknown;
  readonly label: string;
}

export interface ProposalValidation {
  /** Validates the urn and the names; `place` is the proposal's index in the request. */
  address(proposal: Proposal, place: { readonly index: number; readonly count: number }): Addressed;
  /** Validates the rest. `others`: the entities of `dependencies`; they are not checked without it. */
  validate(addressed: Addressed, stamp: AuditStamp, others?: OtherEntities): ValidatedProposal;
  /** True if the new value of the aspect depends on its current value and on nothing else that is stored. */
  dependsOnNothingElse(addressed: Pick<Addressed, "entity" | "aspect">): boolean;
  /** The other entities that `validate` needs; undefined if there are none. */
  dependencies(addressed: Addressed): Needed | undefined;
  /** The key and default aspects of a new entity. */
  defaultAspects(
    entity: Entity,
    urn: string,
    delimiterOf: (platformUrn: string) => string | undefined,
  ): readonly DefaultAspect[];
}
