/** /aspects: proposals go in; single aspects and timeseries come out. */
import { type Proposal, proposalsMax, type TimeseriesQuery } from "../../../catalog/catalog.ts";
import { asOfParameters } from "../../request/as-of-parameters.ts";
import { eachOf, openSystemMetadata } from "../../request/body/system-metadata.ts";
import { withConditions } from "../../request/condition-headers.ts";
import {
  type ApiResponse,
  actionOf,
  type Endpoint,
  flag,
  integer,
  objectWith,
  type Resource,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";
import { untilFound } from "../../schemas/search-sync.ts";

export const aspectsResource: Resource = {
  name: "aspects",
  implementation: "entity.AspectResource",
  about: "Write aspects as proposals; read single aspects and timeseries.",
};

const SUCCESS = '{"value":"success"}';

const ingestProposal: Endpoint = {
  ...actionOf("/aspects"),
  name: "ingestProposal",
  body: objectWith(["proposal"], { proposal: schemas.proposal, async: schemas.asyncSwitch }),
  prepare: (body) => openSystemMetadata(body.proposal),
  writes: true,
  conditional: true,
  proposals: ({ body }) => [(body as { proposal: Proposal }).proposal],
  async handle(request, { catalog }) {
    const [proposal] = request.proposals ?? [(request.body as { proposal: Proposal }).proposal];
    const conditioned = [withConditions(proposal as Proposal, request.conditions)];
    const written = await catalog.ingest(conditioned, request.caller);
    await untilFound(conditioned, written, catalog);
    return success(written);
  },
};

const ingestProposalBatch: Endpoint = {
  ...actionOf("/aspects"),
  name: "ingestProposalBatch",
  body: objectWith(["proposals"], {
    proposals: { type: "array", items: schemas.proposal, maxItems: proposalsMax },
    async: schemas.asyncSwitch,
  }),
  prepare: (body) => eachOf(body.proposals, openSystemMetadata),
  writes: true,
  conditional: true,
  proposals: ({ body }) => (body as { proposals: readonly Proposal[] }).proposals,
  async handle(request, { catalog }) {
    const proposals =
      request.proposals ?? (request.body as { proposals: readonly Proposal[] }).proposals;
    const { conditions } = request;
    const conditioned =
      conditions === undefined
        ? proposals
        : proposals.map((proposal) => withConditions(proposal, conditions));
    const written = await catalog.ingest(conditioned, request.caller);
    await untilFound(conditioned, written, catalog);
    return success(written);
  },
};

const getTimeseriesAspectValues: Endpoint = {
  ...actionOf("/aspects"),
  name: "getTimeseriesAspectValues",
  parameters: asOfParameters,
  body: objectWith(["urn", "entity", "aspect"], {
    urn: schemas.urn,
    entity: text("Type of the entity"),
    aspect: text("Name of the timeseries aspect"),
    ...schemas.timeRange,
    limit: integer("10,000 when absent or negative, which is the maximum"),
    latestValue: flag("Return only the latest value: the same as `limit` 1"),
    filter: schemas.filter,
    sort: schemas.sort,
  }),
  reads: "timeseries",
  handle: (request, { catalog }) => catalog.getTimeseriesValues(request.body as TimeseriesQuery),
};

const getCount: Endpoint = {
  ...actionOf("/aspects"),
  name: "getCount",
  body: objectWith(["aspect"], {
    aspect: text("Name of the aspect"),
    urnLike: text("Only urns that are LIKE this pattern: `%` is any text, `_` one character"),
  }),
  reads: "entities",
  async handle(request, { catalog }) {
    const { aspect, urnLike } = request.body as { aspect: string; urnLike?: string };
    return valueResponse(await catalog.countAspect(aspect, urnLike));
  },
};

const getAspect: Endpoint = {
  method: "GET",
  kind: "get",
  path: "/aspects/{urn}",
  name: "getAspect",
  parameters: [
    inPath("urn", "The entity"),
    query.string("aspect", "Name of a versioned aspect", { required: true }),
    query.long(
      "version",
      "0 or absent: the latest. n: the n-th value. −k: the k-th before the latest",
    ),
    ...asOfParameters,
  ],
  missing: true,
  reads: "entities",
  handle(request, { catalog }) {
    const { aspect, version = 0 } = request.parameters as { aspect: string; version?: number };
    return catalog.getAspect(request.key, aspect, version);
  },
};

export const aspectRoutes: readonly Endpoint[] = [
  ingestProposal,
  ingestProposalBatch,
  getTimeseriesAspectValues,
  getCount,
  getAspect,
];

const success = ({ position }: Pick<ApiResponse, "position">): ApiResponse => ({
  json: SUCCESS,
  position,
});
