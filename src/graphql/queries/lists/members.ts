/** Members of domains, containers, data products and applications, and searches of documents. */
import { type Criterion, type Filter, intersectFilters } from "../../../core/query/filter.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { viewOf, withCriteria } from "../discovery/views.ts";
import { type EntitySource, entityOf } from "../entity-source.ts";
import type { PageInput, SearchPageInput } from "../pages.ts";
import { facetsOf, type ScrollInput, type SearchInput, scrolled, searched } from "../search.ts";
import { assetsIn, documentCriteria, visibleDocuments } from "./organisation-lists.ts";

interface MembersInput extends SearchPageInput {
  readonly filters?: Maybe<readonly object[]>;
}

/** A search of the entities whose field has the urn of the source entity. */
const membersBy =
  (field: string, options: { readonly types?: readonly string[]; readonly count: number }) =>
  (
    { urn }: EntitySource,
    { input }: { input?: Maybe<MembersInput & SearchInput> },
    viewer: Viewer,
  ) =>
    searched(
      { ...input, types: input?.types ?? options.types, count: input?.count ?? options.count },
      viewer,
      (request) => ({ ...request, filter: withCriteria(request.filter, [{ field, value: urn }]) }),
    );

/** A scroll of the entities that match the criteria for the urn of the source entity. */
const scrollBy =
  (criteria: (urn: string) => readonly Criterion[], types?: readonly string[]) =>
  ({ urn }: EntitySource, { input }: InputArgs<ScrollInput>, viewer: Viewer) =>
    scrolled({ ...input, types: input.types ?? types }, viewer, (request) => ({
      ...request,
      filter: withCriteria(request.filter, criteria(urn)),
    }));

interface FacetFilter {
  readonly field: string;
  readonly value?: Maybe<string>;
  readonly values?: Maybe<readonly string[]>;
  readonly negated?: Maybe<boolean>;
}

const PORT = "isOutputPort";

/** The assets of a data product. The filter isOutputPort is a field of the product, not of an asset. */
async function productAssets(product: string, asked: Maybe<SearchInput>, viewer: Viewer) {
  const input = asked ?? {};
  const all = assetsIn(await viewer.loader.load(product));
  const filters = (input.filters ?? []) as readonly FacetFilter[];
  const onPorts = filters.filter(({ field }) => field === PORT);
  const assets = all.filter(({ outputPort }) =>
    onPorts.every(
      ({ value, values, negated }) =>
        [value, ...(values ?? [])].includes(String(outputPort)) !== (negated ?? false),
    ),
  );
  const page = { start: 0, count: input.count ?? 10 };
  if (assets.length === 0) return { ...page, total: 0, searchResults: [] };
  const types = [...new Set(assets.map(({ urn }) => entityOf(urn).type))];
  const values = assets.map(({ urn }) => urn);
  const found = await searched(
    {
      ...input,
      filters: filters.filter(({ field }) => field !== PORT),
      types: input.types?.length ? input.types : types,
    },
    viewer,
    (request) => ({ ...request, filter: withCriteria(request.filter, [{ field: "urn", values }]) }),
  );
  const ports = new Set(assets.flatMap(({ urn, outputPort }) => (outputPort ? [urn] : [])));
  return {
    ...found,
    searchResults: found.searchResults.map((one) => ({
      ...one,
      extraProperties: ports.has(one.entity.urn) ? [{ name: PORT, value: "true" }] : [],
    })),
  };
}

interface DocumentsInput extends SearchPageInput {
  readonly viewUrn?: Maybe<string>;
}

/** A page of documents, latest first. `sort`: the field with the time. */
async function documents(
  input: DocumentsInput,
  options: { readonly filter: Filter | undefined; readonly sort: string; readonly count: number },
  viewer: Viewer,
) {
  const page = { start: input.start ?? 0, count: input.count ?? options.count };
  const view = await viewOf(input.viewUrn, viewer);
  const visible = await visibleDocuments(viewer);
  const found = await viewer.catalog.search(
    {
      entities: ["document"],
      input: input.query ?? "*",
      filter: intersectFilters(intersectFilters(visible, options.filter), view?.filter),
      sort: [{ field: options.sort, order: "DESCENDING" }],
    },
    page,
  );
  return {
    ...page,
    total: found.total,
    documents: found.hits.map(({ urn }) => urn),
    facets: facetsOf(found.facets, viewer),
  };
}

