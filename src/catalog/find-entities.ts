/**
 * Reading entities as records with the texts of their values: for doors that put together forms of
 * their own. An entity that does not exist is told as such, without an aspect that its urn implies.
 */
import type { AspectReader } from "../aspects/aspect-table.ts";
import { currentAspect } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { Model } from "../model/model.ts";
import type { Addresses } from "./address.ts";
import type { Catalog, FoundAspect } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import { inSlices } from "./in-slices.ts";

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly states: Pick<EntityStates, "read" | "positionOf">;
  readonly reader: Pick<AspectReader, "findValue">;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
}

export function createFinds(
  dependencies: Dependencies,
): Pick<Catalog, "findEntities" | "findAspect"> {
  const { model, addresses, states, reader, reached } = dependencies;

  return {
    async findEntities(texts, names) {
      const known = await inSlices(texts, (text) => addresses.known(text));
      const wanted = names && new Set(names);
      const found = await states.read(known.map(({ urn }) => urn));
      return inSlices(known, ({ urn, entity }, i) => {
        const state = found[i];
        const aspects = [entity.keyAspect, ...entity.aspects].flatMap((name) => {
          if (wanted !== undefined && !wanted.has(name)) return [];
          return (state && currentAspect(state, name)) ?? [];
        });
        const exists = state !== undefined && currentAspect(state, entity.keyAspect) !== undefined;
        return { urn, entityType: entity.name, exists, aspects };
      });
    },

    async findAspect(text, name, version): Promise<FoundAspect | undefined> {
      const { urn, entity } = addresses.known(text);
      const aspect = model.findAspectOf(entity, name);
      if (aspect === undefined) {
        throw new CatalogError("not_found", `entity type "${entity.name}" has no aspect "${name}"`);
      }
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
