/**
 * The catalog as each user sees it. What is withheld is seen by those alone who manage it; and where
 * reads are authorised, policies say the rest: compiled once for a user, and again as soon as policies,
 * users, groups or domains are written here; of what other nodes write it knows within `knownMs`.
 */
import { LRUCache } from "lru-cache";
import type { Catalog, Proposal, SnapshotProposal } from "../catalog/catalog.ts";
import type { Eyes, Look, Sight } from "../catalog/sight.ts";
import type { EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { withNamespace } from "../core/urn.ts";
import type { Authority, Standing } from "./authority.ts";
import { type SightFields, seesNothing, sightOf } from "./sights.ts";
import type { WithheldNames } from "./withheld.ts";

export interface ReadAuthority {
  /** The catalog as the user sees it; the system (undefined) sees all of it. */
  catalogFor(actor: string | undefined): Catalog;
}

interface Dependencies {
  readonly catalog: Catalog & {
    seenThrough(eyes: Eyes): Catalog;
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
  /** The urn that a proposal is about; undefined where it says none that could be. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  /** A snapshot is its proposals. */
  readonly proposalsOf: (snapshots: readonly SnapshotProposal[]) => readonly Proposal[];
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
}

/** How long a sight is believed that nothing here has changed. */
const knownMs = 1_000;
const usersMax = 500;
/** What decides about who sees what, beside the entities themselves. */
const DECIDES = /^(?:datahubpolicy|datahubrole|corpuser|corpgroup|domain)$/i;

const nothingKnown: SightFields = { ofCriteria: {}, memberTypes: [] };

export function createReadAuthority(dependencies: Dependencies): ReadAuthority {
  const { catalog, fields, now } = dependencies;
  const sights = createKnown(compile, now);
  const clearances = createKnown(clearanceOf, now);
  const catalogs = new LRUCache<string, Catalog>({ max: usersMax });

  async function compile(actor: string, before: Compiled | undefined): Promise<Compiled> {
    const standing = await dependencies.authority.standing(actor);
    const text = JSON.stringify(standing);
    // The same sight goes on knowing what it has judged.
    if (before?.text === text) return before;
    return { text, sight: sightIn(standing, fields ?? nothingKnown) };
  }

  async function clearanceOf(key: string): Promise<boolean> {
    // Names have no blanks; users may.
    const end = key.lastIndexOf(" ");
    const [actor, name] = [key.slice(0, end), key.slice(end + 1)];
    const { authority, withheld } = dependencies;
    const about = withheld?.entityTypes.has(name) ? { entityType: name } : undefined;
    return authority.allows(actor, withheld?.demandFor(name) ?? [], about);
  }

  function look(actor: string): Promise<Sight> | Sight {
    const found = sights.get(actor);
    return found instanceof Promise ? found.then(({ sight }) => sight) : found.sight;
  }

  function eyesOf(actor: string): Eyes {
    const { withheld } = dependencies;
    const may = async (name: string) => clearances.get(`${actor} ${name}`);
    return {
      withheld: withheld && { ...withheld, may },
      look: fields && (() => look(actor)),
    };
  }

  const forget = (): void => {
    sights.forget();
    clearances.forget();
  };
  const guarded = (one: Catalog): Catalog => {
    const judged = dependencies.guard(one);
    return { ...judged, ...forgettingWrites(judged, forget) };
  };
  const whole = guarded(catalog);

  return {
    catalogFor(actor) {
      if (actor === undefined || actor === dependencies.systemActor) return whole;
      let own = catalogs.get(actor);
      if (own === undefined) {
        const seen = catalog.seenThrough(eyesOf(actor));
        own = guarded(
          fields === undefined
            ? seen
            : { ...seen, ...seenWrites(seen, () => look(actor), dependencies) },
        );
        catalogs.set(actor, own);
      }
      return own;
    },
  };
}

interface Compiled {
  readonly text: string | undefined;
  readonly sight: Sight;
}

const sightIn = (standing: Standing | undefined, fields: SightFields): Sight =>
  standing === undefined ? seesNothing : sightOf(standing.policies, standing.principal, fields);

/** What is found out for a key, believed for `knownMs`; at once while it is known. */
function createKnown<T>(
  find: (key: string, before: T | undefined) => Promise<T>,
  now: () => number,
) {
  interface Entry {
    readonly until: number;
    readonly finding: Promise<T>;
    found: T | undefined;
    known: boolean;
  }
  const entries = new LRUCache<string, Entry>({ max: usersMax });
  let edition = 0;

  return {
    get(key: string): T | Promise<T> {
      const before = entries.get(key);
      if (before !== undefined && before.until > now()) {
        return before.known ? (before.found as T) : before.finding;
      }
      const begun = edition;
      const finding = find(key, before?.found);
      const entry: Entry = { until: now() + knownMs, finding, found: undefined, known: false };
      entries.set(key, entry);
      finding.then(
        (found) => {
          entry.found = found;
          entry.known = edition === begun;
        },
        () => entries.delete(key),
      );
      return finding;
    },
    forget() {
      edition++;
      entries.clear();
    },
  };
}

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
  look: Look,
  { catalog: whole, namespace, urnOf, proposalsOf }: Dependencies,
): Pick<Catalog, (typeof seenWriting)[number]> {
  const all = { includeSoftDelete: true };

  /** Whether all are in memory, and are seen. */
  function seenNow(urns: readonly string[]): boolean {
    const sight = look();
    if (sight instanceof Promise) return false;
    return urns.every((urn) => {
      const state = whole.peek(urn);
      return state !== undefined && (sight.everything || sight.sees(state));
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

  const ingest: Catalog["ingest"] = async (proposals, caller) => {
    const urns = [...new Set(proposals.flatMap((proposal) => urnOf(proposal) ?? []))];
    const hidden = seenNow(urns) ? undefined : await hiddenAmong(urns);
    if (hidden === undefined) return whole.ingest(proposals, caller);
    throw new CatalogError("forbidden", `"${hidden}" is not yours to write`, {
      hint: "Who may not see an entity may not write it: ask an administrator for View Entity Page",
    });
  };

  return {
    ingest,
    ingestSnapshots: async (snapshots, caller) => ingest(proposalsOf(snapshots), caller),

    async delete(request, caller) {
      if ((await hiddenAmong([request.urn])) === undefined) return whole.delete(request, caller);
      const rows = request.aspectName === undefined ? { rows: 0 } : {};
      const urn = withNamespace(request.urn, namespace);
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

/** Writes after which what was known of policies and users is asked again. */
function forgettingWrites(catalog: Catalog, forget: () => void) {
  const decides = (proposals: readonly Proposal[]): boolean =>
    proposals.some(({ entityType }) => DECIDES.test(entityType));
  const { ingest, ingestSnapshots, delete: remove, deleteReferences, rollbackRun } = catalog;

  // Also of a write that failed: it may have been kept.
  const after = <T>(write: Promise<T>, forgets: boolean): Promise<T> =>
    forgets ? write.finally(forget) : write;

  const writes: Pick<Catalog, Writes> = {
    ingest: (proposals, caller) => after(ingest(proposals, caller), decides(proposals)),
    ingestSnapshots: (snapshots, caller) => after(ingestSnapshots(snapshots, caller), true),
    delete: (request, caller) => after(remove(request, caller), true),
    deleteReferences: (request, caller) => after(deleteReferences(request, caller), true),
    rollbackRun: (...asked) => after(rollbackRun(...asked), true),
  };
  return writes;
}

type Writes = "ingest" | "ingestSnapshots" | "delete" | "deleteReferences" | "rollbackRun";
