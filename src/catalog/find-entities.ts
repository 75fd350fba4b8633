/**
 * Reading entities as records with the texts of their values: for doors that put together forms of
 * their own. An entity that does not exist is told as such, without an aspect that its urn implies.
 * More than fits into an answer is refused (`too_large`).
 */
import type { AspectReader } from "../aspects/aspect-table.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { Model } from "../model/model.ts";
import type { Address, Addresses } from "./address.ts";
import type { Catalog, FoundAspect, FoundEntity } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import { inSlices } from "./in-slices.ts";
import { noSuchAspect } from "./unknown-aspect.ts";

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly states: Pick<EntityStates, "read" | "positionOf">;
  readonly reader: Pick<AspectReader, "findValue">;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
}

/** Of the values of one answer, which is whole in memory. */
const answerBytesMax = 128 * 1024 * 1024;
/** Entities whose values are read at once, before those of others. */
const readMax = 500;

export function createFinds(
  dependencies: Dependencies,
): Pick<Catalog, "findEntities" | "findAspect"> {
  const { model, addresses, states, reader, reached } = dependencies;

  return {
    async findEntities(texts, names) {
      const known = await inSlices(texts, (text) => addresses.known(text));
      const wanted = names && new Set(names);
      const entities: FoundEntity[] = [];
      let bytes = 0;
      for (let start = 0; start < known.length; start += readMax) {
        const asked = known.slice(start, start + readMax);
        const found = await states.read(asked.map(({ urn }) => urn));
        const made = await inSlices(asked, (address, i) => entityOf(address, found[i], wanted));
        for (const { aspects } of made) for (const { value } of aspects) bytes += value.length;
        entities.push(...made);
        if (bytes > answerBytesMax && known.length > 1) throw tooLarge(known.length);
      }
      return entities;
    },

    async findAspect(text, name, version): Promise<FoundAspect | undefined> {
      const { urn, entity } = addresses.known(text);
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

const tooLarge = (count: number): CatalogError =>
  new CatalogError(
    "too_large",
    `what ${count} entities hold is more than ${answerBytesMax} bytes, which an answer may have`,
    { hint: "Ask for fewer at a time, or for some of their aspects" },
  );
