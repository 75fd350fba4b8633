/**
 * Sends submissions to a catalog over HTTP. A request that got no response, or a transient error, is
 * sent again, a bounded number of times. Every write carries an idempotency key, so that a write whose
 * response was lost happens once.
 */
import { randomUUID } from "node:crypto";
import { isTransient, pause, retrying, statusOf } from "../../client/retries.ts";
import { reachMsMax, rejectedToken, requireCatalog } from "./connection.ts";
import { connectionCause, noAnswer } from "./connection-error.ts";
import type { Submission } from "./submission.ts";

export interface CatalogClient {
  /** Throws CatalogError `unavailable` without a response; otherwise as requireCatalog does. */
  check(): Promise<void>;
  /**
   * Sends one or more of one kind in one request: all or none become part of the catalog. Throws
   * CatalogError `unavailable` when tries are used up, `unauthenticated` when the token is rejected or
   * none was sent where one is needed, and the signal's reason when that aborts.
   */
  send(members: readonly Submission[]): Promise<SubmissionResult>;
  /**
   * The reason why the service is not healthy; undefined if it is. A service that responds has
   * `recoveryMsMax` to become healthy, one that does not respond `reachMsMax`.
   */
  healthError(): Promise<string | undefined>;
}

type SubmissionResult =
  /** `position`: where the log holds it. */
  | { readonly accepted: true; readonly position: number }
  | { readonly accepted: false; readonly reason: string };

interface ClientOptions {
  /** Without a slash at the end. */
  readonly server: string;
  /** Access token to send. */
  readonly token?: string | undefined;
  readonly signal: AbortSignal;
  /** Delay before the second try; doubles with each. */
  readonly retryDelayMs?: number | undefined;
  /** Time in which an unhealthy service may recover; default: 10 seconds. */
  readonly recoveryMsMax?: number | undefined;
  /** Called when a request has to be tried again for the first time, with the reason. */
  readonly onWait?: ((reason: string) => void) | undefined;
}

const attemptsMax = 7;
/** A full batch on a slow disk takes seconds. */
const requestMsMax = 120_000;
/** Interval at which the health of an unhealthy service is read. */
const healthPauseMs = 250;

export function createCatalogClient(options: ClientOptions): CatalogClient {
  const { server } = options;
  return {
    async check() {
      const response = await attempt(options, "/config", { method: "GET" }, reachMsMax);
      await requireCatalog(server, response);
    },

    async send(members) {
      const { path, body } = requestFor(members);
      const response = await attempt(options, path, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
      });
      if (response.ok) {
        await response.arrayBuffer(); // Frees the connection.
        return { accepted: true, position: Number(response.headers.get("x-annals-position") ?? 0) };
      }
      const reason = await reasonOf(response);
      // The reason is the token, not these records: no other request can succeed.
      if (response.status === 401) throw rejectedToken(server, reason);
      return { accepted: false, reason };
    },

    async healthError() {
      const { signal, onWait, recoveryMsMax = 10_000 } = options;
      const begun = performance.now();
      for (let isFirst = true; ; isFirst = false) {
        const error = await healthErrorOnce(options);
        if (error === undefined) return undefined;
        const msMax = error.hasResponded ? recoveryMsMax : Math.min(reachMsMax, recoveryMsMax);
        if (performance.now() - begun >= msMax) return error.reason;
        if (isFirst) onWait?.(error.reason);
        await pause(healthPauseMs, signal);
      }
    },
  };
}

/** Undefined where the service is healthy. Throws the signal's reason when that aborts. */
async function healthErrorOnce({ server, token, signal }: ClientOptions) {
  const limit = AbortSignal.timeout(reachMsMax);
  try {
    const response = await fetch(`${server}/health`, {
      headers: authorizationOf(token),
      signal: AbortSignal.any([signal, limit]),
    });
    if (isTransient(response)) return { hasResponded: true, reason: await statusOf(response) };
    await response.arrayBuffer(); // Frees the connection.
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    // The service accepted the connection, and its stores are slow.
    if (limit.aborted) return { hasResponded: true, reason: `no response in ${reachMsMax} ms` };
    return { hasResponded: false, reason: connectionCause(error) };
  }
}

const authorizationOf = (token: string | undefined): Readonly<Record<string, string>> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

function requestFor(members: readonly Submission[]): { path: string; body: string } {
  const [first] = members;
  if (first === undefined) throw new Error("assertion failed: a request has a member");
  const bodies = members.map((member) => member.body).join(",");
  const metadata = members.map((member) => member.systemMetadata).join(",");
  if (members.length === 1) {
    return first.kind === "proposal"
      ? { path: "/aspects?action=ingestProposal", body: `{"proposal":${bodies}}` }
      : {
          path: "/entities?action=ingest",
          body: `{"entity":${bodies},"systemMetadata":${metadata}}`,
        };
  }
  return first.kind === "proposal"
    ? { path: "/aspects?action=ingestProposalBatch", body: `{"proposals":[${bodies}]}` }
    : {
        path: "/entities?action=batchIngest",
        body: `{"entities":[${bodies}],"systemMetadata":[${metadata}]}`,
      };
}

async function attempt(
  { server, token, signal, onWait, retryDelayMs }: ClientOptions,
  path: string,
  request: RequestInit,
  msMax = requestMsMax,
): Promise<Response> {
  const headers = {
    ...(request.headers as Readonly<Record<string, string>> | undefined),
    ...authorizationOf(token),
  };
  const send = (): Promise<Response> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(msMax)]);
    return fetch(`${server}${path}`, { ...request, headers, signal: limit });
  };
  let isWaiting = false;
  const onRetry = (reason: string): void => {
    if (!isWaiting) onWait?.(reason);
    isWaiting = true;
  };
  const options = { attemptsMax, retryDelayMs, onRetry, isSafe: true, signal };
  signal.throwIfAborted();
  const response = await retrying(send, options).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw noAnswer(server, cause);
  });
  if (isTransient(response)) throw noAnswer(server, new Error(await statusOf(response)));
  return response;
}

async function reasonOf(response: Response): Promise<string> {
  const message = (await jsonOf(response))?.message;
  return typeof message === "string" ? message : `status ${response.status} ${response.statusText}`;
}

async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? { ...body } : undefined;
  } catch {
    return undefined; // Not JSON, or cut off: then only the status speaks.
  }
}
