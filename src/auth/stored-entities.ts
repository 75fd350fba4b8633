/**
 * What the catalog holds of an entity, parsed, for judging: a user's state, a policy, a token. Always
 * the newest: what was written a moment ago counts.
 */
import { LRUCache } from "lru-cache";
import type { Catalog } from "../catalog/catalog.ts";

/** Values of aspects by name, or undefined for an entity that is not there. */
export type Stored = Readonly<Record<string, unknown>>;

export interface StoredEntities {
  find(urn: string): Promise<Stored | undefined>;
  /** All entities of a type, by urn. */
  list(entityType: string): Promise<ReadonlyMap<string, Stored>>;
}

/** The catalog gives the same text as long as an entity is the same: it is parsed once. */
const rememberedMax = 2_000;
const pageMax = 1_000;

type Read = Pick<Catalog, "getEntity" | "getEntities" | "listUrns">;

export function createStoredEntities(catalog: Read): StoredEntities {
  const remembered = new LRUCache<string, { readonly json: string; readonly stored: Stored }>({
    max: rememberedMax,
  });

  function parsed(urn: string, json: string): Stored | undefined {
    const found = remembered.get(urn);
    if (found?.json === json) return found.stored;
    const entity = JSON.parse(json) as EntityText;
    if (!stored(entity)) return undefined;
    const values = valuesOf(entity);
    remembered.set(urn, { json, stored: values });
    return values;
  }

  return {
    async find(urn) {
      return parsed(urn, (await catalog.getEntity(urn, undefined)).json);
    },

    async list(entityType) {
      const found = new Map<string, Stored>();
      async function read(urns: readonly string[]): Promise<void> {
        const { json } = await catalog.getEntities(urns, undefined);
        const { results } = JSON.parse(json) as { results: Record<string, EntityText> };
        for (const [urn, entity] of Object.entries(results)) {
          if (stored(entity)) found.set(urn, valuesOf(entity));
        }
      }
      let start = 0;
      let total = 0;
      do {
        const page = await catalog.listUrns(entityType, { start, count: pageMax });
        if (page.entities.length > 0) await read(page.entities);
        start += page.entities.length;
        total = page.entities.length === 0 ? 0 : page.total;
      } while (start < total);
      return found;
    },
  };
}

interface EntityText {
  readonly aspects: Readonly<
    Record<string, { readonly value: unknown; readonly systemMetadata?: unknown }>
  >;
}

/**
 * What is not there is shown with a key that follows from its urn, and nothing else; only what was
 * written has system metadata.
 */
const stored = ({ aspects }: EntityText): boolean =>
  Object.values(aspects).some(({ systemMetadata }) => systemMetadata !== undefined);

const valuesOf = ({ aspects }: EntityText): Stored =>
  Object.fromEntries(Object.entries(aspects).map(([name, { value }]) => [name, value]));