const inContext: Criterion = { field: "showInGlobalContext", value: "false", negated: true };

const searchDocuments = ({ input }: InputArgs<DocumentsInput>, viewer: Viewer) =>
  documents(
    input,
    {
      filter: withCriteria(undefined, [inContext, ...documentCriteria(input)]),
      ...{ sort: "createdAt", count: 20 },
    },
    viewer,
  );

const relatedDocuments = (
  { urn }: EntitySource,
  { input }: InputArgs<DocumentsInput>,
  viewer: Viewer,
) =>
  documents(
    input,
    {
      filter: withCriteria(undefined, [
        { field: "relatedAssets", value: urn },
        ...documentCriteria(input),
      ]),
      ...{ sort: "lastModifiedAt", count: 100 },
    },
    viewer,
  );

const glossary = ["GLOSSARY_NODE", "GLOSSARY_TERM"];

/** The numbers of terms and nodes directly below a node. */
async function childrenCount({ urn }: EntitySource, _: never, { catalog }: Viewer) {
  const found = await catalog.search(
    {
      entities: ["glossaryNode", "glossaryTerm"],
      filter: { or: [{ and: [{ field: "parentNode", value: urn }] }] },
      facets: ["_entityType"],
    },
    { start: 0, count: 0 },
  );
  const counts = new Map(
    found.facets.flatMap(({ values }) => values).map((v) => [v.value, v.count]),
  );
  return {
    termsCount: counts.get("glossaryTerm") ?? 0,
    nodesCount: counts.get("glossaryNode") ?? 0,
  };
}

/** Members of a version set, latest first. */
const versionsSearch = (
  { urn }: EntitySource,
  { input }: InputArgs<SearchInput & PageInput>,
  viewer: Viewer,
) => {
  const types = input.types?.length ? input.types : versioned;
  return searched({ ...input, types }, viewer, (request) => ({
    ...request,
    filter: withCriteria(request.filter, [{ field: "versionSet", value: urn }]),
    sort: [...(request.sort ?? []), { field: "versionSortId", order: "DESCENDING" }],
    flags: { ...request.flags, filterNonLatestVersions: false },
  }));
};

const versioned = ["DATASET", "MLMODEL"];

export const memberQueries = {
  searchDocuments,
  listDataProductAssets: ({ urn, input }: UpdateArgs<SearchInput>, viewer: Viewer) =>
    productAssets(urn, input, viewer),
  listApplicationAssets: ({ urn, input }: UpdateArgs<SearchInput>, viewer: Viewer) =>
    membersBy("applications", { count: 10 })(entityOf(urn), { input }, viewer),
};

const parentMetric = (urn: string): readonly Criterion[] => [{ field: "parentMetric", value: urn }];
const rootMetricsOf = (urn: string): readonly Criterion[] => [
  { field: "semanticModel", value: urn },
  { field: "hasParentMetric", value: "true", negated: true },
];

export const memberFields = {
  Entity: { relatedDocuments },
  Domain: { entities: membersBy("domains", { count: 20 }) },
  Container: {
    entities: membersBy("container", {
      types: ["DATASET", "CHART", "DASHBOARD", "CONTAINER"],
      count: 20,
    }),
  },
  DataProduct: {
    entities: ({ urn }: EntitySource, { input }: { input?: SearchInput }, viewer: Viewer) =>
      productAssets(urn, input, viewer),
  },
  GlossaryNode: {
    childrenCount,
    glossaryChildrenSearch: scrollBy((urn) => [{ field: "parentNode", value: urn }], glossary),
  },
  Dataset: { siblingsSearch: scrollBy((urn) => [{ field: "siblings", value: urn }]) },
  Metric: { childMetrics: scrollBy(parentMetric, ["METRIC"]) },
  SemanticModel: { metrics: scrollBy(rootMetricsOf, ["METRIC"]) },
  VersionSet: { versionsSearch },
};
