/**
 * Sends submissions to a catalog over HTTP. Tries again, a bounded number of times, when nobody
 * answers or the answer is "later"; every write carries an idempotency key, so that one whose
 * answer was lost happens once.
 */
import { randomUUID } from "node:crypto";
import { isTransient, retrying, statusOf } from "../client/retries.ts";
import { CatalogError } from "../core/errors.ts";
import { reachMsMax } from "./connection.ts";
import { connectionCause, noAnswer } from "./no-answer.ts";
import type { Submission } from "./submission.ts";

export interface CatalogClient {
  /**
   * Throws CatalogError `unavailable` when nobody answers, `invalid` when it is no catalog, and
   * `unauthenticated` when it refuses the token.
   */
  check(): Promise<void>;
  /**
   * Sends one or more of one kind in one request: all or none become part of the catalog. Throws
   * CatalogError `unavailable` when tries are used up, `unauthenticated` when the token is refused or
   * none was sent where one is needed, and the signal's reason when that aborts.
   */
  send(members: readonly Submission[]): Promise<Outcome>;
  /** Why the service is not healthy, after as many tries as a write gets; undefined if it is. */
  healthError(): Promise<string | undefined>;
}

export type Outcome =
  /** `position`: where the log holds it. */
  | { readonly accepted: true; readonly position: number }
  | { readonly accepted: false; readonly reason: string };

export interface ClientOptions {
  /** Without a slash at the end. */
  readonly server: string;
  /** Access token to send. */
  readonly token?: string | undefined;
  readonly signal: AbortSignal;
  /** Delay before the second try; doubles with each. */
  readonly retryDelayMs?: number | undefined;
  /** Called when a request has to be tried again for the first time, with the reason. */
  readonly onWait?: ((reason: string) => void) | undefined;
}

const attemptsMax = 7;
/** A full batch on a slow disk takes seconds. */
const requestMsMax = 120_000;

export function createCatalogClient(options: ClientOptions): CatalogClient {
  const { server } = options;
  return {
    async check() {
      const response = await attempt(options, "/config", { method: "GET" }, reachMsMax);
      if (response.status === 401) throw refusal(server, await reasonOf(response));
      const config = await jsonOf(response);
      if (response.status === 200 && config?.noCode === "true") return;
      const found = `GET ${server}/config gives status ${response.status}`;
      throw new CatalogError("invalid", `there is no catalog at ${server}: ${found}`, {
        hint: "Name the address that the service printed, with --server",
      });
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
      // Not about these records: all others would be told the same.
      if (response.status === 401) throw refusal(server, reason);
      return { accepted: false, reason };
    },

    async healthError() {
      try {
        const response = await attempt(options, "/health", { method: "GET" });
        await response.arrayBuffer(); // Frees the connection.
        return undefined;
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        return connectionCause(error.cause);
      }
    },
  };
}

const refusal = (server: string, reason: string): CatalogError =>
  new CatalogError("unauthenticated", `${server} refused: ${reason}`, {
    hint: "Name a file with an access token with --token-file",
  });

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
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
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
