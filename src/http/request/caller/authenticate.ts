/**
 * Authenticates the bearer token of a request before anything else of it is read. It depends on the
 * endpoint that the router found, never on the path. A sent token is checked on every route except
 * open ones.
 */
import type { IncomingMessage } from "node:http";
import type { Authority } from "../../../auth/policies/authority.ts";
import { alternativesText, type PrivilegeAlternatives } from "../../../auth/policies/privileges.ts";
import type { RequestLimit } from "../../../auth/rate-limits.ts";
import type { Authentication } from "../../../auth/tokens/authentication.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import type { RequestState } from "../parse-request.ts";

export interface Access {
  readonly authentication: Authentication;
  readonly authority: Authority;
  /** True when an Authorization header carries the token for /metrics; absent without one. */
  readonly admitsMetrics?: ((authorization: string | undefined) => boolean) | undefined;
  /** Absent: no limit on requests. */
  readonly limit?: RequestLimit | undefined;
}

/**
 * Urn of the token's user, synchronously when cached; undefined without a token. Throws
 * `unauthenticated`, `forbidden` and `rate_limited`. Unknown paths need a token, too.
 */
export function identify(
  request: IncomingMessage,
  endpoint: Endpoint | undefined,
  access: Access | undefined,
): Promise<string | undefined> | string | undefined {
  if (access === undefined) return undefined;
  const found = whoAsks(request, endpoint, access);
  const { limit } = access;
  // Health checks are not limited.
  if (limit === undefined || endpoint?.path.startsWith("/health") === true) return found;
  const counted = (actor: string | undefined): string | undefined => {
    limit.take({ actor, address: addressOf(request) });
    return actor;
  };
  return found instanceof Promise ? found.then(counted) : counted(found);
}

function whoAsks(
  request: IncomingMessage,
  endpoint: Endpoint | undefined,
  access: Access,
): Promise<string | undefined> | string | undefined {
  const { authentication } = access;
  const { authorization } = request.headers;
  if (authorization === undefined) {
    const needed = authentication.required && endpoint?.open !== true;
    if (endpoint?.access === "system") throw credentialsNeeded();
    if (needed || requiredPrivileges(endpoint, authentication.required) !== undefined)
      throw tokenNeeded();
    return undefined;
  }
  rejectTwice(request.rawHeaders);
  if (endpoint?.path === "/metrics" && access.admitsMetrics?.(authorization)) return undefined;
  const known =
    endpoint?.access !== "system" &&
    requiredPrivileges(endpoint, authentication.required) === undefined
      ? authentication.authenticateNow({
          authorization,
          address: addressOf(request),
          connection: request.socket,
        })
      : undefined;
  if (known !== undefined) return known;
  const subject = admitted(request, authorization, endpoint, access);
  return endpoint?.open === true ? subject.catch(unlessUnknown) : subject;
}

const unknownTokens: ReadonlySet<string> = new Set(["unauthenticated", "rate_limited"]);

/** Open endpoints also accept requests with an invalid or expired token. */
function unlessUnknown(error: unknown): undefined {
  if (error instanceof CatalogError && unknownTokens.has(error.code)) return undefined;
  throw error;
}

async function admitted(
  request: IncomingMessage,
  authorization: string,
  endpoint: Endpoint | undefined,
  { authentication, authority }: Access,
): Promise<string | undefined> {
  const address = addressOf(request);
  const actor = await authentication.authenticate({ authorization, address });
  if (endpoint?.access === "system") {
    if (actor === undefined) throw credentialsNeeded();
    if (authentication.isSystem(authorization)) return actor;
    authentication.noteRejection({ reason: "system client", actor, address });
    throw new CatalogError("forbidden", "only the system client may do this", {
      hint: systemHint,
      actor,
    });
  }
  const alternatives = requiredPrivileges(endpoint, authentication.required);
  if (alternatives === undefined) return actor;
  if (actor === undefined) throw tokenNeeded();
  if (await authority.allows(actor, alternatives)) return actor;
  authentication.noteRejection({ reason: "privilege", actor, address, privileges: alternatives });
  throw new CatalogError("forbidden", `User is unauthorized: "${actor}" may not do this`, {
    hint: `It needs the privilege ${alternativesText(alternatives)}`,
    actor,
  });
}

/** Errors that the request itself caused. */
const ownFaults: ReadonlySet<string> = new Set([
  ...["malformed", "invalid", "conflict", "not_found", "gone", "too_large"],
]);

/** The error that hides all others from an anonymous caller of a `closedToNew` endpoint. */
export function rejectionFor(
  rejection: CatalogError,
  { endpoint, subject }: Pick<RequestState, "endpoint" | "subject">,
  access: Pick<Access, "authentication"> | undefined,
): CatalogError {
  const closed = endpoint?.closedToNew === true && access?.authentication.required === true;
  const unknown = closed && subject === undefined && ownFaults.has(rejection.code);
  return unknown ? tokenNeeded() : rejection;
}

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? "";

const tokenNeeded = (): CatalogError =>
  new CatalogError("unauthenticated", "the request requires a bearer token", {
    hint: "Send Authorization: Bearer <token>; the root user's first one is in the file operator.token of the data directory",
  });

const systemHint =
  "Send Authorization: Basic <id>:<secret>, as the file system.client of the data directory has them";

const credentialsNeeded = (): CatalogError =>
  new CatalogError("unauthenticated", "this needs the credentials of the system client", {
    hint: systemHint,
  });

const LENGTH = "authorization".length;

/** Node keeps the first of several headers; a proxy may have used another. */
function rejectTwice(rawHeaders: readonly string[]): void {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === LENGTH && name.toLowerCase() === "authorization") count++;
  }
  if (count < 2) return;
  throw new CatalogError("malformed", "header Authorization is given twice", {
    hint: "Give it once",
  });
}

const ofOperations: PrivilegeAlternatives = [["MANAGE_SYSTEM_OPERATIONS"]];

const ownOrAll = (own: PrivilegeAlternatives): PrivilegeAlternatives => [...own, ...ofOperations];

const restoring = ownOrAll([["RESTORE_INDICES_PRIVILEGE"]]);
const ofTasks = ownOrAll([["GET_ES_TASK_STATUS_PRIVILEGE"]]);
const ofSizes = ownOrAll([["GET_TIMESERIES_INDEX_SIZES_PRIVILEGE"]]);
const ofSearch = "/openapi/operations/elasticSearch";

/** By path and name of the endpoint. */
const alternativesBy: Readonly<Record<string, PrivilegeAlternatives>> = {
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

/**
 * The privileges that an endpoint requires; undefined for none. Endpoints with `access: "operator"` always
 * require one, those with "watcher" only with token authentication (`required`). The default is the
 * privilege for all operations.
 */
function requiredPrivileges(
  endpoint: Pick<Endpoint, "access" | "path" | "name"> | undefined,
  required: boolean,
): PrivilegeAlternatives | undefined {
  const access = endpoint?.access;
  if (endpoint === undefined || access === undefined || access === "system") return undefined;
  if (access === "watcher" && !required) return undefined;
  return alternativesBy[`${endpoint.path} ${endpoint.name}`] ?? ofOperations;
}
