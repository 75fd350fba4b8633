/**
 * Loads the entities of one request: lookups of the same tick share one read, and each entity is read
 * once. A urn that cannot be read (of an unknown type) is a missing entity. Nested lists are bounded by
 * the total number of members and entities, because a short query can follow every path of the graph.
 */
import type { Catalog, FoundAspect, FoundEntity } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import {
  type AcquireSlot,
  createConcurrencyLimit,
  smallBytesMax,
} from "../lib/concurrency-limit.ts";
import { type JsonObject, jsonObject } from "../lib/json.ts";
import { slicesOf } from "../lib/lists.ts";

export interface LoadedEntity {
  readonly urn: string;
  readonly exists: boolean;
  /** The value of an aspect; undefined where it has none. */
  aspect(name: string): JsonObject | undefined;
  /** The fields of the key aspect, from the urn; empty when the urn is of an unknown type. */
  key(): JsonObject;
  /** All aspects with a value. */
  readonly found: FoundEntity | undefined;
}

export interface EntityLoader {
  load(urn: string): Promise<LoadedEntity>;
  /**
   * Runs `read` for a list of at most `membersMax` members, concurrently with other lists, so that views
   * can read them in one request. Throws `malformed` if the lists of the request have too many members;
   * later calls then read nothing.
   */
  list<T>(membersMax: number, read: () => Promise<T>, sizeOf: (found: T) => number): Promise<T>;
  /** A version of an aspect. Counts as one entity towards the limits, with its bytes. */
  version(urn: string, aspect: string, version: number): Promise<FoundAspect | undefined>;
  /** Drops all loaded entities, after a write. */
  clear(): void;
}

/** Maximum number of entities, versions and list members of one request. */
const loadedMax = 50_000;
/** Maximum size of the loaded values, which stay in memory until the response is sent. */
const loadedBytesMax = 128 * 1024 * 1024;
/** Maximum number of entities of one read. */
const entitiesPerReadMax = 1_000;
/** Maximum number of members of all lists that are read at the same time. */
const membersAtOnceMax = 500_000;
const versionsAtOnceMax = 8;

/** `acquireSlot`: waits until no other large request runs. */
export function createEntityLoader(
  catalog: Pick<Catalog, "findEntities" | "findAspect" | "getEntities">,
  acquireSlot: AcquireSlot,
): EntityLoader {
  let loads = new Map<string, Promise<LoadedEntity>>();
  let waiting: {
    urn: string;
    settle: (found: Found | undefined) => void;
    fail: (error: unknown) => void;
  }[] = [];
  let loaded = 0;
  let bytes = 0;
  /** A list takes as many slots as it may have members. */
  const withListSlot = createConcurrencyLimit(membersAtOnceMax);
  const withVersionSlot = createConcurrencyLimit(versionsAtOnceMax);

  function rejectTooMany(): void {
    if (loaded <= loadedMax) return;
    throw new CatalogError(
      "malformed",
      `the query reads more than ${loadedMax} entities, versions and list members`,
      {
        hint: "Request smaller pages, or fewer fields",
      },
    );
  }

  function rejectTooLarge(): void {
    if (bytes <= loadedBytesMax) return;
    throw new CatalogError(
      "too_large",
      `the query reads entities with more than ${loadedBytesMax} bytes in total`,
      { hint: "Request smaller pages" },
    );
  }

  async function readAll(batch: typeof waiting): Promise<void> {
    try {
      rejectTooLarge();
      const found = await catalog.findEntities(
        batch.map(({ urn }) => urn),
        undefined,
      );
      for (const { aspects } of found) for (const { value } of aspects) bytes += value.length;
      if (bytes > smallBytesMax) await acquireSlot(bytes);
      const keys = await keysOf(found.filter(({ exists }) => !exists));
      for (const [i, { settle }] of batch.entries()) {
        const entity = found[i];
        settle(entity && { entity, key: keys.get(entity.urn) });
      }
    } catch (error) {
      if (!(error instanceof CatalogError) || concernsAll.has(error.code)) {
        for (const { fail } of batch) fail(error);
        return;
      }
      // One urn is unreadable; the others are read one by one.
      if (batch.length === 1) batch[0]?.settle(undefined);
      else for (const one of batch) await readAll([one]);
    }
  }

  /** The keys of entities that do not exist, which their urns imply. */
  async function keysOf(missing: readonly FoundEntity[]): Promise<ReadonlyMap<string, unknown>> {
    if (missing.length === 0) return new Map();
    const urns = missing.map(({ urn }) => urn);
    const { results } = JSON.parse((await catalog.getEntities(urns, [])).json) as {
      results: Readonly<Record<string, { aspects: Readonly<Record<string, { value: unknown }>> }>>;
    };
    return new Map(
      Object.entries(results).map(([urn, { aspects }]) => [urn, Object.values(aspects)[0]?.value]),
    );
  }

  /** Reads the parts one after another, so that a part is not read after the bytes limit is exceeded. */
  async function flush(): Promise<void> {
    const all = waiting;
    waiting = [];
    for (const slice of slicesOf(all, entitiesPerReadMax)) {
      await readAll(slice);
    }
  }

  return {
    load(urn) {
      let loading = loads.get(urn);
      if (loading === undefined) {
        loaded++;
        rejectTooMany();
        if (waiting.length === 0) setImmediate(() => void flush());
        loading = new Promise<Found | undefined>((settle, fail) => {
          waiting.push({ urn, settle, fail });
        }).then((found) => loadedOf(urn, found));
        loads.set(urn, loading);
      }
      return loading;
    },
    list: (membersMax, read, sizeOf) =>
      withListSlot(async () => {
        rejectTooMany();
        const found = await read();
        loaded += sizeOf(found);
        rejectTooMany();
        return found;
      }, membersMax),
    version: (urn, aspect, version) =>
      withVersionSlot(async () => {
        loaded++;
        rejectTooMany();
        rejectTooLarge();
        const found = await catalog.findAspect(urn, aspect, version);
        bytes += found?.value.length ?? 0;
        if (bytes > smallBytesMax) await acquireSlot(bytes);
        return found;
      }),
    clear() {
      loads = new Map();
    },
  };
}

/** Errors of the request or the service, not of a single entity. */
const concernsAll: ReadonlySet<string> = new Set(["unavailable", "too_large"]);

/** `key`: the key of an entity that does not exist. */
interface Found {
  readonly entity: FoundEntity;
  readonly key: unknown;
}

function loadedOf(urn: string, { entity: found, key: implied }: Partial<Found> = {}): LoadedEntity {
  const texts = new Map(found?.aspects.map(({ name, value }) => [name, value]));
  const values = new Map<string, JsonObject>();
  return {
    urn: found?.urn ?? urn,
    exists: found?.exists ?? false,
    found,
    key() {
      const [key] = found?.exists === true ? found.aspects : [];
      const value: unknown = key === undefined ? implied : JSON.parse(key.value);
      return jsonObject(value) ? value : {};
    },
    aspect(name) {
      const text = texts.get(name);
      if (text === undefined) return undefined;
      let value = values.get(name);
      if (value === undefined) {
        const parsed: unknown = JSON.parse(text);
        value = jsonObject(parsed) ? parsed : {};
        values.set(name, value);
      }
      return value;
    },
  };
}
