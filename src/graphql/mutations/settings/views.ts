/** Mutations of views: saved filters, personal or global. */

import type { PrivilegeAlternatives } from "../../../auth/policies/privileges.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import {
  createEntity,
  given,
  requirePrivilege,
  setMembers,
  stampOf,
  storedAspect,
} from "../changes.ts";
import { remove, urnOf } from "../writing.ts";

const TYPE = "dataHubView";
const INFO = "dataHubViewInfo";

const toManageViews: PrivilegeAlternatives = [["MANAGE_GLOBAL_VIEWS"]];

interface Criterion {
  readonly field: string;
  readonly values?: Maybe<readonly string[]>;
  readonly value?: Maybe<string>;
  readonly condition?: Maybe<string>;
  readonly negated?: Maybe<boolean>;
}

interface Definition {
  readonly entityTypes: readonly string[];
  readonly filter: { readonly operator: "AND" | "OR"; readonly filters: readonly Criterion[] };
}

/** The definition in the form of the model: a list of clauses, of which one has to match. */
function definitionOf({ entityTypes, filter }: Definition, viewer: Viewer) {
  const criteria = filter.filters.map(({ field, values, value, condition, negated }) => ({
    field,
    condition: condition ?? "EQUAL",
    values: values ?? (value ? [value] : []),
    value: values?.[0] ?? value ?? "",
    negated: negated ?? false,
  }));
  const clauses = filter.operator === "OR" ? criteria.map((one) => [one]) : [criteria];
  return {
    entityTypes: entityTypes.map((member) => viewer.entityTypes.find(member) ?? member),
    filter: { or: criteria.length === 0 ? [] : clauses.map((and) => ({ and })) },
  };
}

interface NewView {
  readonly viewType: "PERSONAL" | "GLOBAL";
  readonly name: string;
  readonly description?: Maybe<string>;
  readonly definition: Definition;
}

/** The urn. Throws `forbidden` unless the caller created the view, or manages global views. */
async function ownViewOf(text: string, viewer: Viewer): Promise<string> {
  const urn = urnOf(text, [TYPE], viewer);
  const info = await storedAspect(urn, INFO, viewer);
  const own = viewer.actor !== undefined && memberAt(info, ["created", "actor"]) === viewer.actor;
  if (own) return urn;
  if (info.type === "GLOBAL") await requirePrivilege(toManageViews, viewer);
  else {
    throw new CatalogError("forbidden", "Unauthorized to perform this action", {
      hint: "Only the creator of a personal view may change it",
    });
  }
  return urn;
}

export const viewMutations = {
  async createView({ input }: InputArgs<NewView>, viewer: Viewer) {
    const { viewType, name, description, definition } = input;
    if (viewType === "GLOBAL") await requirePrivilege(toManageViews, viewer);
    const stamp = stampOf(viewer);
    const value = {
      ...given({ description }),
      name,
      type: viewType,
      definition: definitionOf(definition, viewer),
      created: stamp,
      lastModified: stamp,
    };
    return entityOf(
      await createEntity(TYPE, { aspects: { [INFO]: value }, required: "none" }, viewer),
    );
  },

  async updateView({ urn: text, input }: UpdateArgs<Partial<NewView>>, viewer: Viewer) {
    const urn = await ownViewOf(text, viewer);
    const { name, description, definition } = input;
    const changed = {
      ...given({ name, description }),
      ...(definition && { definition: definitionOf(definition, viewer) }),
      lastModified: stampOf(viewer),
    };
    await setMembers(urn, INFO, changed, viewer, "none");
    return entityOf(urn);
  },

  async deleteView({ urn }: { urn: string }, viewer: Viewer) {
    return remove(await ownViewOf(urn, viewer), viewer, "none");
  },
};
