/** Documents, assets of data products and applications, stages, step states, runs and secrets. */
import type { Criterion } from "../../../core/query/filter.ts";
import { type JsonObject, objectsIn, stringsIn } from "../../../lib/json.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { rejectMore } from "../../limits.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { rejectWithout } from "../access/privilege-checks.ts";
import { withCriteria } from "../discovery/views.ts";
import { entriesOf, groupsOf } from "../entity-values.ts";
import type { SearchPageInput, Sort } from "../pages.ts";
import { filterOf, type SearchInput } from "../search.ts";
import { searchUrns } from "./search-lists.ts";

const stagesMax = 1_000;

async function listLifecycleStages(_: never, viewer: Viewer) {
  const request = { entities: ["lifecycleStageType"] };
  const { urns } = await searchUrns(request, { start: 0, count: stagesMax }, viewer);
  const stages = await Promise.all(urns.map((urn) => stageOf(urn, viewer)));
  return stages.filter((one) => one !== null);
}

/** A lifecycle stage; null for a urn without the aspect lifecycleStageTypeInfo. */
export async function stageOf(urn: string, { loader }: Viewer): Promise<JsonObject | null> {
  const info = (await loader.load(urn)).aspect("lifecycleStageTypeInfo");
  if (info === undefined) return null;
  return {
    ...info,
    urn,
    hideInSearch: memberAt(info, ["settings", "hideInSearch"]),
    allowedPreviousStages: memberAt(info, ["transitionPolicy", "allowedPreviousStages"]),
  };
}

async function batchGetStepStates(
  { input }: InputArgs<{ readonly ids: readonly string[] }>,
  { loader, namespace }: Viewer,
) {
  const states = await Promise.all(
    input.ids.map(async (id) => {
      const { aspect } = await loader.load(`urn:${namespace}:dataHubStepState:${id}`);
      const value = aspect("dataHubStepStateProperties");
      return value && { id, properties: entriesOf(value.properties) ?? [] };
    }),
  );
  return { results: states.filter((one) => one !== undefined) };
}

async function listSecrets({ input }: InputArgs<SearchPageInput>, viewer: Viewer) {
  await rejectWithout(viewer, [["MANAGE_SECRETS"]]);
  const page = { start: input.start ?? 0, count: input.count ?? 20 };
  const sort = [{ field: "createdTime", order: "DESCENDING" as const }];
  const request = { entities: ["dataHubSecret"], input: input.query ?? "*", sort };
  const { urns, total } = await searchUrns(request, page, viewer);
  const secrets = await Promise.all(
    urns.map(async (urn) => {
      const value = (await viewer.loader.load(urn)).aspect("dataHubSecretValue");
      return value && { urn, name: value.name, description: value.description };
    }),
  );
  return { ...page, total, secrets: secrets.filter((one) => one !== undefined) };
}

interface RunsInput extends SearchPageInput, Pick<SearchInput, "filters"> {
  readonly sort?: Maybe<Sort>;
  readonly systemSources?: Maybe<boolean>;
}

const sourcesMax = 1_000;

/**
 * Executions of all sources that exist. `systemSources`: true for system sources only, false for the
 * others.
 */
async function listExecutionRequests({ input }: InputArgs<RunsInput>, viewer: Viewer) {
  const { systemSources, sort } = input;
  const page = { start: input.start ?? 0, count: input.count ?? 20 };
  const ofSystem = { field: "sourceType", value: "SYSTEM", negated: systemSources === false };
  const sources = await searchUrns(
    {
      entities: ["dataHubIngestionSource"],
      filter: withCriteria(undefined, typeof systemSources === "boolean" ? [ofSystem] : []),
    },
    { start: 0, count: sourcesMax },
    viewer,
  );
  const ofSources = { field: "ingestionSource", condition: "IN", values: sources.urns };
  const request = {
    entities: ["dataHubExecutionRequest"],
    input: input.query ?? "*",
    filter: withCriteria(filterOf(input), [ofSources]),
    sort: [
      sort
        ? { field: sort.field, order: sort.sortOrder }
        : { field: "requestTimeMs", order: "DESCENDING" as const },
    ],
  };
  const { urns, total } = await searchUrns(request, page, viewer);
  return { ...page, total, executionRequests: urns };
}

interface DocumentsInput extends SearchPageInput {
  readonly parentDocuments?: Maybe<readonly string[]>;
  readonly rootOnly?: Maybe<boolean>;
  readonly types?: Maybe<readonly string[]>;
  readonly domains?: Maybe<readonly string[]>;
  readonly relatedAssets?: Maybe<readonly string[]>;
  readonly sourceType?: Maybe<string>;
}

const anyOf = (field: string, values: Maybe<readonly string[]>): readonly Criterion[] =>
  values && values.length > 0 ? [{ field, values }] : [];

/** The criteria of an input for documents. */
export const documentCriteria = (input: DocumentsInput): readonly Criterion[] => [
  ...(input.parentDocuments?.length
    ? anyOf("parentDocument", input.parentDocuments)
    : input.rootOnly
      ? [{ field: "parentDocument", condition: "EXISTS", negated: true }]
      : []),
  ...anyOf("typeNames", input.types),
  ...anyOf("domains", input.domains),
  ...anyOf("relatedAssets", input.relatedAssets),
  ...(input.sourceType ? [{ field: "sourceType", value: input.sourceType }] : []),
];

/** Published documents, and drafts that the caller or one of the caller's groups owns. */
export async function visibleDocuments({ actor, loader }: Viewer) {
  const published = { and: [{ field: "state", value: "PUBLISHED" }] };
  if (actor === undefined) return { or: [published] };
  const groups = await groupsOf(actor, loader);
  const own = { field: "owners", values: [actor, ...groups] };
  return { or: [published, { and: [{ field: "state", value: "UNPUBLISHED" }, own] }] };
}

const productAssetsMax = 100;

async function bulkEntityDataProducts(
  { input: { urns } }: InputArgs<{ readonly urns: readonly string[] }>,
  viewer: Viewer,
) {
  rejectMore(urns.length, productAssetsMax, "urns has", "members", "Ask in several requests");
  const { catalog, loader } = viewer;
  const families = await Promise.all(
    urns.map(async (urn) => {
      const { aspect } = await loader.load(urn);
      return { urn, all: [urn, ...stringsIn(aspect("siblings")?.siblings)] };
    }),
  );
  const around = [...new Set(families.flatMap(({ all }) => all))];
  const { relationships } = await catalog.scrollRelationships({
    types: ["DataProductContains"],
    destination: { urns: around },
    count: 1_000,
  });
  const entities = await Promise.all(
    families.map(async ({ urn, all }) => {
      const products = relationships
        .filter(({ destination }) => all.includes(destination))
        .map(({ source }) => source);
      const dataProductAssociations = await Promise.all(
        [...new Set(products)].map(async (dataProduct) => ({
          dataProduct,
          isOutputPort: assetsIn(await loader.load(dataProduct)).some(
            (asset) => asset.outputPort && all.includes(asset.urn),
          ),
        })),
      );
      return { urn, dataProductAssociations };
    }),
  );
  return { entities };
}

/** The assets of a data product. */
export const assetsIn = ({ aspect }: { aspect(name: string): JsonObject | undefined }) =>
  objectsIn(aspect("dataProductProperties")?.assets).map(({ destinationUrn, outputPort }) => ({
    urn: String(destinationUrn),
    outputPort: outputPort === true,
  }));

export const organisationQueries = {
  listLifecycleStages,
  batchGetStepStates,
  listSecrets,
  listExecutionRequests,
  bulkEntityDataProducts,
};
