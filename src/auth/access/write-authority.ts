/**
 * Write authorization by policies: Edit Entity to write aspects (or the privilege of the aspect, or the
 * one that manages the type), Create Entity to create an entity, Delete Entity to delete it. Constraints
 * of policies limit the tags that may be added and removed. Access control has its own rules
 * (privileged-writes.ts).
 *
 * The check comes before validation; constraints compare with the stored tags.
 */
import type { Caller, Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { applyPatch, type PatchRules, parsePatch } from "../../core/patch/patch.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { REQUIRED, type RequiredPrivileges } from "../../core/write/required-privileges.ts";
import { jsonObject, objectsIn, parsedValue } from "../../lib/json.ts";
import type { AuthContext, Authority } from "../policies/authority.ts";
import { meets, type PolicyResource } from "../policies/policy.ts";
import { findResource } from "../policies/principals.ts";
import {
  alternativesText,
  type Privilege,
  type PrivilegeAlternatives,
} from "../policies/privileges.ts";
import type { Stored, StoredEntities } from "../stored-entities.ts";
import { coversAspect, glossaryInfoOf, managesChildren } from "./glossary-children.ts";

/** Privileges that allow writing one aspect without Edit Entity. */
const aspectPrivileges: Readonly<Record<string, Privilege>> = {
  globalTags: "EDIT_ENTITY_TAGS",
  glossaryTerms: "EDIT_ENTITY_GLOSSARY_TERMS",
  ownership: "EDIT_ENTITY_OWNERS",
  institutionalMemory: "EDIT_ENTITY_DOC_LINKS",
  domains: "EDIT_DOMAINS_PRIVILEGE",
  deprecation: "EDIT_DEPRECATION_PRIVILEGE",
  status: "EDIT_ENTITY_STATUS",
  upstreamLineage: "EDIT_LINEAGE",
  embed: "EDIT_ENTITY_EMBED",
  structuredProperties: "EDIT_ENTITY_PROPERTIES",
  applications: "EDIT_ENTITY_APPLICATIONS_PRIVILEGE",
  assetSettings: "MANAGE_ASSET_SUMMARY",
  forms: "MANAGE_DOCUMENTATION_FORMS",
  editableDatasetProperties: "EDIT_ENTITY_DOCS",
  editableChartProperties: "EDIT_ENTITY_DOCS",
  editableDashboardProperties: "EDIT_ENTITY_DOCS",
  editableDataFlowProperties: "EDIT_ENTITY_DOCS",
  editableDataJobProperties: "EDIT_ENTITY_DOCS",
  editableNotebookProperties: "EDIT_ENTITY_DOCS",
  editableERModelRelationshipProperties: "EDIT_ENTITY_DOCS",
};

/** Privileges for the members of a column in editableSchemaMetadata. */
const columnPrivileges: ReadonlyMap<string, Privilege> = new Map([
  ["globalTags", "EDIT_DATASET_COL_TAGS"],
  ["glossaryTerms", "EDIT_DATASET_COL_GLOSSARY_TERMS"],
  ["description", "EDIT_DATASET_COL_DESCRIPTION"],
]);

/** Privileges that allow managing all entities of a type. */
const managers: Readonly<Record<string, Privilege>> = {
  corpuser: "MANAGE_USERS_AND_GROUPS",
  corpGroup: "MANAGE_USERS_AND_GROUPS",
  domain: "MANAGE_DOMAINS",
  glossaryTerm: "MANAGE_GLOSSARIES",
  glossaryNode: "MANAGE_GLOSSARIES",
  tag: "MANAGE_TAGS",
  structuredProperty: "MANAGE_STRUCTURED_PROPERTIES",
  dataHubIngestionSource: "MANAGE_INGESTION",
  dataHubExecutionRequest: "MANAGE_INGESTION",
  test: "MANAGE_TESTS",
  ownershipType: "MANAGE_GLOBAL_OWNERSHIP_TYPES",
  post: "MANAGE_GLOBAL_ANNOUNCEMENTS",
  dataHubView: "MANAGE_GLOBAL_VIEWS",
  dataHubPageTemplate: "MANAGE_HOME_PAGE_TEMPLATES",
  dataHubPageModule: "MANAGE_HOME_PAGE_TEMPLATES",
  document: "MANAGE_DOCUMENTS",
  form: "MANAGE_DOCUMENTATION_FORMS",
  businessAttribute: "MANAGE_BUSINESS_ATTRIBUTE",
};

const ofKey = <T>(table: Readonly<Record<string, T>>, key: string): readonly T[] =>
  Object.hasOwn(table, key) ? [table[key] as T] : [];

/** Any of these, each alone. */
const any = (...privileges: readonly Privilege[]): PrivilegeAlternatives =>
  privileges.map((one) => [one]);

/** `isThere`: the entity exists; a new aspect then is a change of the entity. */
function alternativesFor(
  proposal: Proposal,
  entityType: string,
  isThere: boolean,
): PrivilegeAlternatives {
  const { changeType, aspectName = "" } = proposal;
  const managing = ofKey(managers, entityType);
  if (changeType === "DELETE") return any("DELETE_ENTITY", ...managing);
  if (changeType === "CREATE_ENTITY" || (changeType === "CREATE" && !isThere)) {
    return any("CREATE_ENTITY", "EDIT_ENTITY", ...managing);
  }
  const own = any("EDIT_ENTITY", ...ofKey(aspectPrivileges, aspectName), ...managing);
  return [...own, ...toEditColumns(proposal)];
}

/**
 * The privileges that together allow writing the columns of editableSchemaMetadata: those of the
 * members that a patch names, all of them for any other write.
 */
function toEditColumns({ changeType, aspectName, aspect }: Proposal): PrivilegeAlternatives {
  if (aspectName !== "editableSchemaMetadata") return [];
  const all = [[...columnPrivileges.values()]];
  const patch = changeType === "PATCH" ? parsedValue(aspect?.value) : undefined;
  // With keys of its own, a patch has members at other positions of its paths.
  if (!Array.isArray(patch)) return all;
  const named = new Set<Privilege>();
  for (const { op, path } of patch.filter(jsonObject)) {
    const [, list, , member = ""] = String(path).split("/");
    if (list === "lastModified") continue;
    const privilege = columnPrivileges.get(member);
    if (privilege === undefined || op === "move" || op === "copy") return all;
    named.add(privilege);
  }
  return named.size > 0 ? [[...named]] : all;
}

const toDelete = (urn: string): PrivilegeAlternatives =>
  any("DELETE_ENTITY", ...ofKey(managers, entityTypeOf(urn)));
const toForget: PrivilegeAlternatives = any("EDIT_ENTITY", "EDIT_LINEAGE", "DELETE_ENTITY");

/** An unknown resource matches only policies without criteria or constraints. */
const unknown: PolicyResource = { owners: [], fields: {} };

interface Dependencies {
  readonly authority: Pick<Authority, "authContext">;
  readonly entities: Pick<StoredEntities, "find">;
  readonly patchRules: PatchRules;
  /** Urn of the proposal's entity; undefined for a proposal without a valid one. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  /** Entity types with their own rules (privileged-writes.ts). */
  readonly coveredTypes: ReadonlySet<string>;
  readonly namespace: string;
  readonly systemActor: string;
}

export function authorizeWrites(catalog: Catalog, dependencies: Dependencies): Catalog {
  const { authority, entities, patchRules, urnOf, coveredTypes } = dependencies;
  const { namespace, systemActor } = dependencies;

  /** Undefined when the caller may write everything. */
  async function authContextOf({ actor }: Caller): Promise<AuthContext | undefined> {
    if (actor === undefined || actor === systemActor) return undefined;
    const nobody = { principal: { urn: actor, groups: [], roles: [] }, policies: [] };
    return (await authority.authContext(actor)) ?? nobody;
  }

  async function admit(
    { principal, policies }: AuthContext,
    urn: string,
    alternatives: PrivilegeAlternatives,
    { changedTags: parts, otherwise }: Admission,
  ): Promise<void> {
    // A caller who may write all entities needs no further checks.
    if (meets(policies, principal, alternatives, unknown, [unknown])) return;
    const resource = await findResource(entities, urn, entityTypeOf(urn));
    if (!meets(policies, principal, alternatives, resource)) {
      if (await otherwise()) return;
      throw new CatalogError("forbidden", `you may not make this change to "${urn}"`, {
        hint: `It needs the privilege ${alternativesText(alternatives)}`,
      });
    }
    for (const part of await parts()) {
      const found = await findResource(entities, part, entityTypeOf(part));
      if (meets(policies, principal, alternatives, resource, [found])) continue;
      throw new CatalogError("forbidden", `you may not add or remove "${part}" at "${urn}"`, {
        hint: "Ask an administrator which tags your policies allow",
      });
    }
  }

  /** True for a caller who manages the children of the parent of a glossary term or node. */
  async function managesGlossary(
    authContext: AuthContext,
    urn: string,
    aspectName: string | undefined,
    proposals: readonly Proposal[],
  ): Promise<boolean> {
    const name = glossaryInfoOf(entityTypeOf(urn));
    if (name === undefined || !coversAspect(aspectName)) return false;
    // Safe lookup: the names are a closed list (glossary-children.ts).
    const found = (await entities.find(urn))?.[name];
    const stored = jsonObject(found) ? found : undefined;
    const own = proposals.filter((one) => one.aspectName === name && urnOf(one) === urn);
    // A move needs the privilege for both parents. Several changes of one request can hide a move.
    if (own.length > 1) return false;
    const infos = [...(stored ? [stored] : []), ...own.map((one) => valueAfter(one, stored))];
    return managesChildren(infos, authContext, entities);
  }

  /** The requirements of a mutation. They cover no tags, so constraints of policies do not apply. */
  async function admitMutation(
    { principal, policies }: AuthContext,
    required: readonly RequiredPrivileges[],
  ): Promise<void> {
    const holds = async (alternatives: PrivilegeAlternatives, text: string): Promise<boolean> => {
      const urn = withNamespace(text, namespace);
      const resource = await findResource(entities, urn, entityTypeOf(urn));
      return meets(policies, principal, alternatives, resource);
    };
    const allowed = async ({ privileges, urns }: RequiredPrivileges): Promise<boolean> => {
      const alternatives = privileges as PrivilegeAlternatives;
      if (meets(policies, principal, alternatives, urns.length > 0 ? unknown : undefined))
        return true;
      for (const urn of urns) if (!(await holds(alternatives, urn))) return false;
      return urns.length > 0;
    };
    for (const one of required) if (await allowed(one)) return;
    const shown = required.map(({ privileges, urns }) => {
      const on = urns.length > 0 ? ` on "${urns[0]}"` : "";
      const more = urns.length > 1 ? ` and ${urns.length - 1} more` : "";
      return `${alternativesText(privileges as PrivilegeAlternatives)}${on}${more}`;
    });
    throw new CatalogError("forbidden", "you may not make this change", {
      hint: `It needs the privilege ${shown.join(", or ")}`,
    });
  }

  /** Tags that the last of the proposals for an aspect adds or removes, after the ones before it. */
  async function changedTags(urn: string, aspectName: string, draft: Draft): Promise<string[]> {
    const placesOf = Object.hasOwn(tagged, aspectName) ? tagged[aspectName] : undefined;
    if (placesOf === undefined) return [];
    if (!draft.begun) {
      // Safe lookup: `tagged` is a closed list.
      const stored = (await entities.find(urn))?.[aspectName];
      draft.value = jsonObject(stored) ? stored : undefined;
      draft.begun = true;
    }
    let before = draft.value;
    for (const one of draft.left.splice(0)) {
      before = draft.value;
      draft.value = valueAfter(one, before);
    }
    const tagsIn = (value: Stored | undefined) => tagsOf(placesOf(value), namespace);
    const changed = [...tagsIn(before).symmetricDifference(tagsIn(draft.value))];
    return [...new Set(changed.map((one) => one.slice(one.lastIndexOf(SEPARATOR) + 1)))];
  }

  /**
   * The value after the proposal; undefined for a delete and for an invalid value, which the catalog
   * rejects. Throws when a patch does not apply to the stored value, because the tags are unknown then.
   */
  function valueAfter({ changeType, aspectName = "", aspect }: Proposal, before?: Stored) {
    const sent = parsedValue(aspect?.value);
    if (changeType === "PATCH") {
      const patch = parsePatch(sent, patchRules, aspectName);
      return applyPatch(before, patch, { time: 0, actor: systemActor });
    }
    return changeType !== "DELETE" && jsonObject(sent) ? sent : undefined;
  }

  const ingest: Catalog["ingest"] = async (proposals, caller) => {
    const authContext = await authContextOf(caller);
    if (authContext === undefined) return catalog.ingest(proposals, caller);
    const required = caller[REQUIRED];
    if (required !== undefined) {
      if (required !== "none") await admitMutation(authContext, required);
      return catalog.ingest(proposals, caller);
    }
    /** By entity and aspect. */
    const drafts = new Map<string, Draft>();
    for (const proposal of proposals) {
      const urn = urnOf(proposal);
      if (urn === undefined || coveredTypes.has(entityTypeOf(urn))) continue;
      const isThere = proposal.changeType === "CREATE" && (await entities.find(urn)) !== undefined;
      const alternatives = alternativesFor(proposal, entityTypeOf(urn), isThere);
      const { aspectName = "" } = proposal;
      const place = `${aspectName} ${urn}`;
      const draft = drafts.get(place) ?? { begun: false, value: undefined, left: [] };
      drafts.set(place, draft);
      draft.left.push(proposal);
      await admit(authContext, urn, alternatives, {
        changedTags: () => changedTags(urn, aspectName, draft),
        otherwise: () => managesGlossary(authContext, urn, aspectName, proposals),
      });
    }
    return catalog.ingest(proposals, caller);
  };

  async function admitOne(
    text: string,
    alternatives: (urn: string) => PrivilegeAlternatives,
    caller: Caller,
  ) {
    const authContext = await authContextOf(caller);
    const urn = withNamespace(text, namespace);
    if (authContext === undefined || coveredTypes.has(entityTypeOf(urn))) return;
    const required = caller[REQUIRED];
    if (required === "none") return;
    if (required !== undefined) return admitMutation(authContext, required);
    await admit(authContext, urn, alternatives(urn), {
      changedTags: async () => [],
      otherwise: () => managesGlossary(authContext, urn, undefined, []),
    });
  }

  return {
    ...catalog,
    ingest,
    async delete(request, caller) {
      await admitOne(request.urn, toDelete, caller);
      return catalog.delete(request, caller);
    },
    async deleteReferences(request, caller) {
      await admitOne(request.urn, toDelete, caller);
      return catalog.deleteReferences(request, caller);
    },
    async forgetRelationships(urn, caller) {
      await admitOne(urn, () => toForget, caller);
      return catalog.forgetRelationships(urn, caller);
    },
  };
}

interface Admission {
  /** The tags that the write adds or removes. */
  readonly changedTags: () => Promise<readonly string[]>;
  /** True if the caller may write without the demanded privileges. */
  readonly otherwise: () => Promise<boolean>;
}

/** Occurs in no urn and no path. */
const SEPARATOR = "\u0000";

/** An aspect with the request's proposals for it. */
interface Draft {
  /** True once `value` is loaded: the value after all proposals except those in `left`. */
  begun: boolean;
  value: Stored | undefined;
  readonly left: Proposal[];
}

/** Tags, and their location in the aspect. */
type Tagged = readonly [at: string, tags: unknown];

/** By aspect: its tags with their locations. */
const tagged: Readonly<Record<string, (value: Stored | undefined) => readonly Tagged[]>> = {
  globalTags: (value) => [["", value]],
  schemaMetadata: (value) => fieldsIn(value?.fields),
  editableSchemaMetadata: (value) => fieldsIn(value?.editableSchemaFieldInfo),
  businessAttributeInfo: (value) => [[String(value?.fieldPath), value?.globalTags]],
  inputFields: (value) =>
    objectsIn(value?.fields).flatMap(({ schemaFieldUrn, schemaField }) =>
      jsonObject(schemaField) ? [[String(schemaFieldUrn), schemaField.globalTags] as const] : [],
    ),
};

const fieldsIn = (fields: unknown): readonly Tagged[] =>
  objectsIn(fields).map(({ fieldPath, globalTags }) => [String(fieldPath), globalTags]);

/** Each tag with its location as prefix, in the form that the catalog writes. */
function tagsOf(all: readonly Tagged[], namespace: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [at, value] of all) {
    const tags = jsonObject(value) && Array.isArray(value.tags) ? value.tags : [];
    for (const one of tags) {
      const tag = String(jsonObject(one) ? one.tag : one);
      found.add(at + SEPARATOR + withNamespace(tag, namespace));
    }
  }
  return found;
}
