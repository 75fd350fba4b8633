/**
 * The GraphQL server: takes the text of a request and returns the text of the response. It checks
 * limits, validates, and runs the rule and the resolver of each root field.
 */
import {
  type DocumentNode,
  execute,
  GraphQLError,
  getOperationAST,
  Kind,
  OperationTypeNode,
} from "graphql";
import { processRequest } from "graphql-helix";
import type { Catalog } from "../catalog/catalog.ts";
import { assert, CatalogError, type ErrorCode } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import {
  type AcquireSlot,
  createConcurrencyLimit,
  memorySlotOf,
} from "../lib/concurrency-limit.ts";
import { withoutMiddle } from "../lib/shortened.ts";
import type { ServerContext, Viewer } from "./context.ts";
import { createDocumentCache } from "./document-cache.ts";
import { createEntityLoader } from "./entity-loader.ts";
import { createLongLists } from "./long-lists.ts";
import { createSchema } from "./schema/create-schema.ts";
import { entityTypesOf } from "./schema/entity-types.ts";

export interface GraphqlRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly operationName?: string | undefined;
  /** Mutations with a key are rejected: they generate ids and times, so a retry would write again. */
  readonly idempotencyKey?: string | undefined;
  /** Names of conditional headers. Mutations with any are rejected, because they ignore conditions. */
  readonly conditions?: readonly string[] | undefined;
}

export interface GraphqlResponse {
  /** JSON text `{data, errors, extensions}`; errors of fields are in `errors`. */
  readonly json: string;
  /** The position of the last write; undefined when the request wrote nothing. */
  readonly position: Position | undefined;
  /** For the audit trail. */
  readonly audited: readonly Audited[];
}

type Audited = Parameters<Viewer["audited"]>[0];

export interface GraphqlServer {
  /**
   * Throws `malformed` for a query that is too large, and for a mutation with a key or conditions.
   * `actor`: the caller; undefined for anonymous requests.
   */
  execute(request: GraphqlRequest, actor: string | undefined): Promise<GraphqlResponse>;
}

