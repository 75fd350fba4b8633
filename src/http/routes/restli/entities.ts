/** /entities: snapshots in the older form; existence, counts and deletion of entities. */
import { proposalsMax, type SnapshotProposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { asOfErrors, asOfParameters } from "../../request/as-of-parameters.ts";
import { openSystemMetadata } from "../../request/body/system-metadata.ts";
import { namesIn } from "../../request/parameters.ts";
import {
  type ApiResponse,
  complete,
  type Endpoint,
  objectWith,
  type Resource,
  type Schema,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";
import { writeErrors } from "./write-errors.ts";

export const entitiesResource: Resource = {
  name: "entities",
  implementation: "entity.EntityResource",
  about: "Write and read whole entities as snapshots, check whether they exist, and delete them.",
};

/** Longest page; a larger `count` is reduced to it, as the response's `count` shows. */
const listCountMax = 10_000;

/** Maximum number of urns or types of one request. */
const namesMax = 10_000;
const tooMany = { code: "too_large", when: `there are more than ${namesMax}` } as const;

const aspects = query.strings(
  "aspects",
  "Only these aspects: `List(ownership,status)`. All when absent",
);

const snapshotSchema: Schema = complete({
  value: {
    type: "object",
    description: "`{<snapshot record>: {urn, aspects: [{<aspect record>: {…}}, …]}}`",
  },
});

const readErrors = [
  { code: "malformed", when: "a urn does not parse" },
  { code: "not_found", when: "the entity type is unknown, or has no snapshot" },
  ...asOfErrors,
] as const;

const ingest: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "ingest",
  summary: "Write an entity's aspects as a snapshot",
  about: "All aspects of the snapshot are written at once, or none.",
  deprecated: "Use `POST /aspects?action=ingestProposal`.",
  body: objectWith(["entity"], {
    entity: schemas.snapshotEntity,
    systemMetadata: schemas.systemMetadata,
  }),
  prepare: openSystemMetadata,
  writes: true,
  errors: writeErrors,
  proposals: ({ body }, expand) => expand(snapshotOf(body)),
  handle: async (apiRequest, { catalog }) =>
    written(
      apiRequest.proposals === undefined
        ? await catalog.ingestSnapshots(snapshotOf(apiRequest.body), apiRequest.caller)
        : await catalog.ingest(apiRequest.proposals, apiRequest.caller),
    ),
};

const batchIngest: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "batchIngest",
  summary: "Write many entities as snapshots",
  about: `Writes all snapshots or none. The error names the index of a rejected snapshot. At most ${proposalsMax} aspects in total.`,
  deprecated: "Use `POST /aspects?action=ingestProposalBatch`.",
  body: objectWith(["entities"], {
    entities: { type: "array", items: schemas.snapshotEntity, maxItems: proposalsMax },
    systemMetadata: {
      type: "array",
      items: schemas.systemMetadata,
      maxItems: proposalsMax,
      description: "System metadata of each entity, or an empty list",
    },
  }),
  prepare: openSystemMetadata,
  writes: true,
  errors: [
    ...writeErrors,
    { code: "mismatched", when: "system metadata is given for more or fewer entities" },
  ],
  proposals: ({ body }, expand) => expand(snapshotsOf(body)),
  handle: async (apiRequest, { catalog }) =>
    written(
      apiRequest.proposals === undefined
        ? await catalog.ingestSnapshots(snapshotsOf(apiRequest.body), apiRequest.caller)
        : await catalog.ingest(apiRequest.proposals, apiRequest.caller),
    ),
};

function snapshotOf(body: unknown): readonly SnapshotProposal[] {
  const { entity, systemMetadata } = body as {
    entity: SnapshotProposal;
    systemMetadata?: SnapshotProposal["systemMetadata"];
  };
  return [{ value: entity.value, systemMetadata }];
}

/** Throws `mismatched`. */
function snapshotsOf(body: unknown): readonly SnapshotProposal[] {
  const { entities, systemMetadata } = body as {
    entities: readonly SnapshotProposal[];
    systemMetadata?: readonly SnapshotProposal["systemMetadata"][];
  };
  if (systemMetadata !== undefined && systemMetadata.length !== entities.length) {
    throw new CatalogError(
      "mismatched",
      `systemMetadata has ${systemMetadata.length} members for ${entities.length} entities`,
      { hint: "Send system metadata for each entity in the same order, or none" },
    );
  }
  return entities.map((entity, i) => ({
    value: entity.value,
    systemMetadata: systemMetadata?.[i],
  }));
}

const includeSoftDelete: Schema = {
  type: "boolean",
  description: "Include soft-deleted entities; true when absent",
};

const exists: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "exists",
  summary: "Check whether an entity exists",
  parameters: asOfParameters,
  body: objectWith(["urn"], { urn: schemas.urn, includeSoftDelete }),
  response: valueSchema({ type: "boolean" }),
  reads: "entities",
  errors: [{ code: "malformed", when: "the urn is missing or does not parse" }, ...asOfErrors],
  async handle(apiRequest, { catalog }) {
    const { urn, includeSoftDelete = true } = apiRequest.body as {
      urn: string;
      includeSoftDelete?: boolean;
    };
    return valueResponse(await catalog.exists(urn, { includeSoftDelete }));
  },
};

