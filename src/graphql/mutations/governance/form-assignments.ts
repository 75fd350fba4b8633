/** Assignment of forms to assets: by urn, or by a filter. */

import { CatalogError } from "../../../core/errors.ts";
import { objectsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import type { FacetFilter } from "../../queries/token-filter.ts";
import { stampOf } from "../changes.ts";
import { patchOf, proposalOf, rejectMissing, urnOf, write } from "../writing.ts";

interface FormInput {
  readonly formUrn: string;
  readonly entityUrns: readonly string[];
}

async function isAssigned(form: string, urn: string, { loader }: Viewer): Promise<boolean> {
  const { incompleteForms, completedForms } = (await loader.load(urn)).aspect("forms") ?? {};
  return [...objectsIn(incompleteForms), ...objectsIn(completedForms)].some(
    (one) => one.urn === form,
  );
}

/** Entities that have the form keep the answers to it. */
async function batchAssignForm({ input }: InputArgs<FormInput>, viewer: Viewer) {
  const form = urnOf(input.formUrn, ["form"], viewer);
  await rejectMissing([form, ...input.entityUrns], viewer);
  const prompts = (await viewer.loader.load(form)).aspect("formInfo")?.prompts;
  const lastModified = stampOf(viewer);
  const incompletePrompts = (Array.isArray(prompts) ? prompts : []).map(({ id }) => ({
    id,
    lastModified,
  }));
  const value = { urn: form, incompletePrompts, completedPrompts: [] };
  const operation = { op: "add", path: ["incompleteForms", form], value } as const;
  const urns = [...new Set(input.entityUrns)];
  const assigned = await Promise.all(urns.map((urn) => isAssigned(form, urn, viewer)));
  return write(
    urns.flatMap((urn, i) => (assigned[i] ? [] : [patchOf(urn, "forms", [operation])])),
    viewer,
  );
}

interface FormFilterInput {
  readonly formUrn: string;
  readonly orFilters: readonly { readonly and?: Maybe<readonly FacetFilter[]> }[];
}

/** Replaces the filter of the form. */
async function createDynamicFormAssignment({ input }: InputArgs<FormFilterInput>, viewer: Viewer) {
  const form = urnOf(input.formUrn, ["form"], viewer);
  if (input.orFilters.length === 0) {
    throw new CatalogError("malformed", "orFilters is empty", {
      hint: "Send a filter for the form's entities",
    });
  }
  await rejectMissing([form], viewer);
  const or = input.orFilters.map(({ and }) => ({ and: (and ?? []).map(criterionOf) }));
  return write([proposalOf(form, "dynamicFormAssignment", { filter: { or } })], viewer);
}

const criterionOf = ({ field, value, values, condition, negated }: FacetFilter) => ({
  field,
  values: [...(values ?? []), ...(typeof value === "string" ? [value] : [])],
  condition: condition ?? "EQUAL",
  negated: negated ?? false,
});

export const formAssignmentMutations = { batchAssignForm, createDynamicFormAssignment };
