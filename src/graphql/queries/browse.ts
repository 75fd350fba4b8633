/** Autocompletion, and browsing of folders. */

import type { Filter } from "../../core/query/filter.ts";
import type { InputArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { completedTypes } from "./default-search-types.ts";
import { viewOf, withinView } from "./discovery/views.ts";
import { entityOf } from "./entity-source.ts";
import { filterOf, requestOf, type SearchInput } from "./search.ts";

interface Typed extends SearchInput {
  readonly query: string;
  readonly type?: Maybe<string>;
  readonly field?: Maybe<string>;
  readonly limit?: Maybe<number>;
}

interface Level extends SearchInput {
  readonly type?: Maybe<string>;
  readonly path?: Maybe<readonly string[]>;
  readonly start?: Maybe<number>;
}

const LIMIT = 10;
const SEPARATOR = "\u241f";

async function completed(
  entity: string,
  asked: Typed & { readonly filter?: Filter | undefined },
  { catalog }: Viewer,
) {
  const { suggestions, entities } = await catalog.autocomplete({
    entity,
    query: asked.query,
    field: asked.field ?? undefined,
    filter: asked.filter,
    limit: asked.limit ?? LIMIT,
  });
  return { suggestions, entities: entities.map(entityOf) };
}

export const browsing = {
  async autoComplete({ input }: InputArgs<Typed>, viewer: Viewer) {
    const member = input.type ?? "DATASET";
    const entity = viewer.entityTypes.find(member) ?? member;
    return {
      query: input.query,
      ...(await completed(entity, { ...input, filter: filterOf(input) }, viewer)),
    };
  },

  async autoCompleteForMultiple({ input }: InputArgs<Typed>, viewer: Viewer) {
    const { entityTypes } = viewer;
    const named = (input.types ?? []).map((member) => entityTypes.find(member) ?? member);
    const view = await viewOf(input.viewUrn, viewer);
    const request = { usualEntities: completedTypes(entityTypes), filter: filterOf(input) };
    const within = withinView({ ...request, entities: named }, view);
    const types = within.entities?.length ? within.entities : within.usualEntities;
    const found = [];
    for (const entity of types) {
      const one = await completed(entity, { ...input, filter: within.filter }, viewer);
      const { type } = entityOf(`urn:x:${entity}:x`);
      if (one.suggestions.length > 0) found.push({ type, ...one });
    }
    return { query: input.query, suggestions: found };
  },

  async browse({ input }: InputArgs<Level>, { catalog, entityTypes }: Viewer) {
    const member = input.type ?? "DATASET";
    const start = input.start ?? 0;
    const path = input.path?.length ? `/${input.path.join("/")}` : "";
    const found = await catalog.browse({
      entity: entityTypes.find(member) ?? member,
      path,
      filter: filterOf(input),
      start,
      limit: input.count ?? LIMIT,
    });
    return {
      start,
      count: found.groups.length + found.entities.length,
      total: found.numGroups + found.numEntities,
      groups: found.groups,
      entities: found.entities.map(entityOf),
      metadata: metadataOf(input, found),
    };
  },

  async browseV2({ input }: InputArgs<Level>, viewer: Viewer) {
    const types = [...(input.types ?? []), ...(input.type ? [input.type] : [])];
    const path = (input.path ?? []).map((name) => SEPARATOR + name).join("");
    const found = await viewer.catalog.browseV2({
      ...(await requestOf({ ...input, types }, viewer)),
      path,
      start: input.start ?? 0,
      count: input.count ?? LIMIT,
    });
    return {
      start: found.start,
      count: found.groups.length,
      total: found.total,
      groups: found.groups.map((group) => ({
        ...group,
        entity: group.entity === undefined ? null : entityOf(group.entity),
      })),
      metadata: metadataOf(input, found),
    };
  },
};

const metadataOf = (
  { path }: Level,
  { totalNumEntities }: { readonly totalNumEntities: number },
) => ({ path: path ?? [], totalNumEntities });
