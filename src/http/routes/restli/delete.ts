/**
 * /entities: deletes an entity, events of its timeseries, references to it, and all that was written
 * with a model registry.
 */
import { CatalogError } from "../../../core/errors.ts";
import {
  actionOf,
  type Endpoint,
  flag,
  objectWith,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import { rolledBack } from "./runs.ts";

const deleteEntity: Endpoint = {
  ...actionOf("/entities"),
  name: "delete",
  body: objectWith(["urn"], {
    urn: schemas.urn,
    aspectName: text("Name of a timeseries aspect"),
    ...schemas.timeRange,
    dryRun: flag("Only count what would be deleted"),
  }),
  writes: true,
  async handle(apiRequest, { catalog }) {
    const request = apiRequest.body as { urn: string };
    const { position, ...deleted } = await catalog.delete(request, apiRequest.caller);
    return valueResponse(deleted, position);
  },
};

const deleteReferences: Endpoint = {
  ...actionOf("/entities"),
  name: "deleteReferences",
  body: objectWith(["urn"], {
    urn: schemas.urn,
    dryRun: flag("Only count the references"),
  }),
  writes: true,
  async handle(apiRequest, { catalog }) {
    const request = apiRequest.body as { urn: string; dryRun?: boolean };
    const { position, ...found } = await catalog.deleteReferences(request, apiRequest.caller);
    return valueResponse(found, position);
  },
};

const deleteAll: Endpoint = {
  method: "POST",
  kind: "action",
  access: "watcher",
  path: "/entities",
  name: "deleteAll",
  body: objectWith(["registryId"], {
    registryId: text("`<name>:<version>`"),
    dryRun: flag("Only count the changes. False when absent"),
    soft: flag(
      "Hide entities that came into being with it instead of deleting them. True when absent",
    ),
  }),
  writes: true,
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
