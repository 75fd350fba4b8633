/**
 * Reads entities with parsed aspects for access checks: users, policies, tokens. Always the newest
 * state, including writes that the views do not show yet.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { boundedCache } from "../lib/bounded-cache.ts";

/** Values of aspects by name. */
export type Stored = Readonly<Record<string, unknown>>;

export interface StoredEntities {
  find(urn: string): Promise<Stored | undefined>;
  /** All entities of a type, by urn. */
  list(entityType: string): Promise<ReadonlyMap<string, Stored>>;
}

/** Cached parsed texts; the catalog returns the same text while an entity is unchanged. */
const cachedMax = 2_000;
const pageMax = 1_000;

type Read = Pick<Catalog, "getEntity" | "getEntities" | "urnsAfter">;

export function createStoredEntities(catalog: Read): StoredEntities {
  const cache = boundedCache<string, { readonly json: string; readonly stored: Stored }>(cachedMax);

  function parsed(urn: string, json: string): Stored | undefined {
    const found = cache.get(urn);
    if (found?.json === json) return found.stored;
    const entity = JSON.parse(json) as EntityText;
    if (!stored(entity)) return undefined;
    const values = valuesOf(entity);
    cache.set(urn, { json, stored: values });
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
      for (let after: string | undefined = ""; after !== undefined; ) {
        const urns: readonly string[] = await catalog.urnsAfter(entityType, after, pageMax);
        if (urns.length > 0) await read(urns);
        after = urns.length < pageMax ? undefined : urns.at(-1);
      }
      return found;
    },
  };
}

interface EntityText {
  readonly aspects: Readonly<
    Record<string, { readonly value: unknown; readonly systemMetadata?: unknown }>
  >;
}

/** Only written aspects have system metadata: a missing entity has just the key from its urn. */
const stored = ({ aspects }: EntityText): boolean =>
  Object.values(aspects).some(({ systemMetadata }) => systemMetadata !== undefined);

const valuesOf = ({ aspects }: EntityText): Stored =>
  Object.fromEntries(Object.entries(aspects).map(([name, { value }]) => [name, value]));
