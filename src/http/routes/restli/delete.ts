/**
 * /entities: deletes an entity, events of its timeseries, references to it, and all that was written
 * with a model registry.
 */
import { CatalogError } from "../../../core/errors.ts";
import {
  complete,
  type Endpoint,
  objectWith,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import { rollbackSchema, rolledBack } from "./runs.ts";
import { writeErrors } from "./write-errors.ts";

const deleteEntity: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "delete",
  summary: "Delete an entity, or events of its timeseries",
  about:
    "Without `aspectName` the entity goes with all its aspects and timeseries. With the name of a timeseries aspect its events in the range go. To hide an entity and keep it, write `status` with `removed: true`.",
  body: objectWith(["urn"], {
    urn: schemas.urn,
    aspectName: { type: "string", description: "Name of a timeseries aspect" },
    ...schemas.timeRange,
    dryRun: { type: "boolean", description: "Only count what would be deleted" },
  }),
  response: valueSchema(
    objectWith(["urn"], {
      urn: schemas.urn,
      rows: { type: "integer", description: "Values of versioned aspects" },
      timeseriesRows: { type: "integer", description: "Events of timeseries aspects" },
    }),
  ),
  writes: true,
  errors: writeErrors,
  async handle(apiRequest, { catalog }) {
    const request = apiRequest.body as { urn: string };
    const { position, ...deleted } = await catalog.delete(request, apiRequest.caller);
    return { ...valueResponse(deleted), position };
  },
};

const deleteReferences: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "deleteReferences",
  summary: "Remove the references to an entity",
  about:
    "Every aspect that has a relationship to the urn is written without it; one that cannot be without it is deleted. The entity itself stays, and so do entities whose urn holds its urn. Large numbers are done in steps: after a failure, send the request again.",
  body: objectWith(["urn"], {
    urn: schemas.urn,
    dryRun: { type: "boolean", description: "Only count the references" },
  }),
  response: valueSchema(
    complete({
      total: { type: "integer", description: "Number of relationships that were found" },
      relatedAspects: {
        type: "array",
        description: "At most ten of the relationships",
        items: complete({
          entity: schemas.urn,
          aspect: { type: "string", description: "Aspect that contains the reference" },
          relationship: { type: "string", description: "Name of the relationship in the model" },
        }),
      },
    }),
  ),
  writes: true,
  errors: writeErrors,
  async handle(apiRequest, { catalog }) {
    const request = apiRequest.body as { urn: string; dryRun?: boolean };
    const { position, ...found } = await catalog.deleteReferences(request, apiRequest.caller);
    return { ...valueResponse(found), position };
  },
};

const deleteAll: Endpoint = {
  method: "POST",
  kind: "action",
  access: "watcher",
  path: "/entities",
  name: "deleteAll",
  summary: "Roll back all writes with a model registry",
  about:
    "Writes belong to it when `registryName` and `registryVersion` of `systemMetadata` are its name and version. Every entity becomes as if they had not happened, as when a run is rolled back (`/runs?action=rollback`). Later writes with it are not affected.",
  body: objectWith(["registryId"], {
    registryId: { type: "string", description: "`<name>:<version>`" },
    dryRun: { type: "boolean", description: "Only count the changes. False when absent" },
    soft: {
      type: "boolean",
      description:
        "Hide entities that came into being with it instead of deleting them. True when absent",
    },
  }),
  response: rollbackSchema,
  writes: true,
  errors: [
    ...writeErrors.filter(({ code }) => code !== "malformed" && code !== "forbidden"),
    { code: "malformed", when: "registryId is missing, or is not `<name>:<version>`" },
    {
      code: "forbidden",
      when: "the caller may not see all entities, or may not write some of them",
    },
  ],
  handle(apiRequest, context) {
    const {
      registryId,
      dryRun = false,
      soft = true,
    } = apiRequest.body as {
      registryId: string;
      dryRun?: boolean;
      soft?: boolean;
    };
    const [, name, version] = /^(.+):([^:]+)$/s.exec(registryId) ?? [];
    if (name === undefined || version === undefined) {
      throw new CatalogError("malformed", `registryId is "${registryId.slice(0, 120)}"`, {
        hint: "Send <name>:<version>",
      });
    }
    return rolledBack(
      { registry: { name, version }, dryRun, hardDelete: !soft },
      apiRequest,
      context,
    );
  },
};

export const deleteRoutes: readonly Endpoint[] = [deleteEntity, deleteReferences, deleteAll];
