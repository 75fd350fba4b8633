/**
 * Reads entities as records with the texts of their values, for APIs with their own formats. An
 * entity that does not exist is returned with `exists: false`, without the aspect that its urn
 * implies. `too_large` if the response is too large.
 */
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import type { Position } from "../../core/position.ts";
import { type ConcurrencyLimit, memorySlotOf, smallBytesMax } from "../../lib/concurrency-limit.ts";
import { appendAll, slicesOf } from "../../lib/lists.ts";
import type { Model } from "../../model/model.ts";
import type { AspectReader } from "../../views/aspects/aspect-table.ts";
import type { Address, Addresses } from "../address.ts";
import type { Catalog, FoundAspect, FoundEntity } from "../catalog.ts";
import { createPause, inTimeSlices } from "../time-slices.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import { readMax, responseBytesMax, tooLarge } from "./response-limit.ts";
import { noSuchAspect } from "./unknown-aspect.ts";

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly states: Pick<EntityCache, "read" | "positionOf">;
  readonly reader: Pick<AspectReader, "findValue">;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
  /** Limits the number of concurrent large reads. */
  readonly withLargeSlot: ConcurrencyLimit;
}

export function createFinds(
  dependencies: Dependencies,
): Pick<Catalog, "findEntities" | "findAspect"> {
  const { model, addresses, states, reader, reached, withLargeSlot } = dependencies;

  return {
    async findEntities(texts, names) {
      // One for all pages: a page alone takes less than a slice.
      const pause = createPause();
      const known = await inTimeSlices(texts, (text) => addresses.readable(text), pause);
      const wanted = names && new Set(names);
      const entities: FoundEntity[] = [];
      let bytes = 0;
      const large = memorySlotOf(withLargeSlot);
      try {
        for (const page of slicesOf(known, readMax)) {
          const found = await states.read(page.map(({ urn }) => urn));
          const entityAt = (address: Address, i: number) => entityOf(address, found[i], wanted);
          const made = await inTimeSlices(page, entityAt, pause);
          for (const { aspects } of made) for (const { value } of aspects) bytes += value.length;
          appendAll(entities, made);
          if (bytes > responseBytesMax && known.length > 1) throw tooLarge(known.length);
          if (bytes > smallBytesMax) await large.acquire(bytes);
        }
        return entities;
      } finally {
        large.release();
      }
    },

    async findAspect(text, name, version): Promise<FoundAspect | undefined> {
      const { urn, entity } = addresses.readable(text);
      const aspect = model.findAspectOf(entity, name);
      if (aspect === undefined) throw noSuchAspect(entity, name);
      const [state] = await states.read([urn]);
      const latest = state && currentAspect(state, name);
      const wanted = version > 0 ? version : (latest?.version ?? 0) + version;
      if (latest?.version === wanted || aspect.timeseries) return latest;
      if (wanted <= 0) return undefined;
      await reached(states.positionOf(urn));
      const stored = await reader.findValue(urn, name, wanted);
      return stored && { ...stored, name, system: JSON.parse(stored.system) };
    },
  };
}

function entityOf(
  { urn, entity }: Address,
  state: EntityState | undefined,
  wanted: ReadonlySet<string> | undefined,
): FoundEntity {
  const aspects = [entity.keyAspect, ...entity.aspects].flatMap((name) => {
    if (wanted !== undefined && !wanted.has(name)) return [];
    return (state && currentAspect(state, name)) ?? [];
  });
  const exists = state !== undefined && currentAspect(state, entity.keyAspect) !== undefined;
  return { urn, entityType: entity.name, exists, aspects };
}
