/**
 * Limits the searches and walks of one request: a short query asks for those of each of many entities,
 * and one without results adds no members to the answer. Reads of entities have their own limits
 * (entity-loader.ts).
 */
import type { Catalog } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { createConcurrencyLimit } from "../lib/concurrency-limit.ts";

/** Of all reads of a request, in hundreds of microseconds, as they take on small catalogs. */
const costMax = 50_000;
const search = 25;
const walk = 8;
const lookup = 2;
/** Further reads wait, so that those of other requests come in between. */
const readsAtOnceMax = 8;

/** Throws `malformed` from the read that exceeds the limit on; later reads do not run. */
export function withReadBudget(catalog: Catalog): Catalog {
  const inTurn = createConcurrencyLimit(readsAtOnceMax);
  let cost = 0;

  const limited =
    <Args extends readonly unknown[], Found>(
      own: number,
      read: (...args: Args) => Promise<Found> | Found,
    ): ((...args: Args) => Promise<Found>) =>
    (...args) =>
      inTurn(async () => {
        cost += own;
        if (cost <= costMax) return read(...args);
        throw new CatalogError("malformed", "the query asks for too many searches and lists", {
          hint: "Ask for fewer fields, or for fewer entities at once",
        });
      });

  return {
    ...catalog,
    search: limited(search, catalog.search),
    scroll: limited(search, catalog.scroll),
    searchLineage: limited(search, catalog.searchLineage),
    scrollLineage: limited(search, catalog.scrollLineage),
    browse: limited(search, catalog.browse),
    getTimeline: limited(search, catalog.getTimeline),
    readChanges: limited(search, catalog.readChanges),
    getLineage: limited(walk, catalog.getLineage),
    queryUsage: limited(lookup, catalog.queryUsage),
    getTimeseriesValues: limited(lookup, catalog.getTimeseriesValues),
    listRelationships: limited(lookup, catalog.listRelationships),
    scrollRelationships: limited(lookup, catalog.scrollRelationships),
  };
}
