/**
 * Who may see what, for each read: compiled from policies once for a user, and again as soon as
 * policies, users or groups are written here; of what other nodes write it knows within `knownMs`.
 */
import { LRUCache } from "lru-cache";
import type { Catalog, Proposal } from "../catalog/catalog.ts";
import type { Look, Sight } from "../catalog/sight.ts";
import { withNamespace } from "../core/urn.ts";
import type { Authority } from "./authority.ts";
import { type SightFields, seesNothing, sightOf } from "./sights.ts";

export interface ReadAuthority {
  /** The catalog as the user sees it; the system (undefined) sees all of it. */
  catalogFor(actor: string | undefined): Catalog;
}

interface Dependencies {
  /** What is seen through a look; writes of it are judged already. */
  readonly catalog: Catalog & { seenThrough(look: Look): Catalog };
  /** Writes go through it, where it is not the catalog itself. */
  readonly guarded: Catalog;
  readonly authority: Pick<Authority, "standing">;
  readonly fields: SightFields;
  readonly namespace: string;
  readonly systemActor: string;
  readonly now: () => number;
}

/** How long a sight is believed that nothing here has changed. */
export const knownMs = 1_000;
const usersMax = 500;
/** What decides about who sees what, beside the entities themselves. */
const DECIDES = /^(?:datahubpolicy|datahubrole|corpuser|corpgroup)$/i;

export function createReadAuthority(dependencies: Dependencies): ReadAuthority {
  const { catalog, authority, fields, now } = dependencies;
  const sights = new LRUCache<string, { readonly sight: Promise<Sight>; readonly until: number }>({
    max: usersMax,
  });
  const catalogs = new LRUCache<string, Catalog>({ max: usersMax });

  async function compile(actor: string): Promise<Sight> {
    const standing = await authority.standing(actor);
    if (standing === undefined) return seesNothing;
    return sightOf(standing.policies, standing.principal, fields);
  }

  function look(actor: string): Promise<Sight> {
    const known = sights.get(actor);
    if (known !== undefined && known.until > now()) return known.sight;
    const sight = compile(actor);
    sights.set(actor, { sight, until: now() + knownMs });
    sight.catch(() => sights.delete(actor));
    return sight;
  }

  const writes = forgettingWrites(dependencies.guarded, () => sights.clear());
  const whole = { ...dependencies.guarded, ...writes };

  return {
    catalogFor(actor) {
      if (actor === undefined || actor === dependencies.systemActor) return whole;
      let own = catalogs.get(actor);
      if (own === undefined) {
        const seen = catalog.seenThrough(() => look(actor));
        own = { ...seen, ...writes, ...seenDeletes(seen, whole, dependencies.namespace) };
        catalogs.set(actor, own);
      }
      return own;
    },
  };
}

/** Who may not see an entity deletes nothing of it, and is told of it as of one that is not there. */
function seenDeletes(
  seen: Catalog,
  whole: Catalog,
  namespace: string,
): Pick<Catalog, "delete" | "deleteReferences"> {
  const all = { includeSoftDelete: true };
  const hidden = async (urn: string): Promise<boolean> =>
    !(await seen.exists(urn, all)) && (await whole.exists(urn, all));

  return {
    async delete(request, caller) {
      if (!(await hidden(request.urn))) return whole.delete(request, caller);
      const rows = request.aspectName === undefined ? { rows: 0 } : {};
      const urn = withNamespace(request.urn, namespace);
      return { urn, ...rows, timeseriesRows: 0, position: undefined };
    },

    async deleteReferences(request, caller) {
      if (await hidden(request.urn)) return { total: 0, relatedAspects: [], position: undefined };
      const answer = await whole.deleteReferences(request, caller);
      const told = answer.relatedAspects;
      const urns = told.map(({ entity }) => entity);
      const visible = new Set(await seen.filterExisting(urns, all));
      const relatedAspects = told.filter(({ entity }) => visible.has(entity));
      return {
        ...answer,
        total: answer.total - told.length + relatedAspects.length,
        relatedAspects,
      };
    },
  };
}

/** Writes after which what was known of policies and users is asked again. */
function forgettingWrites(catalog: Catalog, forget: () => void) {
  const decides = (proposals: readonly Proposal[]): boolean =>
    proposals.some(({ entityType }) => DECIDES.test(entityType));
  const { ingest, ingestSnapshots, delete: remove, deleteReferences } = catalog;

  async function after<T>(write: Promise<T>, forgets: boolean): Promise<T> {
    try {
      return await write;
    } finally {
      // Also of a write that failed: it may have been kept.
      if (forgets) forget();
    }
  }

  const writes: Pick<Catalog, "ingest" | "ingestSnapshots" | "delete" | "deleteReferences"> = {
    ingest: (proposals, caller) => after(ingest(proposals, caller), decides(proposals)),
    ingestSnapshots: (snapshots, caller) => after(ingestSnapshots(snapshots, caller), true),
    delete: (request, caller) => after(remove(request, caller), true),
    deleteReferences: (request, caller) => after(deleteReferences(request, caller), true),
  };
  return writes;
}
