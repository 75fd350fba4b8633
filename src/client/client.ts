/**
 * `annals/client`: a typed client of the HTTP API. The types of every operation come from the
 * service's OpenAPI document (schema.ts, generated); requests go through openapi-fetch. This folder
 * adds retries (retries.ts), read-your-writes positions, and the change feed (changes.ts).
 *
 *     const catalog = createAnnalsClient({ address: "http://127.0.0.1:8080", token });
 *     const { data, error } = await catalog.GET("/entitiesV2/{urn}", { params: { path: { urn } } });
 *     for await (const change of catalog.changes({ entityTypes: ["dataset"] })) …
 *
 * Runs in Node 18 and later and in browsers.
 */
import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import { type Change, type ChangesQuery, followChanges } from "./changes.ts";
import { AnnalsError, errorOf, unreachable } from "./errors.ts";
import { type RetryOptions, reasonOf, retryingFetch } from "./retries.ts";
import type { components, paths } from "./schema.ts";

export type { Change, ChangesQuery, components, paths, RetryOptions };
export { AnnalsError };

export interface AnnalsClientOptions extends RetryOptions {
  /** Address of the service, like `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Access token, sent as a bearer token. */
  readonly token?: string | undefined;
  /** Urn of the acting user, where the service accepts it without a token (on loopback). */
  readonly actor?: string | undefined;
  /** Reads wait until they show this position; writes of this client raise it. */
  readonly position?: number | undefined;
  /** Aborts every request of the client. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

export interface AnnalsClient
  extends Pick<FetchClient<paths>, "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD"> {
  /** The highest position of a write of this client (`X-Annals-Position`); undefined before one. */
  readonly position: number | undefined;
  /**
   * The change feed, in the order of the log, until the signal aborts or the caller leaves the loop.
   * It reconnects after the last position that it read, so it neither skips nor repeats a change.
   * Throws AnnalsError when the service rejects the query or cannot read a record.
   */
  changes(query?: ChangesQuery, signal?: AbortSignal): AsyncGenerator<Change, void, undefined>;
}

export function createAnnalsClient(options: AnnalsClientOptions): AnnalsClient {
  let { position } = options;
  const send = retryingFetch(options.fetch ?? ((request) => fetch(request)), options);
  const client = createFetchClient<paths>({
    baseUrl: options.address,
    fetch: (request) =>
      send(request).catch((error: unknown) => {
        // The reason of an abort belongs to the caller.
        throw request.signal.aborted ? error : unreachable(options.address, reasonOf(error), error);
      }),
    querySerializer,
    headers: {
      ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
      ...(options.actor !== undefined && { "x-datahub-actor": options.actor }),
      // Responses in the form of rest.li 2.0.0: pages, and no default limit of ten rows.
      "x-restli-protocol-version": "2.0.0",
    },
  });
  client.use({
    onRequest({ request, schemaPath }) {
      const addressed = withJoinedQuery(request);
      const { headers } = addressed;
      if (isKeyed(schemaPath) && !headers.has(idempotencyKey)) {
        headers.set(idempotencyKey, crypto.randomUUID());
      }
      if (position !== undefined && !isAsOf(addressed) && !headers.has(minPosition)) {
        headers.set(minPosition, String(position));
      }
      if (options.signal === undefined) return addressed;
      return new Request(addressed, { signal: AbortSignal.any([options.signal, request.signal]) });
    },
    onResponse({ request, response, schemaPath }) {
      const written = Number(response.headers.get("x-annals-position"));
      if (isWrite(request, schemaPath) && response.ok && written > (position ?? 0)) {
        position = written;
      }
    },
  });
  return {
    GET: client.GET,
    POST: client.POST,
    PUT: client.PUT,
    PATCH: client.PATCH,
    DELETE: client.DELETE,
    HEAD: client.HEAD,
    get position() {
      return position;
    },
    changes: (query = {}, signal) => followChanges({ ...options, send }, query, signal),
  };
}

/** The data of a response, or an AnnalsError with the service's message and code. */
export async function dataOf<T>(
  result: PromiseLike<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<T> {
  const { data, error, response } = await result;
  if (response.ok && data !== undefined) return data;
  throw errorOf(response, error);
}

/** The parameter value for several values: `List(a,b)`, each encoded. */
export const listOf = (values: readonly string[]): string =>
  `List(${values.map(encodeURIComponent).join(",")})`;

const idempotencyKey = "idempotency-key";
const minPosition = "x-annals-min-position";

/** Actions whose writes happen once for each key, so that they may be sent again. */
const isKeyed = (path: string): boolean =>
  /^\/(aspects|entities|usageStats)\?action=/.test(path) && !path.endsWith("=restoreIndices");

/** Reads are sent with POST, too. A mutation of GraphQL raises no position: queries look the same. */
const isWrite = ({ method }: Request, path: string): boolean =>
  method !== "GET" && method !== "HEAD" && !readPaths.test(path);

const readPaths =
  /\?action=(?!ingest|batchIngest|delete|rollback)|\/(batchGet|scroll)$|^\/api\/graphql$|\/trace\//;

/** A read as of a position or time names its own position. */
const isAsOf = ({ url }: Request): boolean => /[?&]asOf(Position|Time)=/.test(url);

/** Paths of actions have a query already; further parameters follow `&`. */
function withJoinedQuery(request: Request): Request {
  const [path = "", action = "", ...more] = request.url.split("?");
  if (more.length === 0) return new Request(request);
  return new Request(`${path}?${[action, ...more].join("&")}`, request);
}

function querySerializer(query: Readonly<Record<string, unknown>>): string {
  return Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${serialized(String(value))}`)
    .join("&");
}

/** The members of `List(…)` are encoded already (`listOf`). */
const serialized = (value: string): string =>
  /^List\(.*\)$/s.test(value) ? value : encodeURIComponent(value);
