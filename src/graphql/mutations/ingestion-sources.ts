/** Ingestion sources, as entities of the catalog; the service does not run them. */
import { randomUUID } from "node:crypto";
import { jsonObject } from "../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../context.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import { memberAt } from "../mapping/mapping.ts";
import type { Maybe } from "../maybe.ts";
import { type EntitySource, entityOf } from "../queries/entity-source.ts";
import { type PageInput, pageIn, pageOf, rowOrder, rowTest, type Sort } from "../queries/pages.ts";
import { incomingUrns } from "../queries/related.ts";
import type { FacetFilter } from "../queries/token-filter.ts";
import { deleting } from "./declared.ts";
import { proposalOf, urnOf, write } from "./writing.ts";

interface Source {
  readonly urn: string;
  readonly name: string;
  readonly type: string;
}

const TYPE = "dataHubIngestionSource";
const INFO = "dataHubIngestionSourceInfo";
/** Maximum number of sources that a filter scans. */
const sourcesMax = 10_000;
const executionsMax = 1_000;

async function sourceOf(urn: string, { loader }: Viewer) {
  const { aspect } = await loader.load(urn);
  const info = aspect(INFO);
  if (info === undefined) return undefined;
  const config = jsonObject(info.config) ? info.config : {};
  const extra = jsonObject(config.extraArgs) ? config.extraArgs : {};
  return {
    urn,
    name: String(info.name),
    type: String(info.type),
    platform: typeof info.platform === "string" ? entityOf(info.platform) : null,
    schedule: info.schedule,
    source: info.source,
    ownership: aspect("ownership"),
    config: {
      ...config,
      extraArgs: Object.entries(extra).map(([key, value]) => ({ key, value })),
    },
  };
}

interface ListInput extends PageInput {
  readonly query?: Maybe<string>;
  readonly filters?: Maybe<readonly FacetFilter[]>;
  readonly sort?: Maybe<Sort>;
}

const listFields = ["urn", "name", "type"];

async function listIngestionSources({ input }: InputArgs<ListInput>, viewer: Viewer) {
  const { start, count } = pageOf(input);
  const tests = (input.filters ?? []).map((filter) => rowTest(filter, listFields));
  const words = input.query && input.query !== "*" ? [input.query] : [];
  if (words.length > 0) {
    tests.push(rowTest({ field: "name", values: words, condition: "CONTAIN" }, listFields));
  }
  const { entities } = await viewer.catalog.listUrns(TYPE, { start: 0, count: sourcesMax });
  const sources = await Promise.all(entities.map((urn) => sourceOf(urn, viewer)));
  const found = sources
    .filter((one) => one !== undefined)
    .filter((one) => tests.every((test) => test(one)))
    .sort(rowOrder(input.sort, listFields));
  const page = found.slice(start, start + count);
  return { start, count: page.length, total: found.length, ingestionSources: page };
}

/** The execution requests of a source, latest first. */
async function requestsOf(
  { urn }: Pick<Source, "urn">,
  viewer: Viewer,
): Promise<readonly LoadedEntity[]> {
  const query = { urn, relationship: "ingestionSource", count: sourcesMax };
  const urns = await incomingUrns(query, viewer);
  const requests = await Promise.all(urns.map((one) => viewer.loader.load(one)));
  const requestedAt = ({ aspect }: LoadedEntity) =>
    Number(aspect("dataHubExecutionRequestInput")?.requestedAt ?? 0);
  return requests
    .filter(({ aspect }) => aspect("dataHubExecutionRequestInput") !== undefined)
    .sort((a, b) => requestedAt(b) - requestedAt(a));
}

async function executions(source: Source, asked: PageInput, viewer: Viewer) {
  const count = Math.min(asked.count ?? 10, executionsMax);
  const { page, ...counts } = pageIn(await requestsOf(source, viewer), { ...asked, count });
  return { ...counts, executionRequests: page.map(({ urn }) => entityOf(urn)) };
}

async function latestSuccessfulExecution(source: Source, _: never, viewer: Viewer) {
  const successful = (await requestsOf(source, viewer)).find(
    ({ aspect }) => aspect("dataHubExecutionRequestResult")?.status === "SUCCESS",
  );
  return successful && entityOf(successful.urn);
}

interface SourceInput {
  readonly name: string;
  readonly type: string;
  readonly schedule?: Maybe<{ readonly timezone: string }>;
  readonly source?: Maybe<object>;
  readonly config: Readonly<Record<string, unknown>> & {
    readonly extraArgs?: Maybe<readonly { key: string; value?: Maybe<string> }[]>;
  };
}

async function put(urn: string, input: SourceInput, viewer: Viewer) {
  const { name, type, schedule, source, config } = input;
  const given = Object.entries(config).filter(([, value]) => value !== null);
  const extraArgs = (config.extraArgs ?? []).map(({ key, value }) => [key, value ?? ""]);
  const value = {
    name,
    type,
    config: { ...Object.fromEntries(given), extraArgs: Object.fromEntries(extraArgs) },
    ...(schedule && { schedule }),
    ...(source && { source }),
  };
  await write([proposalOf(urn, INFO, value)], viewer);
  return urn;
}

export const sourceQueries = {
  listIngestionSources,
  async ingestionSource({ urn }: { urn: string }, viewer: Viewer) {
    return (await sourceOf(urnOf(urn, [TYPE], viewer), viewer)) ?? null;
  },
};

async function sourceOfRequest({ urn }: EntitySource, _: never, viewer: Viewer) {
  const { aspect } = await viewer.loader.load(urn);
  const source = memberAt(aspect("dataHubExecutionRequestInput"), ["source", "ingestionSource"]);
  return typeof source === "string" ? sourceOf(source, viewer) : null;
}

export const sourceFields = {
  IngestionSource: { executions, latestSuccessfulExecution },
  ExecutionRequest: { source: sourceOfRequest },
};

export const sourceMutations = {
  createIngestionSource: ({ input }: InputArgs<SourceInput>, viewer: Viewer) =>
    put(`urn:${viewer.namespace}:${TYPE}:${randomUUID()}`, input, viewer),

  updateIngestionSource: ({ urn, input }: UpdateArgs<SourceInput>, viewer: Viewer) =>
    put(urnOf(urn, [TYPE], viewer), input, viewer),

  deleteIngestionSource: deleting([TYPE], { answer: "urn" }),

  async rollbackIngestion(
    { input: { runId } }: InputArgs<{ runId: string }>,
    { catalog, actor, wrote, loader }: Viewer,
  ) {
    const request = { runId, dryRun: false, hardDelete: false };
    const { position } = await catalog.rollbackRun(request, { actor });
    wrote(position);
    loader.clear();
    return runId;
  },
};
