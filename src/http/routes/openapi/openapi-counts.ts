/** /openapi/v1/entities/counts: the number of entities of each type. */
import type { SearchFlags } from "../../../catalog/catalog.ts";
import type { EntityOutline } from "../../docs/docs-model.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

const TYPE = "_entityType";
/** Facet values: more than a model has entity types. */
const typesMax = 10_000;

const flags: SearchFlags = {
  includeSoftDeleted: true,
  includeHiddenLifecycleStages: true,
  filterNonLatestVersions: false,
  skipHighlighting: true,
  maxAggValues: typesMax,
};

const softDeleted = { or: [{ and: [{ field: "removed", values: ["true"] }] }] };

export const countRoutes = (entities: readonly EntityOutline[]): readonly Endpoint[] => [
  {
    kind: "page",
    group: "OpenAPI",
    method: "GET",
    path: "/openapi/v1/entities/counts",
    name: "countEntitiesByType",
    parameters: [
      query.strings("types", "Entity types; all when absent"),
      query.boolean("includeTotal", "Also the sums; `false` when absent"),
    ],
    reads: "search",
    async handle({ parameters }, { catalog, now }) {
      const { types = [], includeTotal = false } = parameters as {
        types?: readonly string[];
        includeTotal?: boolean;
      };
      const named = types.flatMap((one) => one.split(",")).filter((one) => one !== "");
      const keys = new Map(entities.map(({ name, aspects }) => [name, aspects[0]?.name ?? ""]));
      const totals = await catalog.countEntities(named.length > 0 ? named : [...keys.keys()]);
      const requestedTypes = Object.keys(totals).sort();
      const request = { entities: requestedTypes, filter: softDeleted, facets: [TYPE], flags };
      const { facets } = await catalog.search(request, { start: 0, count: 0 });
      const values = facets.find(({ name }) => name === TYPE)?.values ?? [];
      const hidden = new Map(values.map((one) => [one.value, one.count]));
      const counts = requestedTypes.map((entityType) => {
        const softDeletedCount = hidden.get(entityType) ?? 0;
        // Safe lookup: the types are the members of the totals.
        const activeCount = Math.max(0, (totals[entityType] ?? 0) - softDeletedCount);
        return {
          ...{ entityType, keyAspect: keys.get(entityType), activeCount, softDeletedCount },
          ...(includeTotal && { totalCount: activeCount + softDeletedCount }),
        };
      });
      const activeTotal = counts.reduce((sum, one) => sum + one.activeCount, 0);
      const softDeletedTotal = counts.reduce((sum, one) => sum + one.softDeletedCount, 0);
      return {
        json: JSON.stringify({
          counts,
          ...(includeTotal && {
            ...{ activeTotal, softDeletedTotal },
            totalCount: activeTotal + softDeletedTotal,
          }),
          ...{ requestedTypes, computedAtMillis: now(), cacheHit: false },
        }),
      };
    },
  },
];
