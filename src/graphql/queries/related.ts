/** Lists of entities that have a relationship to an entity. */

import type { Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import type { Maybe } from "../maybe.ts";
import { type EntitySource, entityOf } from "./entity-source.ts";

interface RelatedQuery {
  readonly urn: string;
  /** The relationship that the listed entities have to the entity. */
  readonly relationship: string;
  readonly includeSoftDeleted: boolean;
}

/** Maximum number of edges that are read: the newest ones. */
const edgesMax = 10_000;
/** Edges of the first read, which is the only one for nearly all entities. */
const firstMax = 200;

/** The urns of at most `count` entities that have the relationship to the entity, each once. */
export async function incomingUrns(
  {
    urn,
    relationship,
    count,
  }: Omit<RelatedQuery, "includeSoftDeleted"> & { readonly count: number },
  { catalog }: Pick<Viewer, "catalog">,
): Promise<readonly string[]> {
  const { relationships } = await catalog.listRelationships({
    ...{ urn, direction: "INCOMING", types: [relationship], start: 0, count },
  });
  return [...new Set(relationships.map((one) => one.urn))];
}

/** The urns of the related entities, oldest edge first. */
async function relatedUrns(
  { urn, relationship, includeSoftDeleted }: RelatedQuery,
  { catalog, loader }: Viewer,
): Promise<readonly string[]> {
  const page = (start: number, count: number) =>
    loader.list(
      count,
      async () =>
        catalog.listRelationships({
          ...{ urn, direction: "INCOMING", types: [relationship] },
          ...{ includeSoftDeleted, start, count },
        }),
      ({ relationships }) => relationships.length,
    );
  const first = await page(0, firstMax);
  // The total and the page both lack the soft-deleted entities of the page.
  const further = first.total - first.count;
  const { relationships } =
    further === 0 ? first : await page(Math.max(0, firstMax + further - edgesMax), edgesMax);
  return relationships.map((one) => one.urn);
}

/** The related entities of a GraphQL type; soft-deleted ones only on request. */
export async function relatedEntities(
  {
    typename,
    includeSoftDeleted,
    ...query
  }: Omit<RelatedQuery, "includeSoftDeleted"> & {
    readonly typename: string;
    readonly includeSoftDeleted?: Maybe<boolean>;
  },
  viewer: Viewer,
): Promise<readonly EntitySource[]> {
  const asked = { ...query, includeSoftDeleted: includeSoftDeleted ?? false };
  const related = (await relatedUrns(asked, viewer)).map(entityOf);
  return related.filter((one) => one.__typename === typename);
}

/** True for an entity that exists and is not soft-deleted. */
export const isVisible = ({ exists, aspect }: LoadedEntity): boolean =>
  exists && aspect("status")?.removed !== true;

/** The related entities that exist and are not soft-deleted. */
export async function existingRelated(
  urn: string,
  relationship: string,
  viewer: Viewer,
): Promise<readonly string[]> {
  const urns = await relatedUrns({ urn, relationship, includeSoftDeleted: true }, viewer);
  const loaded = await Promise.all(urns.map((one) => viewer.loader.load(one)));
  return loaded.filter(isVisible).map((one) => one.urn);
}
