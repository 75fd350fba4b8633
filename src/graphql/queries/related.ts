/** Lists of entities of one type that have a relationship to an entity. */

import type { Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { type EntitySource, entityOf } from "./entity-source.ts";

export interface RelatedQuery {
  readonly urn: string;
  /** The relationship that the listed entities have to the entity. */
  readonly relationship: string;
  /** GraphQL type of the listed entities; others are omitted. */
  readonly typename: string;
  readonly includeSoftDeleted?: Maybe<boolean>;
}

/** Maximum number of edges that are read: the newest ones. */
const edgesMax = 10_000;

/** The related entities, oldest edge first; soft-deleted ones only on request. */
export async function relatedEntities(
  { urn, relationship, typename, includeSoftDeleted }: RelatedQuery,
  { catalog, loader }: Viewer,
): Promise<readonly EntitySource[]> {
  const query = {
    ...{ urn, direction: "INCOMING", types: [relationship] },
    includeSoftDeleted: includeSoftDeleted ?? false,
  };
  return loader.list(
    async () => {
      const { total } = await catalog.listRelationships({ ...query, start: 0, count: 0 });
      const page = { start: Math.max(0, total - edgesMax), count: edgesMax };
      const { relationships } = await catalog.listRelationships({ ...query, ...page });
      const related = relationships.map((one) => entityOf(one.urn));
      return related.filter(({ __typename }) => __typename === typename);
    },
    (entities) => entities.length,
  );
}