interface Options extends Omit<ServerContext, "entityTypes" | "moving"> {
  /** Entity types by the model's names. */
  readonly entityNames: Iterable<string>;
  /** The catalog with the read permissions of a user. */
  readonly catalogFor: (actor: string | undefined) => Viewer["catalog"];
  /** Called with each internal error; the error holds nothing of the request. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * Maximum size of a response, in which the same text may occur many times. Below it, even with every
 * character escaped, the response fits into one string.
 */
const responseCharactersMax = 64 * 1024 * 1024;
/** Each error of a variable quotes the whole variable. */
const executing = { maxCoercionErrors: 10 };
/** Characters of each end of a message. Messages quote values; the reason may be at the end. */
const messageEndMax = 1_000;
/** Approximate size of a value that is not a string. */
const MEMBER_CHARACTERS = 4;

interface Payload {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[];
}

export function createGraphqlServer(options: Options): GraphqlServer {
  const { onFault, entityNames, catalogFor, ...rest } = options;
  const moving = createConcurrencyLimit(1);
  // Each large request may take hundreds of megabytes.
  const withLargeSlot = createConcurrencyLimit(1);
  const surroundings = { ...rest, entityTypes: entityTypesOf(entityNames), moving };
  const schema = createSchema(surroundings.entityTypes.members);
  const documents = createDocumentCache(schema);

  const textOf = ({ data = null, errors }: Payload): string =>
    JSON.stringify({
      ...(errors !== undefined && { errors: errors.map((error) => shownError(error, onFault)) }),
      data,
      extensions: {},
    });

  function shown(payload: Payload): string {
    if (!isLonger(payload.data, responseCharactersMax)) return textOf(payload);
    // The request's writes are in the log already, so the error does not undo them.
    const why = `the response would have more than ${responseCharactersMax} characters`;
    const originalError = new CatalogError("too_large", why, {
      hint: "Request fewer fields or entities",
    });
    return textOf({ errors: [new GraphQLError(why, { originalError })] });
  }

  return {
    async execute({ query, variables, operationName, idempotencyKey, conditions = [] }, actor) {
      const { document, errors } = documents.prepare(query);
      if (errors !== undefined)
        return { json: shown({ errors }), position: undefined, audited: [] };
      if (has(document, "subscription")) {
        const why = "The service has no subscriptions. Use GET /changes to follow changes";
        const json = shown({ errors: [new GraphQLError(why)] });
        return { json, position: undefined, audited: [] };
      }
      if (has(document, "mutation")) {
        if (idempotencyKey !== undefined) throw mutationWith("Idempotency-Key");
        if (conditions.length > 0) throw mutationWith(conditions.join(" and "));
      }
      // Mutations of a request run in sequence, so the last position is the highest.
      let position: Position | undefined;
      const audited: Audited[] = [];
      const wrote = (at: Position | undefined) => {
        position = at ?? position;
      };
      const slot = memorySlotOf(withLargeSlot);
      // A mutation does not wait: it may hold the only slot for moves, for which the request that it
      // waits for may wait.
      const isQuery =
        getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY;
      const acquireSlot: AcquireSlot = isQuery ? slot.acquire : async () => {};
      const contextFactory = (): Viewer => {
        const catalog = withReadBudget(catalogFor(actor));
        const loader = createEntityLoader(catalog, acquireSlot);
        const longLists = createLongLists(acquireSlot);
        const noted = (note: Audited) => audited.push(note);
        return { ...surroundings, catalog, loader, longLists, actor, wrote, audited: noted };
      };
      try {
        const result = await processRequest<Viewer>({
          ...{ schema, query: document, variables, operationName, contextFactory },
          request: { method: "POST", headers: { accept: "application/json" }, query: {} },
          // Prepared documents are valid.
          validate: () => [],
          // From the copy of the package that created the schema; helix may find another one.
          execute: (args) => execute({ ...args, options: executing }),
        });
        assert(result.type === "RESPONSE", "nothing of the schema is streamed");
        return { json: shown(result.payload), position, audited };
      } finally {
        slot.release();
      }
    },
  };
}

/** True when the strings in a value exceed the limit. Stops counting there. */
function isLonger(value: unknown, most: number): boolean {
  let left = most;
  function count(one: unknown): void {
    left -= typeof one === "string" ? one.length : MEMBER_CHARACTERS;
    if (typeof one !== "object" || one === null || left < 0) return;
    if (Array.isArray(one)) for (const item of one) count(item);
    // Objects of a result have no prototype, so that this needs no list of their members.
    else for (const name in one) count((one as Readonly<Record<string, unknown>>)[name]);
  }
  count(value);
  return left < 0;
}

const has = ({ definitions }: DocumentNode, operation: "mutation" | "subscription"): boolean =>
  definitions.some((one) => one.kind === Kind.OPERATION_DEFINITION && one.operation === operation);

const mutationWith = (header: string): CatalogError =>
  new CatalogError("malformed", `mutations do not support ${header}`, {
    hint: "Omit the header, or write aspects with ingestProposal, which supports it",
  });

/** Members that DataHub's clients read in the errors of responses. */
interface Extension {
  readonly code: number;
  readonly type: string;
}

const extensionOf: Readonly<Record<ErrorCode, Extension>> = {
  malformed: { code: 400, type: "BAD_REQUEST" },
  invalid: { code: 400, type: "BAD_REQUEST" },
  mismatched: { code: 400, type: "BAD_REQUEST" },
  too_large: { code: 400, type: "BAD_REQUEST" },
  unauthenticated: { code: 403, type: "UNAUTHORIZED" },
  forbidden: { code: 403, type: "UNAUTHORIZED" },
  misdirected: { code: 421, type: "BAD_REQUEST" },
  not_found: { code: 404, type: "NOT_FOUND" },
  gone: { code: 410, type: "GONE" },
  conflict: { code: 409, type: "CONFLICT" },
  rate_limited: { code: 500, type: "SERVER_ERROR" },
  unavailable: { code: 500, type: "SERVER_ERROR" },
  unreadable: { code: 500, type: "SERVER_ERROR" },
  internal: { code: 500, type: "SERVER_ERROR" },
};

/** Only CatalogErrors of resolvers are shown. Other errors are internal: logged, without details here. */
function shownError(error: GraphQLError, onFault: (fault: unknown) => void): object {
  const { message, locations, path, originalError } = error;
  const where = { locations, path };
  if (originalError instanceof CatalogError) {
    const { code, needs } = originalError;
    const extensions = { ...extensionOf[code], classification: FETCHING, needs };
    return { message: withoutMiddle(originalError.text, messageEndMax), ...where, extensions };
  }
  if (path !== undefined) {
    onFault(originalError ?? error);
    const extensions = { ...extensionOf.internal, classification: FETCHING };
    return { message: "An unknown error occurred.", ...where, extensions };
  }
  const syntax = message.startsWith("Syntax Error");
  const classification = syntax ? "InvalidSyntax" : "ValidationError";
  return {
    message: withoutMiddle(message, messageEndMax),
    ...where,
    extensions: { classification },
  };
}

const FETCHING = "DataFetchingException";

/** Cost of all reads of a request, in units of 0.1 ms on a small catalog. */
const costMax = 50_000;
const search = 25;
const walk = 8;
const lookup = 2;
/** Reads that views cannot join; further ones wait, so that other requests come in between. */
const readsAtOnceMax = 8;

/**
 * Limits the searches and walks of one request: a short query asks for those of each of many entities,
 * and one without results adds no members to the response. Reads of entities have their own limits
 * (entity-loader.ts). Throws `malformed` from the read that exceeds the limit on; later reads do not run.
 */
function withReadBudget(catalog: Catalog): Catalog {
  const withSlot = createConcurrencyLimit(readsAtOnceMax);
  let cost = 0;

  type Read<Args extends readonly unknown[], Found> = (...args: Args) => Promise<Found>;

  const limited =
    <Args extends readonly unknown[], Found>(
      own: number,
      read: (...args: Args) => Promise<Found> | Found,
    ): Read<Args, Found> =>
    async (...args) => {
      cost += own;
      if (cost <= costMax) return read(...args);
      throw new CatalogError("malformed", "the query asks for too many searches and lists", {
        hint: "Ask for fewer fields, or for fewer entities at once",
      });
    };

  const fewAtOnce = <Args extends readonly unknown[], Found>(
    read: Read<Args, Found>,
  ): Read<Args, Found> => {
    const counted = limited(search, read);
    return (...args) => withSlot(() => counted(...args));
  };

  return {
    ...catalog,
    search: limited(search, catalog.search),
    scroll: limited(search, catalog.scroll),
    searchLineage: fewAtOnce(catalog.searchLineage),
    scrollLineage: fewAtOnce(catalog.scrollLineage),
    browse: fewAtOnce(catalog.browse),
    getTimeline: fewAtOnce(catalog.getTimeline),
    readChanges: fewAtOnce(catalog.readChanges),
    getLineage: limited(walk, catalog.getLineage),
    queryUsage: limited(lookup, catalog.queryUsage),
    getTimeseriesValues: limited(lookup, catalog.getTimeseriesValues),
    listRelationships: limited(lookup, catalog.listRelationships),
    scrollRelationships: limited(lookup, catalog.scrollRelationships),
  };
}
