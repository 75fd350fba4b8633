/**
 * An endpoint as an entry of the route table: its request, and the catalog call behind it. Routing, validation, the
 * OpenAPI document and the documentation page all use these entries. docs/endpoints/ has its texts.
 */
import type { Readable } from "node:stream";
import type { AuditEntry } from "../../auth/audit.ts";
import type {
  Caller,
  Catalog,
  Proposal,
  ReadView,
  SnapshotProposal,
} from "../../catalog/catalog.ts";
import type { Position } from "../../core/position.ts";
import type { TopicOffsets } from "../../feed/topic-offsets.ts";
import type { Operations } from "../../jobs/operations.ts";
import type { WireForm } from "../request/protocol.ts";
import type { FixedText } from "../response/fixed-text.ts";

/** JSON Schema as ajv and OpenAPI 3.1 both read it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The parameters of an action: members of its body. */
export interface BodySchema extends Schema {
  readonly type: "object";
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
}

/** A body that is a list. */
export interface ListSchema extends Schema {
  readonly type: "array";
  readonly items: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  /** `strings` is a list in any spelling (query.ts); `long` an integer. */
  readonly type: "string" | "strings" | "long" | "boolean";
  readonly required?: boolean;
  /** Allowed values, for the message when it is missing; the catalog validates the value. */
  readonly values?: readonly string[];
  readonly about: string;
}

/** A decoded request. */
export interface ApiRequest {
  /** The key of the path, decoded once; empty where the path has none. */
  readonly key: string;
  /** Values of the `{names}` in the path of a page, decoded once. */
  readonly path: Readonly<Record<string, string>>;
  /** Query parameters and headers that the endpoint declares; absent ones are omitted. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The body, which fits the endpoint's schema; undefined when `proposals` replace it. */
  readonly body: unknown;
  /** For a large body of an endpoint with `proposals`: their result, with validated values. */
  readonly proposals?: readonly Proposal[] | undefined;
  readonly caller: Caller;
  /** Conditional headers by name, for a `conditional` endpoint. */
  readonly conditions?: Readonly<Record<string, string>> | undefined;
  readonly wireForm: WireForm;
  /** Authority of the request as its Host header has it. */
  readonly host: string | undefined;
  /** Remote address of the connection. */
  readonly address?: string | undefined;
  /** The Accept header. */
  readonly accept?: string | undefined;
  /** Aborts when the client disconnects, or when the access token of the request ends. */
  readonly signal?: () => AbortSignal;
}

/** A body that is sent while it is produced. */
export interface StreamedBody {
  readonly type: string;
  /** Yields texts until the signal aborts, with backpressure. */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<string>>;
}

/** A file that is read from disk while it is sent. */
export interface FileBody {
  readonly type: string;
  /** Bytes of the stream. */
  readonly size: number;
  /** The coding that the bytes have already. */
  readonly coding: "br" | "gzip" | undefined;
  /** True if other requests get the file in another coding. */
  readonly varies: boolean;
  readonly stream: Readable;
}

export interface ApiResponse {
  /** The endpoint's default when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text; or HTML in `html`. Without either the body is empty. */
  readonly json?: string;
  readonly html?: string;
  /** Text of the endpoint's `responseType`. */
  readonly text?: string;
  /** The text of `json` or `html`, if it is the same for many requests. */
  readonly fixed?: FixedText;
  readonly stream?: StreamedBody;
  readonly file?: FileBody;
  /** Events for the audit trail. */
  readonly audited?: readonly Pick<AuditEntry, "action" | "outcome" | "urn" | "detail">[];
  /** False: caches must not store it. */
  readonly keep?: boolean;
  readonly contentSecurityPolicy?: string;
  /** Of a write: its position in the log. Of a read: the views cover the log up to it. */
  readonly position?: Position | undefined;
}

/** Views that were built with another model, with the command that rebuilds each. */
export type StaleViews = ReadonlyMap<ReadView, string>;
export const noneStale: StaleViews = new Map();

