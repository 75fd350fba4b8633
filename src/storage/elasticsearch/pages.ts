/**
 * Reads the documents of a search in pages, in a total order, so that each document is returned
 * once even with concurrent writes. Pages are bounded in number and approximately in characters. A
 * page with a response that is too large is requested again with fewer documents.
 */
import type { estypes } from "@elastic/elasticsearch";
import { isTooLarge } from "./client.ts";
import type { Search } from "./multi-search.ts";

export interface PagedQuery<Source> {
  /** Aliases or indices; missing ones have no documents. */
  readonly index: string | readonly string[];
  readonly query: estypes.QueryDslQueryContainer;
  /** Fields of the order. */
  readonly sort: readonly string[];
  readonly order?: "asc" | "desc" | undefined;
  /** Fields of the source to read; all when absent. */
  readonly fields?: readonly string[] | undefined;
  /** Maximum number of documents of the first page, whose size is not known. */
  readonly first: number;
  /** Maximum characters of a page, and those of a document. */
  readonly charactersMax: number;
  charactersOf(source: Source): number;
  /** True if documents may tie in the order: a page then ends before the ties of its last document. */
  readonly ties?: boolean | undefined;
}

export interface PagedHit<Source> {
  readonly id: string;
  readonly index: string;
  readonly source: Source;
  readonly sort: readonly estypes.FieldValue[];
  /** Names of the queries that it matches. */
  readonly marks: readonly string[];
}

const PAGE_MAX = 2_000;
const PAGE_BYTES_MAX = 128 * 1024 * 1024;

export async function* pagesOf<Source>(
  search: Search,
  query: PagedQuery<Source>,
): AsyncGenerator<readonly PagedHit<Source>[], undefined> {
  let size = query.first;
  let after: readonly estypes.FieldValue[] | undefined;
  for (;;) {
    let hits: readonly PagedHit<Source>[];
    try {
      hits = await pageOf(search, query, size, after);
    } catch (error) {
      if (!isTooLarge(error) || size === 1) throw error;
      size = Math.ceil(size / 8);
      continue;
    }
    const ended = hits.length < size;
    if (!ended && query.ties) hits = withoutTies(hits);
    if (hits.length > 0) yield hits;
    if (ended) return;
    after = hits.at(-1)?.sort;
    const characters = hits.reduce((sum, { source }) => sum + query.charactersOf(source), 1);
    const fitting = Math.floor((query.charactersMax * hits.length) / characters);
    size = Math.max(1, Math.min(PAGE_MAX, fitting));
  }
}

async function pageOf<Source>(
  search: Search,
  { index, query, sort, order = "asc", fields }: PagedQuery<Source>,
  size: number,
  after: readonly estypes.FieldValue[] | undefined,
): Promise<readonly PagedHit<Source>[]> {
  const { hits } = await search({
    index: typeof index === "string" ? index : [...index],
    ignore_unavailable: true,
    allow_partial_search_results: false,
    bytesMax: PAGE_BYTES_MAX,
    size,
    query,
    track_total_hits: false,
    sort: sort.map((field) => ({ [field]: order })),
    ...(fields && { _source: [...fields] }),
    ...(after && { search_after: [...after] }),
  });
  return hits.hits.map((hit) => ({
    ...{ id: hit._id ?? "", index: hit._index, source: (hit._source ?? {}) as Source },
    sort: hit.sort ?? [],
    marks: Array.isArray(hit.matched_queries) ? hit.matched_queries : [],
  }));
}

/** Drops the hits that tie with the last one: the next page reads all of them. */
function withoutTies<Source>(hits: readonly PagedHit<Source>[]): readonly PagedHit<Source>[] {
  const last = JSON.stringify(hits.at(-1)?.sort);
  const first = hits.findIndex(({ sort }) => JSON.stringify(sort) === last);
  return first > 0 ? hits.slice(0, first) : hits;
}
