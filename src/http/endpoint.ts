/**
 * An endpoint as a row of the route table: what it takes, what it gives, and the one catalog call
 * behind it. Routing, validation, the OpenAPI document and the documentation page all read these
 * rows; nothing about an endpoint is said elsewhere.
 */
import type { AuditNote } from "../auth/audit.ts";
import type { Caller, Catalog, Proposal, ReadView, SnapshotProposal } from "../catalog/catalog.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { TopicPlaces } from "../feed/topic-places.ts";
import type { Operations } from "../ops/operations.ts";
import type { FixedText } from "./fixed-text.ts";
import type { Dialect } from "./protocol.ts";

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
  /** All that it may be; named when it is missing. What it is, the catalog checks. */
  readonly values?: readonly string[];
  readonly about: string;
}

/** What a request says, decoded. */
export interface Ask {
  /** The key of the path, decoded once; empty where the path has none. */
  readonly key: string;
  /** What the path of a page has in the places of its `{names}`, decoded once. */
  readonly path: Readonly<Record<string, string>>;
  /** Query parameters and headers as the row declares them; absent ones are absent. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The body, which fits the endpoint's schema; undefined when `proposals` replace it. */
  readonly body: unknown;
  /** For a large body of an endpoint with `proposals`: their result, with validated values. */
  readonly proposals?: readonly Proposal[] | undefined;
  readonly caller: Caller;
  /** Conditional headers of a request to a row that is `conditional`, by their names. */
  readonly conditions?: Readonly<Record<string, string>> | undefined;
  readonly dialect: Dialect;
  /** Authority of the request as its Host header has it. */
  readonly host: string | undefined;
  /** The Accept header. */
  readonly accept?: string | undefined;
  /** Aborts when the client disconnects, or when the access token of the request ends. */
  readonly signal?: () => AbortSignal;
}

/** A body that is sent as it comes to be. */
export interface StreamedBody {
  readonly type: string;
  /** Texts until the signal aborts; nothing is made before what was made has been taken. */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<string>>;
}

export interface Answer {
  /** The row's own when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text, or with `html` that; neither: an empty body. */
  readonly json?: string;
  readonly html?: string;
  /** Text of the row's `replyType`. */
  readonly text?: string;
  /** The text of `json` or `html`, if it is the same for many requests. */
  readonly fixed?: FixedText;
  readonly stream?: StreamedBody;
  /** What was done or refused within it that the audit trail is to tell. */
  readonly audited?: readonly Pick<AuditNote, "action" | "outcome" | "urn" | "detail">[];
  /** False: nobody on the way may keep it. */
  readonly keep?: boolean;
  readonly contentSecurityPolicy?: string;
  /** Of a write: where the log holds it. Of a read: every record up to there is shown. */
  readonly position?: Position | undefined;
}

/** What of the catalog another model made, with the command that mends it. */
export type StaleViews = ReadonlyMap<ReadView, string>;
export const noneStale: StaleViews = new Map();

/** What handlers work with. */
export interface Backing {
  readonly catalog: Catalog;
  readonly operations: Operations;
  /** How far the proposals in Kafka are read; none where there is no Kafka. Rejects `unavailable`. */
  readonly proposals: () => Promise<readonly TopicPlaces[]>;
  /** The service's numbers in the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
  readonly stale: () => StaleViews;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface ErrorCase {
  readonly code: ErrorCode;
  readonly when: string;
}

export interface Endpoint {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * page: its path is all, which may have `{names}` in it. The others belong to a rest.li resource:
   * an action is a POST that names itself in the query, get and delete have a key in their path
   * where the path shows one, batch_get has `ids` in its query.
   */
  readonly kind: "page" | "action" | "get" | "batch_get" | "delete";
  /** `/config`, `/aspects`, `/aspects/{urn}`. */
  readonly path: string;
  /** Of an action: its name. Otherwise: what the operation is called in the OpenAPI document. */
  readonly name: string;
  readonly summary: string;
  readonly about?: string;
  /** Marks the endpoint as deprecated. A sentence that names its replacement. */
  readonly deprecated?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: BodySchema | ListSchema;
  /** Brings a body that was parsed into the form that the schema describes, in place. */
  readonly prepare?: (body: Record<string, unknown>) => void;
  /** Schema of the reply; absent: the body is empty. */
  readonly reply?: Schema;
  /** `application/json` when absent. */
  readonly replyType?: string;
  /** Status of its usual answer: 200 when absent. */
  readonly status?: number;
  /** Where the documentation shows a page; among those of the service when absent. */
  readonly group?: "changes" | "schema registry" | "OpenAPI";
  /**
   * The form of its errors: `registry` as clients of a schema registry read them, `openapi` with
   * DataHub's statuses and `error` in the body. When absent, the path decides (errors.ts).
   */
  readonly errorForm?: "registry" | "openapi";
  /**
   * Who may ask: whoever shows a token with the privilege of the operation (demand-of.ts); a
   * "watcher" needs one only where tokens are asked for.
   */
  readonly access?: "operator" | "watcher";
  /** Needs no token where all others do: says nothing of what is in the catalog. */
  readonly open?: boolean;
  /**
   * Open for what is there already, and nothing else: where tokens are asked for, who shows none is told
   * that one is needed, whatever else is wrong with the request.
   */
  readonly closedToNew?: boolean;
  /** Its answers carry X-Annals-Position. */
  readonly writes?: boolean;
  /**
   * What it reads, or may read: its answers carry the position that they show, of all of these; a
   * request may ask for one.
   */
  readonly reads?: ReadView | readonly ReadView[];
  /** For an endpoint that reads or writes depending on the body: true if this body may write. */
  readonly changes?: (body: unknown) => boolean;
  /** It takes conditional headers, or refuses them itself; other rows that write refuse them. */
  readonly conditional?: boolean;
  /**
   * The proposals in the body, for endpoints that write aspects; `expand` turns snapshots into proposals.
   * The body thread calls it for large bodies (large-bodies.ts), so it depends only on its arguments.
   */
  readonly proposals?: (ask: Ask, expand: ExpandSnapshots) => readonly Proposal[];
  /** Largest body, where that is less than the configured one. */
  readonly bodyBytesMax?: number;
  /** Its not_found is an absence, not a fault. */
  readonly missing?: boolean;
  /** The reply of its example, where that depends on the service; examples.ts has all others. */
  readonly exampleReply?: unknown;
  readonly errors: readonly ErrorCase[];
  readonly handle: (ask: Ask, backing: Backing) => Promise<Answer> | Answer;
}

/** A rest.li resource: endpoints under one first path segment. */
export interface Resource {
  readonly name: string;
  /** Class that implements it in the reference; its messages name it. */
  readonly implementation: string;
  readonly about: string;
}

/** Identifies an endpoint of the route table; the same in every thread. */
export const endpointId = ({ method, path, name }: Endpoint): string => `${method} ${path} ${name}`;

type ExpandSnapshots = (snapshots: readonly SnapshotProposal[]) => readonly Proposal[];

/** The reply of an action: its result under `value`. */
export const valueReply = (schema: Schema): Schema => ({
  type: "object",
  required: ["value"],
  properties: { value: schema },
});

export const valueAnswer = (value: unknown): Answer => ({ json: JSON.stringify({ value }) });
