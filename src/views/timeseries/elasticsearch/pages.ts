/**
 * Reads the results of a search in pages, in a total order, so that each document is returned once
 * even with concurrent writes. Pages are bounded in number and approximately in bytes.
 */
import type { estypes } from "@elastic/elasticsearch";
import { isTooLarge } from "../../../storage/elasticsearch/client.ts";
import type { Search } from "../../../storage/elasticsearch/multi-search.ts";
import type { StoredEvent } from "./documents.ts";

export interface EventHit {
  readonly id: string;
  readonly index: string;
  readonly event: StoredEvent;
}

type SortField = "urn" | "aspect" | "time" | "key";

interface Query {
  /** Aliases or indices; missing ones have no documents. */
  readonly index: string | readonly string[];
  readonly query: estypes.QueryDslQueryContainer;
  readonly sort: readonly SortField[];
  readonly order: "asc" | "desc";
  /** Documents of the first page, at most. */
  readonly first?: number | undefined;
}

/** Of the first page, whose documents may be large. */
const FIRST_MAX = 100;
const PAGE_MAX = 2_000;
const PAGE_CHARACTERS = 2_000_000;
/** A page with a larger response is requested again with fewer documents. */
const PAGE_BYTES_MAX = 128 * 1024 * 1024;

export async function* pagesOf(search: Search, query: Query): AsyncGenerator<readonly EventHit[]> {
  let size = Math.min(query.first ?? FIRST_MAX, FIRST_MAX);
  let after: StoredEvent | undefined;
  for (;;) {
    let page: readonly EventHit[];
    try {
      page = await pageOf(search, query, size, after);
    } catch (error) {
      if (!isTooLarge(error) || size === 1) throw error;
      size = Math.ceil(size / 8);
      continue;
    }
    if (page.length > 0) yield page;
    if (page.length < size) return;
    after = page.at(-1)?.event;
    // A document that another program wrote may lack the value.
    const characters = page.reduce((sum, { event }) => sum + (event.value?.length ?? 0), 1);
    const fitting = Math.floor((PAGE_CHARACTERS * page.length) / characters);
    size = Math.max(1, Math.min(PAGE_MAX, fitting));
  }
}

async function pageOf(
  search: Search,
  { index, query, sort, order }: Query,
  size: number,
  after: StoredEvent | undefined,
): Promise<readonly EventHit[]> {
  const found = await search({
    index: typeof index === "string" ? index : [...index],
    ignore_unavailable: true,
    allow_partial_search_results: false,
    bytesMax: PAGE_BYTES_MAX,
    size,
    query,
    track_total_hits: false,
    sort: sort.map((field) => ({ [field]: order })),
    ...(after && { search_after: sort.map((field) => after[field]) }),
  });
  const hits: EventHit[] = [];
  for (const { _id, _index, _source } of found.hits.hits) {
    const event = _source as StoredEvent | undefined;
    if (event !== undefined) hits.push({ id: _id ?? "", index: _index, event });
  }
  return hits;
}
