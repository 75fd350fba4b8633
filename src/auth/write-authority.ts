/**
 * Write authorization by policies: Edit Entity to write aspects (or the privilege of the aspect, or the
 * one that manages the type), Create Entity to create an entity, Delete Entity to delete it. Constraints
 * of policies limit the tags that may be added and removed. Access control has its own rules
 * (guarded-catalog.ts).
 *
 * The check comes before validation; constraints compare with the stored tags.
 */
import type { Caller, Catalog, Proposal, SnapshotProposal } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { jsonObject, parsedValue } from "../core/json.ts";
import { applyPatch, type PatchRules, parsePatch } from "../core/patch.ts";
import { entityTypeOf, withNamespace } from "../core/urn.ts";
import type { Authority, Grounds } from "./authority.ts";
import { meets, type Resource } from "./policy.ts";
import { findResource } from "./principals.ts";
import { type Demand, type Privilege, shownDemand } from "./privileges.ts";
import type { Stored, StoredEntities } from "./stored-entities.ts";

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
};

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
};

const ofKey = <T>(table: Readonly<Record<string, T>>, key: string): readonly T[] =>
  Object.hasOwn(table, key) ? [table[key] as T] : [];

/** Any of these, each alone. */
const any = (...privileges: readonly Privilege[]): Demand => privileges.map((one) => [one]);

/** `isThere`: the entity is; an aspect that it has not is a part of it then like any other. */
function demandFor(
  { changeType, aspectName = "" }: Proposal,
  entityType: string,
  isThere: boolean,
): Demand {
  const managing = ofKey(managers, entityType);
  if (changeType === "DELETE") return any("DELETE_ENTITY", ...managing);
  if (changeType === "CREATE_ENTITY" || (changeType === "CREATE" && !isThere)) {
    return any("CREATE_ENTITY", "EDIT_ENTITY", ...managing);
  }
  return any("EDIT_ENTITY", ...ofKey(aspectPrivileges, aspectName), ...managing);
}

const toDelete = (urn: string): Demand =>
  any("DELETE_ENTITY", ...ofKey(managers, entityTypeOf(urn)));
const toForget: Demand = any("EDIT_ENTITY", "EDIT_LINEAGE", "DELETE_ENTITY");

/** Of what nothing is known only policies without criteria, or without constraints, say anything. */
const unknown: Resource = { owners: [], fields: {} };

interface Dependencies {
  readonly authority: Pick<Authority, "grounds">;
  readonly entities: Pick<StoredEntities, "find">;
  readonly patchRules: PatchRules;
  /** The urn that a proposal is about; undefined where it says none that could be. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  /** A snapshot is its proposals. */
  readonly proposalsOf: (snapshots: readonly SnapshotProposal[]) => readonly Proposal[];
  /** Entity types that have rules of their own. */
  readonly ruled: ReadonlySet<string>;
  readonly namespace: string;
  readonly systemActor: string;
}

