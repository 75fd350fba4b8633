/**
 * Authorizes reads: creates the catalog of each user. Restricted entities need a privilege. With read
 * authorization on, policies decide about all others. They are compiled once per user; writes of this
 * node to policies, users, groups or hierarchies invalidate the result, writes of other nodes take
 * effect after a TTL (ttl-cache.ts).
 */

import type {
  AccessContext,
  AccessFilter,
  ResolveFilter,
} from "../../catalog/access/access-filter.ts";
import type { Catalog, Proposal, Written } from "../../catalog/catalog.ts";
import type { EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { withNamespace } from "../../core/urn.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import type { AuthContext, Authority } from "../policies/authority.ts";
import { namesHierarchies, type PolicyExpansion } from "../policies/policy-expansion.ts";
import {
  accessFilterOf,
  type FilterFields,
  hidesEverything,
  policiesToRead,
} from "../policies/policy-filter.ts";
import { createStoredEntities } from "../stored-entities.ts";
import { createReparentingGuard, type ReparentingGuard } from "./reparenting-guard.ts";
import type { RestrictedNames } from "./restricted-entities.ts";
import { createTtlCache } from "./ttl-cache.ts";

interface ReadAuthority {
  /** The catalog of the user. From the system (undefined), only sealed aspects are hidden. */
  catalogFor(actor: string | undefined): Catalog;
}

interface Dependencies {
  readonly catalog: Catalog & {
    authorizedFor(context: AccessContext): Catalog;
    /** The newest state of an entity that is in memory. */
    peek(urn: string): EntityState | undefined;
  };
  /** Wraps a catalog in the authorization of writes. */
  readonly guard: (catalog: Catalog) => Catalog;
  readonly authority: Authority;
  readonly restricted: RestrictedNames;
  /** Hidden from everybody. */
  readonly sealed: RestrictedNames;
  /** Absent without read authorization. */
  readonly fields?: FilterFields | undefined;
  /** Expands hierarchies in policies. */
  readonly policyExpansion?: PolicyExpansion | undefined;
  /** Urn of the proposal's entity; undefined for a proposal without a valid one. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
}

const usersMax = 500;
/** TTL. With the TTL of hierarchies (policies/policy-expansion.ts) it is a second. */
const ttlMs = 750;
/** Entity types that decide about access, in lower case. */
const accessTypes = new Set(["datahubpolicy", "datahubrole", "corpuser", "corpgroup"]);
/** Entity types that form hierarchies, in lower case. */
const hierarchyTypes = new Set(["domain", "container", "glossarynode", "glossaryterm"]);
const decides = ({ entityType }: Proposal): boolean => accessTypes.has(entityType.toLowerCase());
const holdsOthers = ({ entityType }: Proposal): boolean =>
  hierarchyTypes.has(entityType.toLowerCase());
type Bearing = "decides" | "moves";

const nothingKnown: FilterFields = { ofCriteria: {}, memberTypes: [] };

export function createReadAuthority(dependencies: Dependencies): ReadAuthority {
  const { catalog, fields, policyExpansion, now } = dependencies;
  const cacheOptions = { now, ttlMs, sizeMax: usersMax };
  const filters = createTtlCache(compile, cacheOptions);
  const privilegeCache = createTtlCache(privilegeOf, cacheOptions);
  const moves = createReparentingGuard({
    ...dependencies,
    entities: createStoredEntities(catalog),
  });
  /** By user. */
  const catalogs = boundedCache<string, Catalog>(usersMax);
  /** Position of the last write of this node that may have changed a hierarchy. */
  let lastMove: Position = START;
  /** True once any user's policies name a hierarchy. */
  let hierarchical = false;

  async function compile(actor: string, before: Compiled | undefined): Promise<Compiled> {
    const authContext = await expanded(await dependencies.authority.authContext(actor));
    const text = JSON.stringify(authContext, (_, value) =>
      value instanceof Set ? numberOf(value) : value,
    );
    // An unchanged filter keeps its cached results.
    if (before?.text === text) return before;
    const inherits = authContext !== undefined && namesHierarchies(authContext.policies);
    return { text, inherits, accessFilter: filterIn(authContext, fields ?? nothingKnown) };
  }

  /** The policies that grant reads, with their hierarchies expanded. */
  async function expanded(authContext: AuthContext | undefined): Promise<AuthContext | undefined> {
    if (authContext === undefined || policyExpansion === undefined) return authContext;
    const policies = policiesToRead(authContext.policies, authContext.principal);
    if (!namesHierarchies(policies)) return { ...authContext, policies };
    hierarchical = true;
    // Searches must show earlier moves of this node.
    await catalog.reach("search", lastMove);
    return { ...authContext, policies: await policyExpansion.expand(policies) };
  }

  async function privilegeOf(key: string): Promise<boolean> {
    // Names contain no blanks; urns of users may.
    const end = key.lastIndexOf(" ");
    const [actor, name] = [key.slice(0, end), key.slice(end + 1)];
    const { authority, restricted } = dependencies;
    const about = restricted.entityTypes.has(name) ? { entityType: name } : undefined;
    return authority.allows(actor, restricted.alternativesFor(name), about);
  }

  function resolveFilter(actor: string): Promise<AccessFilter> | AccessFilter {
    const found = filters.get(actor);
    if (!(found instanceof Promise)) return found.accessFilter;
    const accessFilter = found.then((compiled) => compiled.accessFilter);
    // A caller that only tests for a cached filter does not await it, nor handle its error.
    accessFilter.catch(() => {});
    return accessFilter;
  }

  /** No guard for a user whose policies name no hierarchy. */
  function reparentingGuardOf(actor: string): ReparentingGuard {
    const inherits = async () => (await filters.get(actor)).inherits;
    return {
      admit: async (proposals, caller) =>
        (await inherits()) ? moves.admit(proposals, caller) : undefined,
      admitDelete: async (urn, aspectName, caller) =>
        (await inherits()) ? moves.admitDelete(urn, aspectName, caller) : undefined,
    };
  }

  function accessContextOf(actor: string): AccessContext {
    const { restricted } = dependencies;
    const may = async (name: string) => privilegeCache.get(`${actor} ${name}`);
    return {
      restricted: { ...restricted, may },
      resolveFilter: fields && (() => resolveFilter(actor)),
    };
  }

  const invalidateAll = (): void => {
    policyExpansion?.invalidate();
    filters.invalidate();
    privilegeCache.invalidate();
  };
  function onWritten(bearing: Bearing, position: Position | undefined): void {
    if (position !== undefined && position > lastMove) lastMove = position;
    if (bearing === "decides" || hierarchical) invalidateAll();
  }
  const restricted = (one: Catalog): Catalog => {
    const authorized = dependencies.guard(one);
    return { ...authorized, ...invalidatingWrites(authorized, onWritten) };
  };
  const nobody = { restricted: { ...dependencies.sealed, may: async () => false } };
  const whole = restricted(catalog.authorizedFor(nobody));

  return {
    catalogFor(actor) {
      if (actor === undefined || actor === dependencies.systemActor) return whole;
      let own = catalogs.get(actor);
      if (own === undefined) {
        const seen = catalog.authorizedFor(accessContextOf(actor));
        own = restricted(
          fields === undefined
            ? seen
            : {
                ...seen,
                ...visibleWrites(
                  seen,
                  () => resolveFilter(actor),
                  reparentingGuardOf(actor),
                  dependencies,
                ),
              },
        );
        catalogs.set(actor, own);
      }
      return own;
    },
  };
}

/** Identifies a set by number, for comparison. */
const numbers = new WeakMap<object, number>();
let numbered = 0;
function numberOf(set: object): number {
  const number = numbers.get(set) ?? numbered++;
  numbers.set(set, number);
  return number;
}

interface Compiled {
  readonly text: string | undefined;
  /** True when the policies name a hierarchy. */
  readonly inherits: boolean;
  readonly accessFilter: AccessFilter;
}

const filterIn = (authContext: AuthContext | undefined, fields: FilterFields): AccessFilter =>
  authContext === undefined
    ? hidesEverything
    : accessFilterOf(authContext.policies, authContext.principal, fields);

const NO_URN: ReadonlySet<string> = new Set(["malformed", "invalid", "not_found"]);

/**
 * Users cannot write or delete an entity that they may not see, because a new owner or a removed tag
 * could make it visible. A delete returns the same result as for a missing entity.
 */
function visibleWrites(
  seen: Catalog,
  resolveFilter: ResolveFilter,
  moves: ReparentingGuard,
  { catalog: whole, namespace, urnOf }: Dependencies,
): Pick<Catalog, "ingest" | "delete" | "deleteReferences" | "forgetRelationships"> {
  const all = { includeSoftDelete: true };

  /** True when all entities of the proposals are in memory and visible. */
  function areVisibleInMemory(proposals: readonly Proposal[]): boolean {
    const accessFilter = resolveFilter();
    if (accessFilter instanceof Promise) return false;
    return proposals.every((proposal) => {
      const urn = urnOf(proposal);
      const state = urn === undefined ? undefined : whole.peek(urn);
      if (state === undefined) return urn === undefined;
      return accessFilter.everything || accessFilter.isVisible(state);
    });
  }

  async function hiddenAmong(urns: readonly string[]): Promise<string | undefined> {
    try {
      const there = await whole.filterExisting(urns, all);
      if (there.length === 0) return undefined;
      const visible = new Set(await seen.filterExisting(there, all));
      return there.find((urn) => !visible.has(urn));
    } catch (error) {
      // The write rejects an invalid urn, and with it the whole request.
      if (error instanceof CatalogError && NO_URN.has(error.code)) return undefined;
      throw error;
    }
  }

  const ingestSeen: Catalog["ingest"] = async (proposals, caller) => {
    const urns = [...new Set(proposals.flatMap((proposal) => urnOf(proposal) ?? []))];
    const hidden = await hiddenAmong(urns);
    if (hidden === undefined) {
      if (proposals.some(holdsOthers)) await moves.admit(proposals, caller);
      return whole.ingest(proposals, caller);
    }
    throw new CatalogError("forbidden", `you may not write "${hidden}"`, {
      hint: "Writing an entity requires reading it: ask an administrator for View Entity Page",
    });
  };

  const ingest: Catalog["ingest"] = (proposals, caller) =>
    areVisibleInMemory(proposals) && !proposals.some(holdsOthers)
      ? whole.ingest(proposals, caller)
      : ingestSeen(proposals, caller);

  return {
    ingest,
    async delete(request, caller) {
      const urn = withNamespace(request.urn, namespace);
      if ((await hiddenAmong([request.urn])) === undefined) {
        await moves.admitDelete(urn, request.aspectName, caller);
        return whole.delete(request, caller);
      }
      const rows = request.aspectName === undefined ? { rows: 0 } : {};
      return { urn, ...rows, timeseriesRows: 0, position: undefined };
    },

    async deleteReferences(request, caller) {
      const hidden = await hiddenAmong([request.urn]);
      if (hidden !== undefined) return { total: 0, relatedAspects: [], position: undefined };
      return seen.deleteReferences(request, caller);
    },

    async forgetRelationships(urn, caller) {
      const hidden = await hiddenAmong([urn]);
      return hidden === undefined
        ? whole.forgetRelationships(urn, caller)
        : { position: undefined };
    },
  };
}

/** Writes that may change policies, users or hierarchies invalidate the caches. */
function invalidatingWrites(
  catalog: Catalog,
  wrote: (bearing: Bearing, position: Position | undefined) => void,
) {
  const { ingest, delete: remove, deleteReferences, rollbackRun } = catalog;

  function bearingOf(proposals: readonly Proposal[]): Bearing | undefined {
    if (proposals.some(decides)) return "decides";
    return proposals.some(holdsOthers) ? "moves" : undefined;
  }

  async function after<T extends Written>(writing: Promise<T>, bearing: Bearing): Promise<T> {
    let position: Position | undefined;
    try {
      const written = await writing;
      position = written.position;
      return written;
    } finally {
      // Also after a failure: the write may have reached the log.
      wrote(bearing, position);
    }
  }

  const writes: Pick<Catalog, Writes> = {
    ingest(proposals, caller) {
      const bearing = bearingOf(proposals);
      const writing = ingest(proposals, caller);
      return bearing === undefined ? writing : after(writing, bearing);
    },
    delete: (request, caller) => after(remove(request, caller), "decides"),
    deleteReferences: (request, caller) => after(deleteReferences(request, caller), "decides"),
    rollbackRun: (...asked) => after(rollbackRun(...asked), "decides"),
  };
  return writes;
}

type Writes = "ingest" | "delete" | "deleteReferences" | "rollbackRun";
