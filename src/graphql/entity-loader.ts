/**
 * Entities that the fields of one request ask for: those that are asked for at the same time are read
 * together, each once. What cannot be read (a urn of no known type) is an entity that is not there.
 * Lists within lists are told as far as their members, and the entities, stay below a bound: a short
 * query asks for as many as there are paths through the graph.
 */
import type { Catalog, FoundAspect, FoundEntity } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { createInTurn } from "../core/in-turn.ts";
import { type JsonObject, jsonObject } from "../core/json.ts";

export interface LoadedEntity {
  readonly urn: string;
  readonly exists: boolean;
  /** The value of an aspect; undefined where it has none. */
  aspect(name: string): JsonObject | undefined;
  /** All that have a value. */
  readonly found: FoundEntity | undefined;
}

export interface EntityLoader {
  load(urn: string): Promise<LoadedEntity>;
  /**
   * Asks for a list, a few at a time. Throws `malformed` when the request has been told too many
   * members; no further list is asked for then.
   */
  list<T>(ask: () => Promise<T>, sizeOf: (found: T) => number): Promise<T>;
  /** A version of an aspect; counts as one entity towards the limits, with its bytes. */
  version(urn: string, aspect: string, version: number): Promise<FoundAspect | undefined>;
  /** What was loaded may have changed. */
  forget(): void;
}

/** Entities of one request, values of versions, and members of lists: a page of hits, and what they name. */
const loadedMax = 50_000;
/** Of their values, which are in memory until the request is answered. */
const loadedBytesMax = 128 * 1024 * 1024;
const togetherMax = 1_000;
const listsAtOnceMax = 8;

export function createEntityLoader(
  catalog: Pick<Catalog, "findEntities" | "findAspect">,
): EntityLoader {
  let known = new Map<string, Promise<LoadedEntity>>();
  let waiting: {
    urn: string;
    settle: (found: FoundEntity | undefined) => void;
    fail: (error: unknown) => void;
  }[] = [];
  let loaded = 0;
  let bytes = 0;
  const inTurn = createInTurn(listsAtOnceMax);

  function refuseTooMany(): void {
    if (loaded <= loadedMax) return;
    throw new CatalogError("malformed", `the query asks for more than ${loadedMax} entities`, {
      hint: "Ask for smaller pages, or for fewer fields",
    });
  }

  function refuseTooLarge(): void {
    if (bytes <= loadedBytesMax) return;
    throw new CatalogError(
      "too_large",
      `the query asks for entities of more than ${loadedBytesMax} bytes in all`,
      { hint: "Ask for smaller pages" },
    );
  }

  async function readAll(batch: typeof waiting): Promise<void> {
    try {
      refuseTooLarge();
      const found = await catalog.findEntities(
        batch.map(({ urn }) => urn),
        undefined,
      );
      for (const { aspects } of found) for (const { value } of aspects) bytes += value.length;
      for (const [i, { settle }] of batch.entries()) settle(found[i]);
    } catch (error) {
      if (!(error instanceof CatalogError) || concernsAll.has(error.code)) {
        for (const { fail } of batch) fail(error);
        return;
      }
      // One of them cannot be read; the others can.
      if (batch.length === 1) batch[0]?.settle(undefined);
      else for (const one of batch) await readAll([one]);
    }
  }

  /** One part after the other: how much the one before came to decides about the next. */
  async function flush(): Promise<void> {
    const all = waiting;
    waiting = [];
    for (let i = 0; i < all.length; i += togetherMax) await readAll(all.slice(i, i + togetherMax));
  }

  return {
    load(urn) {
      let loading = known.get(urn);
      if (loading === undefined) {
        loaded++;
        refuseTooMany();
        if (waiting.length === 0) setImmediate(() => void flush());
        loading = new Promise<FoundEntity | undefined>((settle, fail) => {
          waiting.push({ urn, settle, fail });
        }).then((found) => loadedOf(urn, found));
        known.set(urn, loading);
      }
      return loading;
    },
    list: (ask, sizeOf) =>
      inTurn(async () => {
        refuseTooMany();
        const found = await ask();
        loaded += sizeOf(found);
        refuseTooMany();
        return found;
      }),
    version: (urn, aspect, version) =>
      inTurn(async () => {
        loaded++;
        refuseTooMany();
        refuseTooLarge();
        const found = await catalog.findAspect(urn, aspect, version);
        bytes += found?.value.length ?? 0;
        return found;
      }),
    forget() {
      known = new Map();
    },
  };
}

/** What is wrong with the request or the service, and not with one of the entities. */
const concernsAll: ReadonlySet<string> = new Set(["unavailable", "too_large"]);

function loadedOf(urn: string, found: FoundEntity | undefined): LoadedEntity {
  const texts = new Map(found?.aspects.map(({ name, value }) => [name, value]));
  const values = new Map<string, JsonObject>();
  return {
    urn: found?.urn ?? urn,
    exists: found?.exists ?? false,
    found,
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