export function authorizeWrites(catalog: Catalog, dependencies: Dependencies): Catalog {
  const { authority, entities, patchRules, urnOf, proposalsOf, ruled } = dependencies;
  const { namespace, systemActor } = dependencies;

  /** Undefined: who asks may write everything. */
  async function groundsOf({ actor }: Caller): Promise<Grounds | undefined> {
    if (actor === undefined || actor === systemActor) return undefined;
    const nobody = { principal: { urn: actor, groups: [], roles: [] }, policies: [] };
    return (await authority.grounds(actor)) ?? nobody;
  }

  async function admit(
    { principal, policies }: Grounds,
    urn: string,
    demand: Demand,
    parts: () => Promise<readonly string[]>,
  ): Promise<void> {
    // Whoever may write everything is asked nothing more.
    if (meets(policies, principal, demand, unknown, [unknown])) return;
    const resource = await findResource(entities, urn, entityTypeOf(urn));
    if (!meets(policies, principal, demand, resource)) {
      throw new CatalogError("forbidden", `"${urn}" is not yours to write so`, {
        hint: `It needs the privilege ${shownDemand(demand)}`,
      });
    }
    for (const part of await parts()) {
      const found = await findResource(entities, part, entityTypeOf(part));
      if (meets(policies, principal, demand, resource, [found])) continue;
      throw new CatalogError("forbidden", `"${part}" is not yours to add or remove at "${urn}"`, {
        hint: "Ask an administrator which tags your policies let come and go",
      });
    }
  }

  /** Tags that come or go by the last of the proposals about an aspect, after those before it. */
  async function changedTags(urn: string, aspectName: string, told: Told): Promise<string[]> {
    const placesOf = Object.hasOwn(tagged, aspectName) ? tagged[aspectName] : undefined;
    if (placesOf === undefined) return [];
    if (!told.begun) {
      // Safe lookup: `tagged` is a closed list.
      const stored = (await entities.find(urn))?.[aspectName];
      told.value = jsonObject(stored) ? stored : undefined;
      told.begun = true;
    }
    let before = told.value;
    for (const one of told.left.splice(0)) {
      before = told.value;
      told.value = toldBy(one, before);
    }
    const tagsIn = (value: Stored | undefined) => tagsOf(placesOf(value), namespace);
    const changed = [...tagsIn(before).symmetricDifference(tagsIn(told.value))];
    return [...new Set(changed.map((one) => one.slice(one.lastIndexOf(SEPARATOR) + 1)))];
  }

  /**
   * Undefined for a delete, and for what the catalog refuses. Throws where a patch does not go with what
   * there is now: what there will be when it is written might be another.
   */
  function toldBy({ changeType, aspectName = "", aspect }: Proposal, before?: Stored) {
    const told = parsedValue(aspect?.value);
    if (changeType === "PATCH") {
      const patch = parsePatch(told, patchRules, aspectName);
      return applyPatch(before, patch, { time: 0, actor: systemActor });
    }
    return changeType !== "DELETE" && jsonObject(told) ? told : undefined;
  }

  const ingest: Catalog["ingest"] = async (proposals, caller) => {
    const grounds = await groundsOf(caller);
    if (grounds === undefined) return catalog.ingest(proposals, caller);
    /** By entity and aspect, so far. */
    const asked = new Map<string, Told>();
    for (const proposal of proposals) {
      const urn = urnOf(proposal);
      if (urn === undefined || ruled.has(entityTypeOf(urn))) continue;
      const isThere = proposal.changeType === "CREATE" && (await entities.find(urn)) !== undefined;
      const demand = demandFor(proposal, entityTypeOf(urn), isThere);
      const { aspectName = "" } = proposal;
      const place = `${aspectName} ${urn}`;
      const told = asked.get(place) ?? { begun: false, value: undefined, left: [] };
      asked.set(place, told);
      told.left.push(proposal);
      await admit(grounds, urn, demand, () => changedTags(urn, aspectName, told));
    }
    return catalog.ingest(proposals, caller);
  };

  async function admitOne(text: string, demand: (urn: string) => Demand, caller: Caller) {
    const grounds = await groundsOf(caller);
    const urn = withNamespace(text, namespace);
    if (grounds === undefined || ruled.has(entityTypeOf(urn))) return;
    await admit(grounds, urn, demand(urn), async () => []);
  }

  return {
    ...catalog,
    ingest,
    ingestSnapshots: async (snapshots, caller) => ingest(proposalsOf(snapshots), caller),
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

/** In no urn and no path. */
const SEPARATOR = "\u0000";

/** What a request tells of an aspect. */
interface Told {
  /** The value is known, as it is after all but what is left. */
  begun: boolean;
  value: Stored | undefined;
  readonly left: Proposal[];
}

/** What tags hang at, and where that is. */
type Tagged = readonly [at: string, tags: unknown];

/** By aspect: all that has tags in it. */
const tagged: Readonly<Record<string, (value: Stored | undefined) => readonly Tagged[]>> = {
  globalTags: (value) => [["", value]],
  schemaMetadata: (value) => fieldsIn(value?.fields),
  editableSchemaMetadata: (value) => fieldsIn(value?.editableSchemaFieldInfo),
  businessAttributeInfo: (value) => [[String(value?.fieldPath), value?.globalTags]],
  inputFields: (value) =>
    membersOf(value?.fields).flatMap(({ schemaFieldUrn, schemaField }) =>
      jsonObject(schemaField) ? [[String(schemaFieldUrn), schemaField.globalTags] as const] : [],
    ),
};

const fieldsIn = (fields: unknown): readonly Tagged[] =>
  membersOf(fields).map(({ fieldPath, globalTags }) => [String(fieldPath), globalTags]);

const membersOf = (value: unknown): readonly Stored[] =>
  Array.isArray(value) ? value.filter(jsonObject) : [];

/** Each tag after where it hangs, as the catalog writes it. */
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