/** Dependencies of handlers. */
export interface ApiContext {
  readonly catalog: Catalog;
  readonly operations: Operations;
  /** Progress of reading proposals from Kafka; empty without Kafka. Rejects `unavailable`. */
  readonly proposals: () => Promise<readonly TopicOffsets[]>;
  /** Metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
  readonly stale: () => StaleViews;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface Endpoint {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * page: identified by its path alone, which may contain `{names}`, and end with `{*}` for any rest. The other kinds belong to a
   * rest.li resource: an action is a POST with its name in the query, get and delete may have a key
   * in the path, batch_get has `ids` in the query.
   */
  readonly kind: "page" | "action" | "get" | "batch_get" | "delete";
  /** `/config`, `/aspects`, `/aspects/{urn}`. */
  readonly path: string;
  /** Name of an action; operation id of other endpoints in the OpenAPI document. */
  readonly name: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: BodySchema | ListSchema;
  /** Normalizes a parsed body to the form of the schema, in place. */
  readonly prepare?: (body: Record<string, unknown>) => void;
  /** `application/json` when absent. */
  readonly responseType?: string;
  /** Status of its successful response; 200 when absent. */
  readonly status?: number;
  /** Section of a page in the documentation; that of the service when absent. */
  readonly group?: "changes" | "schema registry" | "OpenAPI" | "web";
  /**
   * The form of its errors: `registry` as clients of a schema registry read them, `openapi` with
   * DataHub's statuses and `error` in the body. When absent, the path decides (errors.ts).
   */
  readonly errorForm?: "registry" | "openapi";
  /**
   * Requires a token with the privilege of the operation (caller/authenticate.ts); "watcher" requires one only
   * with token authentication; "system" requires the credentials of the system client.
   */
  readonly access?: "operator" | "watcher" | "system";
  /** Never requires a token: returns nothing from the catalog. */
  readonly open?: boolean;
  /**
   * Open to requests for existing data only. With token authentication, any other request without
   * a token is rejected with 401, whatever else is wrong with it.
   */
  readonly closedToNew?: boolean;
  /** Responses carry X-Annals-Position. */
  readonly writes?: boolean;
  /**
   * Views that it may read. Responses carry the lowest position of these; requests may require
   * a position.
   */
  readonly reads?: ReadView | readonly ReadView[];
  /** For an endpoint that reads or writes depending on the body: true if this body may write. */
  readonly changes?: (body: unknown) => boolean;
  /** Accepts conditional headers, or rejects them itself; other writing endpoints reject them. */
  readonly conditional?: boolean;
  /**
   * The proposals in the body, for endpoints that write aspects; `expand` turns snapshots into proposals.
   * The body thread calls it for large bodies (large-bodies.ts), so it depends only on its arguments.
   */
  readonly proposals?: (request: ApiRequest, expand: ExpandSnapshots) => readonly Proposal[];
  /** Maximum body size when less than the configured one. */
  readonly bodyBytesMax?: number;
  /** Its not_found is a normal result, not an error. */
  readonly missing?: boolean;
  /** Response of its example when that depends on the service; docs/endpoints/ has all others. */
  readonly exampleResponse?: unknown;
  readonly handle: (request: ApiRequest, context: ApiContext) => Promise<ApiResponse> | ApiResponse;
}

/** A rest.li resource: endpoints under one first path segment. */
export interface Resource {
  readonly name: string;
  /** DataHub's class for it, which messages name. */
  readonly implementation: string;
  readonly about: string;
}

/** Identifies an endpoint of the route table; the same in every thread. */
export const endpointId = ({ method, path, name }: Endpoint): string => `${method} ${path} ${name}`;

type ExpandSnapshots = (snapshots: readonly SnapshotProposal[]) => readonly Proposal[];

/** The members that the actions of a resource share. */
export const actionOf = <const Path extends string>(path: Path) =>
  ({ method: "POST", kind: "action", path }) as const;

export const text = (description: string): Schema => ({ type: "string", description });
export const integer = (description: string): Schema => ({ type: "integer", description });
export const flag = (description: string): Schema => ({ type: "boolean", description });

/** An object with these members; the required ones are named. */
export const objectWith = (
  required: readonly string[],
  properties: Readonly<Record<string, Schema>>,
  description?: string,
): BodySchema => ({
  type: "object",
  ...(description !== undefined && { description }),
  required,
  properties,
});

/** An object with all of these members. */
export const complete = (
  properties: Readonly<Record<string, Schema>>,
  description?: string,
): BodySchema => objectWith(Object.keys(properties), properties, description);

/** The response of an action: its result under `value`. */
export const valueResponse = (value: unknown, position?: Position): ApiResponse => ({
  json: JSON.stringify({ value }),
  position,
});
