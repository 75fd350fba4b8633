/** Analytics: counts of entities from the search view. The service stores no usage events. */
import type { SearchFacet } from "../../../catalog/catalog.ts";
import type { Criterion } from "../../../core/query/filter.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { jsonObject } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { propertiesAspectOf } from "../../schema/entity-types.ts";
import { searchedTypes } from "../default-search-types.ts";
import { nameOf } from "../entity-values.ts";

const highlighted: readonly (readonly [type: string, title: string])[] = [
  ["dataset", "Datasets"],
  ["dashboard", "Dashboards"],
  ["chart", "Charts"],
  ["dataFlow", "Pipelines"],
  ["dataJob", "Tasks"],
  ["domain", "Domains"],
];

const documented: readonly (readonly [field: string, words: string])[] = [
  ["hasOwners", "owners"],
  ["hasTags", "tags"],
  ["hasGlossaryTerms", "glossary terms"],
  ["hasDescription", "descriptions"],
  ["hasDomain", "domains"],
];

async function getHighlights(_: never, viewer: Viewer) {
  const fields = documented.map(([field]) => field);
  const found = await Promise.all(
    highlighted.map(async ([type, title]) => {
      const { total, facets } = await viewer.catalog.search(
        { entities: [type], facets: fields },
        { start: 0, count: 0 },
      );
      return { value: total, title, body: shares(facets, total) };
    }),
  );
  return found.filter(({ value }) => value > 0);
}

/** `50.0% have owners, 25.0% have tags!` */
function shares(facets: readonly SearchFacet[], total: number): string {
  const parts = documented.flatMap(([field, words]) => {
    const values = facets.find(({ name }) => name === field)?.values ?? [];
    const count = values.find(({ value }) => value === "true")?.count ?? 0;
    return count === 0 ? [] : [`${((100 * count) / total).toFixed(1)}% have ${words}`];
  });
  return parts.length === 0 ? "" : `${parts.join(", ")}!`;
}

interface Chart {
  readonly field: string;
  readonly title: string;
}

const byDomain: Chart = { field: "domains", title: "Entities by Domain" };
const charts: readonly Chart[] = [
  { field: "platform", title: "Entities by Platform" },
  { field: "glossaryTerms", title: "Entities by Glossary Term" },
  { field: "origin", title: "Entities by Environment" },
];

const barsMax = 10;

interface Selection {
  readonly types: readonly string[];
  readonly input?: string;
  readonly criteria?: readonly Criterion[];
}

/** A bar for each of the most frequent values; environments are shown if there are several. */
async function barCharts(shown: readonly Chart[], selection: Selection, viewer: Viewer) {
  const { facets } = await viewer.catalog.search(
    {
      entities: selection.types,
      input: selection.input ?? "*",
      filter: { or: [{ and: selection.criteria ?? [] }] },
      facets: shown.map(({ field }) => field),
    },
    { start: 0, count: 0 },
  );
  const all = await Promise.all(
    shown.map(async ({ field, title }) => {
      const values = facets.find(({ name }) => name === field)?.values ?? [];
      const bars = await Promise.all(
        values
          .filter(({ count }) => count > 0)
          .slice(0, barsMax)
          .map(async ({ value, count }) => ({
            name: await labelOf(value, viewer),
            segments: [{ label: "Count", value: count }],
          })),
      );
      const least = field === "origin" ? 2 : 1;
      return bars.length < least ? [] : [{ __typename: "BarChart", title, bars }];
    }),
  );
  return all.flat();
}

/** The display name of the entity that a value names. */
async function labelOf(value: string, { loader }: Viewer): Promise<string> {
  if (!value.startsWith("urn:")) return value;
  const loaded = await loader.load(value);
  const properties = loaded.aspect(propertiesAspectOf(entityTypeOf(value)));
  const shown = jsonObject(properties) ? properties.displayName : undefined;
  return typeof shown === "string" ? shown : nameOf(loaded);
}

async function getAnalyticsCharts(_: never, viewer: Viewer) {
  const types = searchedTypes(viewer.entityTypes);
  const found = await barCharts([byDomain, ...charts], { types }, viewer);
  const title = "Data Landscape Summary";
  return found.length === 0 ? [] : [{ groupId: "GlobalMetadataAnalytics", title, charts: found }];
}

interface ChartsInput {
  readonly entityType?: Maybe<string>;
  readonly domain?: Maybe<string>;
  readonly query?: Maybe<string>;
}

async function getMetadataAnalyticsCharts({ input }: InputArgs<ChartsInput>, viewer: Viewer) {
  const type = input.entityType && viewer.entityTypes.find(input.entityType);
  const domain = input.domain && input.domain !== "ALL" ? input.domain : undefined;
  const found = await barCharts(
    domain === undefined ? [byDomain, ...charts] : charts,
    {
      types: type ? [type] : searchedTypes(viewer.entityTypes),
      input: input.query || "*",
      criteria: domain === undefined ? [] : [{ field: "domains", value: domain }],
    },
    viewer,
  );
  return [{ groupId: "FilteredMetadataAnalytics", title: "", charts: found }];
}

export const analyticsQueries = {
  getHighlights,
  getAnalyticsCharts,
  getMetadataAnalyticsCharts,
};
