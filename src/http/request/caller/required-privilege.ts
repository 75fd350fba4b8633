/**
 * The privilege that an endpoint requires. Endpoints with `access: "operator"` always require one, those
 * with "watcher" only with token authentication. The default is the privilege for all operations.
 */
import type { Demand } from "../../../auth/policies/privileges.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";

const ofOperations: Demand = [["MANAGE_SYSTEM_OPERATIONS"]];

const ownOrAll = (own: Demand): Demand => [...own, ...ofOperations];

const restoring = ownOrAll([["RESTORE_INDICES_PRIVILEGE"]]);
const ofTasks = ownOrAll([["GET_ES_TASK_STATUS_PRIVILEGE"]]);
const ofSizes = ownOrAll([["GET_TIMESERIES_INDEX_SIZES_PRIVILEGE"]]);
const ofSearch = "/openapi/operations/elasticSearch";

/** By path and name of the endpoint. */
const demands: Readonly<Record<string, Demand>> = {
  "/operations restoreIndices": restoring,
  "/operations getEsTaskStatus": ofTasks,
  "/operations getIndexSizes": ofSizes,
  [`${ofSearch}/restoreIndices openapiRestoreIndices`]: restoring,
  [`${ofSearch}/restoreIndices openapiRestoreIndicesOf`]: restoring,
  [`${ofSearch}/getTaskStatus openapiGetTaskStatus`]: ofTasks,
  [`${ofSearch}/getIndexSizes openapiGetIndexSizes`]: ofSizes,
  // Not View Analytics: a policy for all users (avro/built-in-entities.json) grants that.
  "/openapi/v1/events/audit/search searchAuditEvents": ownOrAll([["GET_ANALYTICS_PRIVILEGE"]]),
  "/runs rollback": ownOrAll([["DELETE_ENTITY"]]),
  "/entities deleteAll": ownOrAll([["DELETE_ENTITY"]]),
  "/operations truncateTimeseriesAspect": [["TRUNCATE_TIMESERIES_INDEX_PRIVILEGE"]],
};

/** Undefined when no privilege is needed. `required`: token authentication is on. */
export function requiredPrivileges(
  endpoint: Pick<Endpoint, "access" | "path" | "name"> | undefined,
  required: boolean,
): Demand | undefined {
  const access = endpoint?.access;
  if (endpoint === undefined || access === undefined || access === "system") return undefined;
  if (access === "watcher" && !required) return undefined;
  return demands[`${endpoint.path} ${endpoint.name}`] ?? ofOperations;
}
