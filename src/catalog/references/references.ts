/**
 * Removes the references to an entity from all aspects that name it. It writes ordinary proposals: the
 * value without the urn, or a DELETE when the aspect requires the urn.
 *
 * The graph finds the entities that refer to it; search finds those that refer to it in an aspect
 * without a relationship (searched-references.ts). The model's annotations define the paths of
 * references in an aspect. A urn elsewhere in a value (the actor of a stamp) is not a reference.
 * Key aspects stay unchanged.
 */
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { appendAll, slicesOf } from "../../lib/lists.ts";
import type { Entity, Model } from "../../model/model.ts";
import type { GraphReader } from "../../views/graph/graph.ts";
import type { SearchReader } from "../../views/search/search.ts";
import type { Address, Addresses } from "../address.ts";
import type { Caller, Catalog, Proposal, Written } from "../catalog.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import { createSearchedReferences, searchedTypes } from "./searched-references.ts";
import { createReferenceRemoval, type ReferencePath } from "./without-reference.ts";

/** By aspect: its relationships, with the path to the urn from the aspect's root. */
export type ReferencePaths = ReadonlyMap<string, readonly ReferencePath[]>;

interface Dependencies {
  readonly model: Model;
  readonly paths: ReferencePaths;
  readonly addresses: Addresses;
  readonly states: Pick<EntityCache, "read">;
  readonly reader: Pick<GraphReader, "neighbours">;
  readonly search: Pick<SearchReader, "search">;
  readonly ingest: (proposals: readonly Proposal[], caller: Caller) => Promise<Written>;
  /** Waits until the graph has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
  /** Waits until the search view has every acknowledged write. */
  readonly searchCaughtUp: () => Promise<void>;
}

type DeleteReferences = Catalog["deleteReferences"];
type RelatedAspect = Awaited<ReturnType<DeleteReferences>>["relatedAspects"][number];

/** Related aspects in the response; `total` counts all. */
const shownMax = 10;
/** Referring entities that are found and then written per batch. */
const pageMax = 1_000;
const batchMax = 100;
/** Attempts at a batch whose entities other writers change. */
const attemptsMax = 10;

/** An aspect that refers to the urn, and the proposal that removes the reference. */
interface Referring {
  /** Members in DataHub's order: its command line prints them as columns. */
  readonly related: readonly RelatedAspect[];
  readonly proposal: Proposal;
}

export function createDeleteReferences(dependencies: Dependencies): DeleteReferences {
  const { model, paths, addresses, states, reader } = dependencies;
  const types = [...new Set([...paths.values()].flat().map(({ name }) => name))];
  const removal = createReferenceRemoval(model);
  const searched = createSearchedReferences(model, dependencies.search);

  async function referrersOf(urn: string): Promise<readonly Address[]> {
    const urns = new Set<string>(await searched.referrersOf(urn));
    for (let start = 0; ; start += pageMax) {
      const query = { urn, direction: "INCOMING", types, start, count: pageMax } as const;
      const { neighbours, total } = await reader.neighbours(query);
      for (const neighbour of neighbours) urns.add(neighbour.urn);
      if (start + pageMax >= total) break;
    }
    const found = [...urns].flatMap((one) => addressesOf(one));
    return [...new Map(found.map((address) => [address.urn, address])).values()];
  }

  /**
   * A column and its table, whose aspects contain the column's references. Empty if the model lacks
   * the type.
   */
  function addressesOf(urn: string): readonly Address[] {
    try {
      const address = addresses.readable(urn);
      const { parent } = address.key;
      if (address.entity.name !== "schemaField" || typeof parent !== "string") return [address];
      return [address, ...addressesOf(parent)];
    } catch (error) {
      if (error instanceof CatalogError) return [];
      throw error;
    }
  }

  function referringOf(
    { urn: entityUrn, entity }: Address,
    state: EntityState,
    urn: string,
  ): readonly Referring[] {
    const quoted = JSON.stringify(urn);
    return entity.aspects.flatMap((name): readonly Referring[] => {
      const current = currentAspect(state, name);
      if (!current?.value.includes(quoted)) return [];
      const rules = [...(paths.get(name) ?? []), ...searched.pathsOf(urn, name)];
      const { value, removed } = removal(name, JSON.parse(current.value), rules, urn);
      if (removed.length === 0) return [];
      return [
        {
          related: removed.map((relationship) => ({
            relationship,
            entity: entityUrn,
            aspect: name,
          })),
          proposal: proposalOf(entityUrn, entity, name, value, current.version),
        },
      ];
    });
  }

  async function referring(batch: readonly Address[], urn: string): Promise<readonly Referring[]> {
    const found = await states.read(batch.map((address) => address.urn));
    return batch.flatMap((address, i) => referringOf(address, found[i] as EntityState, urn));
  }

  /**
   * Each value is written only if it is unchanged since it was read; otherwise it is read again.
   */
  async function remove(
    batch: readonly Address[],
    urn: string,
    caller: Caller,
  ): Promise<Written & { readonly referring: readonly Referring[] }> {
    for (let attempt = 1; ; attempt++) {
      const found = await referring(batch, urn);
      if (found.length === 0) return { referring: found, position: undefined };
      try {
        const proposals = found.map(({ proposal }) => proposal);
        const { position } = await dependencies.ingest(proposals, caller);
        return { referring: found, position };
      } catch (error) {
        if (!(error instanceof CatalogError) || error.code !== "invalid") throw error;
        if (attempt === attemptsMax) throw error;
      }
    }
  }

  return async ({ urn: text, dryRun }, caller) => {
    const { urn } = addresses.writable(text);
    await dependencies.caughtUp();
    if (searchedTypes.has(entityTypeOf(urn))) await dependencies.searchCaughtUp();
    const referrers = await referrersOf(urn);
    const relatedAspects: RelatedAspect[] = [];
    let total = 0;
    let last: Written = { position: undefined };
    for (const batch of slicesOf(referrers, batchMax)) {
      const done = dryRun
        ? { referring: await referring(batch, urn), position: undefined }
        : await remove(batch, urn, caller);
      const related = done.referring.flatMap((one) => one.related);
      total += related.length;
      appendAll(relatedAspects, related.slice(0, shownMax - relatedAspects.length));
      if (done.position !== undefined) last = done;
    }
    return { total, relatedAspects, position: last.position };
  };
}

function proposalOf(
  urn: string,
  entity: Entity,
  aspect: string,
  value: unknown,
  version: number,
): Proposal {
  return {
    entityType: entity.name,
    entityUrn: urn,
    aspectName: aspect,
    ...(value === undefined
      ? { changeType: "DELETE" }
      : { changeType: "UPSERT", aspect: { value } }),
    headers: { "If-Version-Match": String(version) },
  };
}