const filterExistingUrns: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "filterExistingUrns",
  summary: "Check which of several entities exist",
  parameters: asOfParameters,
  body: complete({
    request: objectWith(["urns"], {
      urns: { type: "array", items: schemas.urn, maxItems: namesMax },
      includeSoftDelete,
    }),
  }),
  response: valueSchema({ type: "array", items: schemas.urn }),
  reads: "entities",
  errors: [{ code: "malformed", when: "a urn does not parse" }, tooMany, ...asOfErrors],
  async handle(apiRequest, { catalog }) {
    const { request } = apiRequest.body as {
      request: { urns: readonly string[]; includeSoftDelete?: boolean };
    };
    const { urns, includeSoftDelete = true } = request;
    return valueResponse(await catalog.filterExisting(urns, { includeSoftDelete }));
  },
};

const listUrns: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "listUrns",
  summary: "List the entities of a type",
  about: "Sorted by urn.",
  body: complete({
    entity: { type: "string", description: "Type of the entities" },
    start: { type: "integer", minimum: 0, description: "Number of entities to skip" },
    count: {
      type: "integer",
      minimum: 0,
      description: `How many to list; at most ${listCountMax}`,
    },
  }),
  response: valueSchema(schemas.urnPage("Number of urns on this page")),
  reads: "entities",
  errors: [
    { code: "malformed", when: "a parameter is missing, or `start` or `count` is negative" },
    { code: "invalid", when: "the entity type is unknown" },
  ],
  async handle(apiRequest, { catalog }) {
    const { entity, start, count } = apiRequest.body as {
      entity: string;
      start: number;
      count: number;
    };
    const page = {
      start: Math.min(start, Number.MAX_SAFE_INTEGER),
      count: Math.min(count, listCountMax),
    };
    return valueResponse(await catalog.listUrns(entity, page));
  },
};

const getTotalEntityCount: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "getTotalEntityCount",
  summary: "Count the entities of a type",
  body: complete({ entity: { type: "string", description: "Type of the entities" } }),
  response: valueSchema({ type: "integer" }),
  reads: "entities",
  errors: [{ code: "invalid", when: "the entity type is unknown" }],
  async handle(apiRequest, { catalog }) {
    const { entity } = apiRequest.body as { entity: string };
    const counts = await catalog.countEntities([entity]);
    return valueResponse(Object.values(counts)[0] ?? 0);
  },
};

const batchGetTotalEntityCount: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "batchGetTotalEntityCount",
  summary: "Count the entities of several types",
  body: complete({
    entities: {
      type: "array",
      items: { type: "string" },
      maxItems: namesMax,
      description: "Entity types",
    },
  }),
  response: valueSchema({ type: "object", additionalProperties: { type: "integer" } }),
  reads: "entities",
  errors: [{ code: "invalid", when: "an entity type is unknown" }, tooMany],
  async handle(apiRequest, { catalog }) {
    const { entities } = apiRequest.body as { entities: readonly string[] };
    return valueResponse(await catalog.countEntities(entities));
  },
};

const getSnapshot: Endpoint = {
  method: "GET",
  kind: "get",
  path: "/entities/{urn}",
  name: "getSnapshot",
  summary: "Read an entity as a snapshot",
  about: "An entity that does not exist has only its key aspect.",
  deprecated: "Use `GET /entitiesV2/{urn}`.",
  parameters: [
    { name: "urn", in: "path", type: "string", required: true, about: "The entity" },
    aspects,
    ...asOfParameters,
  ],
  response: snapshotSchema,
  reads: "entities",
  errors: readErrors,
  handle: (apiRequest, { catalog }) =>
    catalog.getSnapshot(apiRequest.key, wanted(apiRequest.parameters)),
};

const getSnapshots: Endpoint = {
  method: "GET",
  kind: "batch_get",
  path: "/entities",
  name: "getSnapshots",
  summary: "Read several entities as snapshots",
  deprecated: "Use `GET /entitiesV2?ids=…`.",
  parameters: [
    query.strings("ids", "`List(<urn>,<urn>)`", { required: true }),
    aspects,
    ...asOfParameters,
  ],
  response: schemas.batchOf(snapshotSchema),
  reads: "entities",
  errors: readErrors,
  handle(apiRequest, { catalog }) {
    const { ids } = apiRequest.parameters as { ids: readonly string[] };
    return catalog.getSnapshots(ids, wanted(apiRequest.parameters));
  },
};

export const entityRoutes: readonly Endpoint[] = [
  ingest,
  batchIngest,
  exists,
  filterExistingUrns,
  listUrns,
  getTotalEntityCount,
  batchGetTotalEntityCount,
  getSnapshot,
  getSnapshots,
];

const written = ({ position }: Pick<ApiResponse, "position">): ApiResponse => ({ position });

function wanted(parameters: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const { aspects } = parameters as { aspects?: readonly string[] };
  return aspects && namesIn(aspects);
}
