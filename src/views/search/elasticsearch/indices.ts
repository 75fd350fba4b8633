/**
 * The indices of a query: those of one generation, by their own names. If they are deleted meanwhile,
 * because another generation replaced them, the server reports it and the query is repeated with the
 * new ones, so that a result is never partial.
 */
import type { estypes } from "@elastic/elasticsearch";
import { CatalogError } from "../../../core/errors.ts";
import { ownCommand } from "../../../lib/command-hint.ts";
import { typeOfError } from "../../../storage/elasticsearch/client.ts";
import type { ElasticsearchReading } from "../../../storage/elasticsearch/elasticsearch-reading.ts";
import type { StoredViewState } from "../../../storage/elasticsearch/view-metadata.ts";
import { allOf, type QueryClause } from "./query/clauses.ts";
import type { SearchKept, StoredSource } from "./search-shape.ts";

export type Request = Omit<estypes.SearchRequest, "index" | "pit">;
export type Response = estypes.SearchResponse<
  Partial<StoredSource>,
  Record<string, estypes.AggregationsAggregate>
>;

export interface Indices {
  /** True without any index. */
  readonly empty: boolean;
  search(request: Request): Promise<Response>;
  /** Requests that share one point in time; the next must follow within a minute. */
  frozen<T>(ask: (search: (request: Request) => Promise<Response>) => Promise<T>): Promise<T>;
}

/** A term suggester fails in an index without its field. */
export interface SuggestingIndices extends Indices {
  /** Fields that match a pattern, by index. */
  mapped(pattern: string): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Searches one index, by its name. */
  searchOne(index: string, request: Request): Promise<Response>;
}

/** Characters of the names in a request's first line, which has 4 KB. */
const NAMES_MAX = 3_000;
const KEEP_ALIVE = "1m";

export function createIndices(
  { server, names, ask, search: searchIndices }: ElasticsearchReading<SearchKept>,
  { generation, places: all }: StoredViewState<SearchKept>,
  wanted: ReadonlySet<string>,
): SuggestingIndices {
  const partitions = all.filter((partition) => wanted.has(partition));
  const index = partitions.map((partition) => names.index(generation, partition));
  const tooMany = index.join().length > NAMES_MAX;
  const asked = tooMany ? names.indices(generation) : index;

  /** Selects the requested indices. */
  const narrowed = (query: QueryClause | undefined): QueryClause | undefined =>
    tooMany
      ? allOf([
          { terms: { _index: index } },
          { bool: { must: query === undefined ? [] : [query] } },
        ])
      : query;

  async function search({ query, ...rest }: Request): Promise<Response> {
    const request = { ...rest, query: narrowed(query) };
    const options = { index: asked, allow_partial_search_results: false };
    return (await searchIndices({ ...request, ...options })) as Response;
  }

  async function searchFrozen({ query, ...rest }: Request, id: string): Promise<Response> {
    const request = { ...rest, query: narrowed(query), pit: { id, keep_alive: KEEP_ALIVE } };
    return (await ask((client) => client.search(request))) as Response;
  }

  async function freeze(): Promise<string> {
    if (server.product === "elasticsearch") {
      const { id } = await ask((client) =>
        client.openPointInTime({ index: asked, keep_alive: KEEP_ALIVE }),
      );
      return id;
    }
    const { pit_id } = await ask((client) =>
      client.transport.request<{ readonly pit_id: string }>({
        method: "POST",
        path: `/${[asked].flat().join()}/_search/point_in_time`,
        querystring: { keep_alive: KEEP_ALIVE },
      }),
    );
    return pit_id;
  }

  async function thaw(id: string): Promise<void> {
    await ask((client) =>
      server.product === "elasticsearch"
        ? client.closePointInTime({ id })
        : client.transport.request({
            method: "DELETE",
            path: "/_search/point_in_time",
            body: { pit_id: [id] },
          }),
    );
  }

  return {
    empty: partitions.length === 0,
    search,
    searchOne: (one, request) =>
      ask((client) =>
        client.search({ ...request, index: one, allow_partial_search_results: false }),
      ),
    async mapped(pattern) {
      // The client sends the pattern in the body, where OpenSearch ignores it.
      const { indices, fields } = await ask((client) =>
        client.transport.request<estypes.FieldCapsResponse>({
          method: "GET",
          path: `/${[asked].flat().join()}/_field_caps`,
          querystring: { fields: pattern, include_unmapped: true },
        }),
      );
      const found = new Map<string, string[]>(index.map((name) => [name, []]));
      for (const [field, { unmapped, object, ...types }] of Object.entries(fields)) {
        for (const { indices: some = indices } of Object.values(types)) {
          for (const name of [some].flat()) found.get(name)?.push(field);
        }
      }
      return found;
    },
    async frozen(work) {
      const id = await freeze();
      try {
        return await work((request) => searchFrozen(request, id));
      } finally {
        await thaw(id);
      }
    },
  };
}

/** Maximum number of attempts of a query if indices are deleted. */
const TRIES_MAX = 5;

/** Answered by a question that saw itself that an index was gone. */
export const indexGone = Symbol("an index is gone");

export async function again<T>(question: () => Promise<T | typeof indexGone>): Promise<T> {
  for (let tries = 1; tries < TRIES_MAX; tries++) {
    try {
      const answer = await question();
      if (answer !== indexGone) return answer;
    } catch (error) {
      if (!GONE.has(typeOfError(error) ?? "")) throw error;
    }
  }
  const answer = await question();
  if (answer !== indexGone) return answer;
  throw new CatalogError("unavailable", `the view "search" has lost an index`, {
    hint: `The next write creates it again; or run: ${ownCommand("rebuild search")}`,
  });
}

const GONE: ReadonlySet<string> = new Set([
  "index_not_found_exception",
  "search_context_missing_exception",
  "index_closed_exception",
]);
