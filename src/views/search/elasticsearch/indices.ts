/**
 * The indices of a query: concrete indices of one generation, not aliases. If another generation
 * replaces them during the query, the server reports missing indices. The query then runs again
 * with the new indices, so a result is never partial.
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
  /** True if no index exists. */
  readonly empty: boolean;
  search(request: Request): Promise<Response>;
  /** Runs requests on one point in time. It expires a minute after the last request. */
  atPointInTime<T>(
    query: (search: (request: Request) => Promise<Response>) => Promise<T>,
  ): Promise<T>;
}

/** A term suggester fails on an index without its field, so each index is searched separately. */
export interface SuggestingIndices extends Indices {
  /** Fields that match a pattern, by index. */
  mappedFields(pattern: string): Promise<ReadonlyMap<string, readonly string[]>>;
  searchOne(index: string, request: Request): Promise<Response>;
}

/** Maximum length of the index names in a URL; servers limit the request line to 4 KB. */
const NAMES_MAX = 3_000;
const KEEP_ALIVE = "1m";

export function createIndices(
  { server, names, send: ask, search: searchIndices }: ElasticsearchReading<SearchKept>,
  { generation, places: all }: StoredViewState<SearchKept>,
  wanted: ReadonlySet<string>,
): SuggestingIndices {
  const partitions = all.filter((partition) => wanted.has(partition));
  const index = partitions.map((partition) => names.index(generation, partition));
  const tooMany = index.join().length > NAMES_MAX;
  const target = tooMany ? names.indices(generation) : index;

  /** Filters by index, where the URL cannot list the indices. */
  const withIndexFilter = (query: QueryClause | undefined): QueryClause | undefined =>
    tooMany
      ? allOf([
          { terms: { _index: index } },
          { bool: { must: query === undefined ? [] : [query] } },
        ])
      : query;

  async function search({ query, ...rest }: Request): Promise<Response> {
    const request = { ...rest, query: withIndexFilter(query) };
    const options = { index: target, allow_partial_search_results: false };
    return (await searchIndices({ ...request, ...options })) as Response;
  }

  async function searchPointInTime({ query, ...rest }: Request, id: string): Promise<Response> {
    const request = { ...rest, query: withIndexFilter(query), pit: { id, keep_alive: KEEP_ALIVE } };
    return (await ask((client) => client.search(request))) as Response;
  }

  async function openPointInTime(): Promise<string> {
    if (server.product === "elasticsearch") {
      const { id } = await ask((client) =>
        client.openPointInTime({ index: target, keep_alive: KEEP_ALIVE }),
      );
      return id;
    }
    const { pit_id } = await ask((client) =>
      client.transport.request<{ readonly pit_id: string }>({
        method: "POST",
        path: `/${[target].flat().join()}/_search/point_in_time`,
        querystring: { keep_alive: KEEP_ALIVE },
      }),
    );
    return pit_id;
  }

  async function closePointInTime(id: string): Promise<void> {
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
    async mappedFields(pattern) {
      // The client sends the pattern in the body, where OpenSearch ignores it.
      const { indices, fields } = await ask((client) =>
        client.transport.request<estypes.FieldCapsResponse>({
          method: "GET",
          path: `/${[target].flat().join()}/_field_caps`,
          querystring: { fields: pattern, include_unmapped: true },
        }),
      );
      const found = new Map<string, string[]>(index.map((name) => [name, []]));
      for (const [field, { unmapped, object, ...types }] of Object.entries(fields)) {
        for (const { indices: owners = indices } of Object.values(types)) {
          for (const name of [owners].flat()) found.get(name)?.push(field);
        }
      }
      return found;
    },
    async atPointInTime(query) {
      const id = await openPointInTime();
      try {
        return await query((request) => searchPointInTime(request, id));
      } finally {
        await closePointInTime(id);
      }
    },
  };
}

/** Maximum number of attempts of a query if indices are deleted. */
const ATTEMPTS_MAX = 5;

/** Result of a query that detected a missing index itself. */
export const indexGone = Symbol("an index is gone");

export async function retryIfIndexGone<T>(query: () => Promise<T | typeof indexGone>): Promise<T> {
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
    try {
      const result = await query();
      if (result !== indexGone) return result;
    } catch (error) {
      if (!GONE.has(typeOfError(error) ?? "")) throw error;
    }
  }
  const result = await query();
  if (result !== indexGone) return result;
  throw new CatalogError("unavailable", `the view "search" has lost an index`, {
    hint: `The next write creates it again; or run: ${ownCommand("rebuild search")}`,
  });
}

const GONE: ReadonlySet<string> = new Set([
  "index_not_found_exception",
  "search_context_missing_exception",
  "index_closed_exception",
]);
