/**
 * The catalog as each user sees it. What is withheld is seen by those alone who manage it; and where
 * reads are authorised, policies say the rest: compiled once for a user, and again as soon as policies,
 * users, groups or what others lie in are written here; of what other nodes write it knows after a
 * while (known.ts).
 */

import type { AccessContext, AccessFilter, ResolveFilter } from "../catalog/access-filter.ts";
import type { Catalog, Proposal, SnapshotProposal, Written } from "../catalog/catalog.ts";
import type { EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { withNamespace } from "../core/urn.ts";
import type { Authority, Grounds } from "./authority.ts";
import { type Lowering, namesHierarchies } from "./hierarchies.ts";
import { createKnown } from "./known.ts";
import { createMoves, type Moves } from "./moves.ts";
import { policiesToRead, type SightFields, seesNothing, sightOf } from "./sights.ts";
import { createStoredEntities } from "./stored-entities.ts";
import type { WithheldNames } from "./withheld.ts";

interface ReadAuthority {
  /** The catalog as the user sees it; the system (undefined) sees all of it. */
  catalogFor(actor: string | undefined): Catalog;
}

interface Dependencies {
  readonly catalog: Catalog & {
    authorizedFor(eyes: AccessContext): Catalog;
    /** An entity that is in memory with its newest state. */
    peek(urn: string): EntityState | undefined;
  };
  /** Puts before a catalog what judges writes. */
  readonly guard: (catalog: Catalog) => Catalog;
  readonly authority: Authority;
  /** Absent: nothing is withheld. */
  readonly withheld?: WithheldNames | undefined;
  /** Absent: policies do not say who reads what. */
  readonly fields?: SightFields | undefined;
  /** Finds what lies below what policies name. */
  readonly lowering?: Lowering | undefined;
  /** The urn that a proposal is about; undefined where it says none that could be. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  /** A snapshot is its proposals. */
  readonly proposalsOf: (snapshots: readonly SnapshotProposal[]) => readonly Proposal[];
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
}

const usersMax = 500;
/** With the time for which what lies in what is believed (hierarchies.ts): a second. */
const believedMs = 750;
/** What decides about who sees what, beside the entities themselves. */
const deciding = new Set(["datahubpolicy", "datahubrole", "corpuser", "corpgroup"]);
/** What others lie in. */
const holding = new Set(["domain", "container", "glossarynode", "glossaryterm"]);
const decides = ({ entityType }: Proposal): boolean => deciding.has(entityType.toLowerCase());
const holdsOthers = ({ entityType }: Proposal): boolean => holding.has(entityType.toLowerCase());
type Bearing = "decides" | "moves";

const nothingKnown: SightFields = { ofCriteria: {}, memberTypes: [] };

export function createReadAuthority(dependencies: Dependencies): ReadAuthority {
  const { catalog, fields, lowering, now } = dependencies;
  const believed = { now, believedMs, sizeMax: usersMax };
  const sights = createKnown(compile, believed);
  const clearances = createKnown(clearanceOf, believed);
  const moves = createMoves({ ...dependencies, entities: createStoredEntities(catalog) });
  /** Asked for with each request; the oldest go first. */
  const catalogs = new Map<string, Catalog>();
  /** The last write here that may have moved something in a hierarchy. */
  let moved: Position = START;
  /** Whether any user's policies have asked for what lies in something. */
  let hierarchical = false;

  async function compile(actor: string, before: Compiled | undefined): Promise<Compiled> {
    const grounds = await lowered(await dependencies.authority.grounds(actor));
    const text = JSON.stringify(grounds, (_, value) =>
      value instanceof Set ? numberOf(value) : value,
    );
    // The same sight goes on knowing what it has judged.
    if (before?.text === text) return before;
    const inherits = grounds !== undefined && namesHierarchies(grounds.policies);
    return { text, inherits, sight: sightIn(grounds, fields ?? nothingKnown) };
  }

  /** With what lies below what the policies name that may show anything. */
  async function lowered(grounds: Grounds | undefined): Promise<Grounds | undefined> {
    if (grounds === undefined || lowering === undefined) return grounds;
    const policies = policiesToRead(grounds.policies, grounds.principal);
    if (!namesHierarchies(policies)) return { ...grounds, policies };
    hierarchical = true;
    // Searches have to know what was moved here before.
    await catalog.reach("search", moved);
    return { ...grounds, policies: await lowering.lower(policies) };
  }

  async function clearanceOf(key: string): Promise<boolean> {
    // Names have no blanks; users may.
    const end = key.lastIndexOf(" ");
    const [actor, name] = [key.slice(0, end), key.slice(end + 1)];
    const { authority, withheld } = dependencies;
    const about = withheld?.entityTypes.has(name) ? { entityType: name } : undefined;
    return authority.allows(actor, withheld?.demandFor(name) ?? [], about);
  }

  function look(actor: string): Promise<AccessFilter> | AccessFilter {
    const found = sights.get(actor);
    if (!(found instanceof Promise)) return found.sight;
    const sight = found.then((compiled) => compiled.sight);
    // Who only asks whether it is known by now does not wait for it, nor for why it is not.
    sight.catch(() => {});
    return sight;
  }

  /** Nothing is asked of who is shown nothing by what it lies in. */
  function movesOf(actor: string): Moves {
    const inherits = async () => (await sights.get(actor)).inherits;
    return {
      admit: async (proposals, caller) =>
        (await inherits()) ? moves.admit(proposals, caller) : undefined,
      admitDelete: async (urn, aspectName, caller) =>
        (await inherits()) ? moves.admitDelete(urn, aspectName, caller) : undefined,
    };
  }

  function eyesOf(actor: string): AccessContext {
    const { withheld } = dependencies;
    const may = async (name: string) => clearances.get(`${actor} ${name}`);
    return {
      restricted: withheld && { ...withheld, may },
      look: fields && (() => look(actor)),
    };
  }

  const forget = (): void => {
    lowering?.forget();
    sights.forget();
    clearances.forget();
  };
  function wrote(bearing: Bearing, position: Position | undefined): void {
    if (position !== undefined && position > moved) moved = position;
    if (bearing === "decides" || hierarchical) forget();
  }
  const guarded = (one: Catalog): Catalog => {
    const judged = dependencies.guard(one);
    return { ...judged, ...forgettingWrites(judged, wrote) };
  };
  const whole = guarded(catalog);

  return {
    catalogFor(actor) {
      if (actor === undefined || actor === dependencies.systemActor) return whole;
      let own = catalogs.get(actor);
      if (own === undefined) {
        const seen = catalog.authorizedFor(eyesOf(actor));
        own = guarded(
          fields === undefined
            ? seen
            : { ...seen, ...seenWrites(seen, () => look(actor), movesOf(actor), dependencies) },
        );
        for (const oldest of catalogs.keys()) {
          if (catalogs.size < usersMax) break;
          catalogs.delete(oldest);
        }
        catalogs.set(actor, own);
      }
      return own;
    },
  };
}

/** Of a set: others have others. */
const numbers = new WeakMap<object, number>();
let numbered = 0;
function numberOf(set: object): number {
  const number = numbers.get(set) ?? numbered++;
  numbers.set(set, number);
  return number;
}

interface Compiled {
  readonly text: string | undefined;
  /** Whether it shows what lies in something. */
  readonly inherits: boolean;
  readonly sight: AccessFilter;
}

const sightIn = (grounds: Grounds | undefined, fields: SightFields): AccessFilter =>
  grounds === undefined ? seesNothing : sightOf(grounds.policies, grounds.principal, fields);

const seenWriting = [
  ...(["ingest", "ingestSnapshots", "delete", "deleteReferences"] as const),
  "forgetRelationships",
] as const;
const NO_URN: ReadonlySet<string> = new Set(["malformed", "invalid", "not_found"]);

/**
 * Who may not see an entity writes and deletes nothing of it: to be its owner, or to take a tag from
 * it, might show it. Of a delete it is told as of one that is not there.
 */
function seenWrites(
  seen: Catalog,
  look: ResolveFilter,
  moves: Moves,
  { catalog: whole, namespace, urnOf, proposalsOf }: Dependencies,
): Pick<Catalog, (typeof seenWriting)[number]> {
  const all = { includeSoftDelete: true };

  /** Whether all that they are about is in memory, and is seen. */
  function seenNow(proposals: readonly Proposal[]): boolean {
    const sight = look();
    if (sight instanceof Promise) return false;
    return proposals.every((proposal) => {
      const urn = urnOf(proposal);
      const state = urn === undefined ? undefined : whole.peek(urn);
      if (state === undefined) return urn === undefined;
      return sight.everything || sight.sees(state);
    });
  }

  async function hiddenAmong(urns: readonly string[]): Promise<string | undefined> {
    try {
      const there = await whole.filterExisting(urns, all);
      if (there.length === 0) return undefined;
      const visible = new Set(await seen.filterExisting(there, all));
      return there.find((urn) => !visible.has(urn));
    } catch (error) {
      // One that is no urn of this catalog is refused by what follows, and the rest with it.
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
    throw new CatalogError("forbidden", `"${hidden}" is not yours to write`, {
      hint: "Who may not see an entity may not write it: ask an administrator for View Entity Page",
    });
  };

  const ingest: Catalog["ingest"] = (proposals, caller) =>
    seenNow(proposals) && !proposals.some(holdsOthers)
      ? whole.ingest(proposals, caller)
      : ingestSeen(proposals, caller);

  return {
    ingest,
    ingestSnapshots: async (snapshots, caller) => ingest(proposalsOf(snapshots), caller),

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

/** Writes after which what was known of policies, users and what lies in what is asked again. */
function forgettingWrites(
  catalog: Catalog,
  wrote: (bearing: Bearing, position: Position | undefined) => void,
) {
  const { ingest, ingestSnapshots, delete: remove, deleteReferences, rollbackRun } = catalog;

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
      // Also of a write that failed: it may have been kept.
      wrote(bearing, position);
    }
  }

  const writes: Pick<Catalog, Writes> = {
    ingest(proposals, caller) {
      const bearing = bearingOf(proposals);
      const writing = ingest(proposals, caller);
      return bearing === undefined ? writing : after(writing, bearing);
    },
    ingestSnapshots: (snapshots, caller) => after(ingestSnapshots(snapshots, caller), "decides"),
    delete: (request, caller) => after(remove(request, caller), "decides"),
    deleteReferences: (request, caller) => after(deleteReferences(request, caller), "decides"),
    rollbackRun: (...asked) => after(rollbackRun(...asked), "decides"),
  };
  return writes;
}

type Writes = "ingest" | "ingestSnapshots" | "delete" | "deleteReferences" | "rollbackRun";
