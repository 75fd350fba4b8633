/** /entities: snapshots in the older form; existence, counts and deletion of entities. */
import { proposalsMax, type SnapshotProposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { asOfParameters } from "../../request/as-of-parameters.ts";
import { openSystemMetadata } from "../../request/body/system-metadata.ts";
import { namesIn } from "../../request/parameters.ts";
import {
  type ApiResponse,
  actionOf,
  complete,
  type Endpoint,
  flag,
  objectWith,
  type Resource,
  type Schema,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";

export const entitiesResource: Resource = {
  name: "entities",
  implementation: "entity.EntityResource",
  about: "Write and read whole entities as snapshots, check whether they exist, and delete them.",
};

/** Longest page; a larger `count` is reduced to it, as the response's `count` shows. */
const listCountMax = 10_000;

/** Maximum number of urns or types of one request. */
const namesMax = 10_000;
const aspects = query.strings(
  "aspects",
  "Only these aspects: `List(ownership,status)`. All when absent",
);

const ingest: Endpoint = {
  ...actionOf("/entities"),
  name: "ingest",
  body: objectWith(["entity"], {
    entity: schemas.snapshotEntity,
    systemMetadata: schemas.systemMetadata,
  }),
  prepare: openSystemMetadata,
  writes: true,
  proposals: ({ body }, expand) => expand(snapshotOf(body)),
  handle: async (apiRequest, { catalog }) =>
    written(
      await catalog.ingest(
        apiRequest.proposals ?? catalog.proposalsOf(snapshotOf(apiRequest.body)),
        apiRequest.caller,
      ),
    ),
};

const batchIngest: Endpoint = {
  ...actionOf("/entities"),
  name: "batchIngest",
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
  proposals: ({ body }, expand) => expand(snapshotsOf(body)),
  handle: async (apiRequest, { catalog }) =>
    written(
      await catalog.ingest(
        apiRequest.proposals ?? catalog.proposalsOf(snapshotsOf(apiRequest.body)),
        apiRequest.caller,
      ),
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

const includeSoftDelete: Schema = flag("Include soft-deleted entities; true when absent");

const exists: Endpoint = {
  ...actionOf("/entities"),
  name: "exists",
  parameters: asOfParameters,
  body: objectWith(["urn"], { urn: schemas.urn, includeSoftDelete }),
  reads: "entities",
  async handle(apiRequest, { catalog }) {
    const { urn, includeSoftDelete = true } = apiRequest.body as {
      urn: string;
      includeSoftDelete?: boolean;
    };
    return valueResponse(await catalog.exists(urn, { includeSoftDelete }));
  },
};

const filterExistingUrns: Endpoint = {
  ...actionOf("/entities"),
  name: "filterExistingUrns",
  parameters: asOfParameters,
  body: complete({
    request: objectWith(["urns"], {
      urns: { type: "array", items: schemas.urn, maxItems: namesMax },
      includeSoftDelete,
    }),
  }),
  reads: "entities",
  async handle(apiRequest, { catalog }) {
    const { request } = apiRequest.body as {
      request: { urns: readonly string[]; includeSoftDelete?: boolean };
    };
    const { urns, includeSoftDelete = true } = request;
    return valueResponse(await catalog.filterExisting(urns, { includeSoftDelete }));
  },
};

const listUrns: Endpoint = {
  ...actionOf("/entities"),
  name: "listUrns",
  body: complete({
    entity: text("Type of the entities"),
    start: { type: "integer", minimum: 0, description: "Number of entities to skip" },
    count: {
      type: "integer",
      minimum: 0,
      description: `How many to list; at most ${listCountMax}`,
    },
  }),
  reads: "entities",
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
  ...actionOf("/entities"),
  name: "getTotalEntityCount",
  body: complete({ entity: text("Type of the entities") }),
  reads: "entities",
  async handle(apiRequest, { catalog }) {
    const { entity } = apiRequest.body as { entity: string };
    const counts = await catalog.countEntities([entity]);
    return valueResponse(Object.values(counts)[0] ?? 0);
  },
};

const batchGetTotalEntityCount: Endpoint = {
  ...actionOf("/entities"),
  name: "batchGetTotalEntityCount",
  body: complete({
    entities: {
      type: "array",
      items: { type: "string" },
      maxItems: namesMax,
      description: "Entity types",
    },
  }),
  reads: "entities",
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
  parameters: [inPath("urn", "The entity"), aspects, ...asOfParameters],
  reads: "entities",
  handle: (apiRequest, { catalog }) =>
    catalog.getSnapshot(apiRequest.key, wanted(apiRequest.parameters)),
};

const getSnapshots: Endpoint = {
  method: "GET",
  kind: "batch_get",
  path: "/entities",
  name: "getSnapshots",
  parameters: [
    query.strings("ids", "`List(<urn>,<urn>)`", { required: true }),
    aspects,
    ...asOfParameters,
  ],
  reads: "entities",
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
