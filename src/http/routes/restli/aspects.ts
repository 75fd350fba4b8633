/** /aspects: proposals go in; single aspects and timeseries come out. */
import { type Proposal, proposalsMax, type TimeseriesQuery } from "../../../catalog/catalog.ts";
import { asOfErrors, asOfParameters } from "../../request/as-of-parameters.ts";
import { eachOf, openSystemMetadata } from "../../request/body/system-metadata.ts";
import { withConditions } from "../../request/condition-headers.ts";
import {
  type ApiResponse,
  complete,
  type Endpoint,
  objectWith,
  type Resource,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";
import { untilFound } from "../../schemas/search-sync.ts";
import { nothingToDelete, writeErrors } from "./write-errors.ts";

export const aspectsResource: Resource = {
  name: "aspects",
  implementation: "entity.AspectResource",
  about: "Write aspects as proposals; read single aspects and timeseries.",
};

const SUCCESS = '{"value":"success"}';

const ingestProposal: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/aspects",
  name: "ingestProposal",
  summary: "Write one aspect",
  about:
    "The response comes after the change is durable in the log. The first write of an entity also writes its key aspect and default aspects. A timeseries aspect supports UPSERT only; each value is one event. `If-Version-Match`, `If-Modified-Since`, `If-Unmodified-Since` and (with CREATE and CREATE_ENTITY) `If-None-Match: *` are conditions on the current aspect. They are read from the headers of the request and from `proposal.headers`, which takes precedence. `X-DataHub-Sync-Index-Update: true` in `proposal.headers` delays the response until searches show the write.",
  body: objectWith(["proposal"], { proposal: schemas.proposal, async: schemas.asyncSwitch }),
  prepare: (body) => openSystemMetadata(body.proposal),
  response: valueSchema({ enum: ["success"] }),
  writes: true,
  conditional: true,
  errors: [...writeErrors, nothingToDelete],
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
  method: "POST",
  kind: "action",
  path: "/aspects",
  name: "ingestProposalBatch",
  summary: "Write many aspects",
  about:
    "All proposals are written, or none. The error of an invalid proposal names its index. Conditions in headers of the request apply to each proposal without conditions of its own.",
  body: objectWith(["proposals"], {
    proposals: { type: "array", items: schemas.proposal, maxItems: proposalsMax },
    async: schemas.asyncSwitch,
  }),
  prepare: (body) => eachOf(body.proposals, openSystemMetadata),
  response: valueSchema({ enum: ["success"] }),
  writes: true,
  conditional: true,
  errors: [...writeErrors, nothingToDelete],
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
  method: "POST",
  kind: "action",
  path: "/aspects",
  name: "getTimeseriesAspectValues",
  summary: "Read a timeseries aspect",
  about: "Latest first, both ends of the range inclusive.",
  parameters: asOfParameters,
  body: objectWith(["urn", "entity", "aspect"], {
    urn: schemas.urn,
    entity: { type: "string", description: "Type of the entity" },
    aspect: { type: "string", description: "Name of the timeseries aspect" },
    ...schemas.timeRange,
    limit: {
      type: "integer",
      description: "10,000 when absent or negative, which is the maximum",
    },
    latestValue: {
      type: "boolean",
      description: "Return only the latest value: the same as `limit` 1",
    },
    filter: schemas.filter,
    sort: schemas.sort,
  }),
  response: valueSchema(schemas.timeseriesValues),
  reads: "timeseries",
  errors: [
    {
      code: "malformed",
      when: "a parameter is missing or of the wrong type, or a filter names a field that the aspect does not have",
    },
    {
      code: "invalid",
      when: "the entity type or the aspect is unknown, or is not a timeseries aspect",
    },
    ...asOfErrors,
  ],
  handle: (request, { catalog }) => catalog.getTimeseriesValues(request.body as TimeseriesQuery),
};

const getCount: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/aspects",
  name: "getCount",
  summary: "Count the entities that have an aspect",
  body: objectWith(["aspect"], {
    aspect: { type: "string", description: "Name of the aspect" },
    urnLike: {
      type: "string",
      description: "Only urns that are LIKE this pattern: `%` is any text, `_` one character",
    },
  }),
  response: valueSchema({ type: "integer" }),
  reads: "entities",
  errors: [{ code: "malformed", when: "`aspect` is missing" }],
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
  summary: "Read one aspect in one version",
  parameters: [
    { name: "urn", in: "path", type: "string", required: true, about: "The entity" },
    query.string("aspect", "Name of a versioned aspect", { required: true }),
    query.long(
      "version",
      "0 or absent: the latest. n: the n-th value. −k: the k-th before the latest",
    ),
    ...asOfParameters,
  ],
  response: complete({
    version: { type: "integer" },
    aspect: { type: "object", description: "`{<aspect record>: {…}}`" },
  }),
  missing: true,
  reads: "entities",
  errors: [
    {
      code: "malformed",
      when: "`aspect` is missing, `version` is not an integer, or the urn does not parse",
    },
    { code: "not_found", when: "the entity has no such aspect, or the aspect no such version" },
    ...asOfErrors,
  ],
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
