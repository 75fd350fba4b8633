/**
 * Reads one page of hits in the requested order, with their sort keys. A page beyond the result
 * window is reached with `search_after` on a point in time.
 */
import type { estypes } from "@elastic/elasticsearch";
import { fieldValues } from "../../evaluate.ts";
import {
  type Cursor,
  type Hit,
  hitsMax,
  type SearchDocument,
  type SearchQuery,
  type SortBy,
} from "../../search.ts";
import { compareKeys, type SortKey, sortKey } from "../../sort-key.ts";
import { decodeLazily } from "../../stored-document.ts";
import { fieldNames } from "../fields.ts";
import { readKey, storedKey, storedOrder } from "../index-document.ts";
import type { Indices, Request, Response } from "../indices.ts";
import { fromUnitOrder, inUnitOrder } from "../stored-text.ts";
import type { QueryClause } from "./clauses.ts";

type Page = Pick<SearchQuery, "sort" | "start" | "count" | "after" | "urnsOnly">;
type SortValues = estypes.SortResults;

/** The default of index.max_result_window. */
const WINDOW_MAX = 10_000;

interface FoundPage {
  readonly hits: readonly Hit[];
  /** The response to the request that included `more`. */
  readonly response: Response;
}

/** `more`: further members of the request for the hits, such as aggregations. */
export async function findPage(
  indices: Indices,
  query: QueryClause,
  { sort, start, count: wanted, after, urnsOnly }: Page,
  more: Request,
): Promise<FoundPage> {
  const count = Math.min(wanted, hitsMax);
  const from = after === undefined ? {} : { search_after: searchAfter(after, sort) };
  const request: Request = {
    ...{ query, sort: sortOf(sort), track_scores: sort.length > 0, ...from },
    // With a sort, keys of truncated texts are read from the documents.
    ...(urnsOnly === true && sort.length === 0 && { _source: ["urn"] }),
  };
  if (count === 0 || start + count <= WINDOW_MAX) {
    // `search_after` does not allow `from`: the first `start` hits are read and dropped.
    const [skip, size] = after === undefined ? [0, count] : [start, start + count];
    const response = await indices.search({
      ...(count === 0 ? { query } : request),
      ...(after === undefined && count > 0 && { from: start }),
      size: count === 0 ? 0 : size,
      ...more,
    });
    return { hits: response.hits.hits.slice(skip).map((hit) => hitOf(hit, sort)), response };
  }
  return await indices.atPointInTime(async (search) => {
    const response = await search({ ...request, size: WINDOW_MAX, _source: false, ...more });
    const nothing = { hits: [], response };
    let { hits } = response.hits;
    let skipped = 0;
    while (skipped + hits.length < start) {
      if (hits.length < WINDOW_MAX) return nothing;
      skipped += hits.length;
      const step = { size: WINDOW_MAX, _source: false, search_after: hits.at(-1)?.sort };
      ({ hits } = (await search({ ...request, ...step })).hits);
    }
    const before = hits[start - skipped - 1];
    if (before === undefined) return nothing;
    const page = await search({ ...request, size: count, search_after: before.sort });
    return { hits: page.hits.hits.map((hit) => hitOf(hit, sort)), response };
  });
}

/** Sorts by the least of several values ascending, by the greatest descending. */
const sortOf = (sort: readonly SortBy[]): estypes.Sort => [
  ...sort.map(({ field, order }) => ({
    [fieldNames.order(field)]: {
      ...(order === "ASCENDING"
        ? ({ order: "asc", mode: "min" } as const)
        : ({ order: "desc", mode: "max" } as const)),
      ...({ missing: "_last", unmapped_type: "keyword" } as const),
    },
  })),
  { _score: { order: "desc" } },
  { urn: { order: "asc" } },
];

function searchAfter(after: Cursor, sort: readonly SortBy[]): SortValues {
  const keys = sort.map((_, n) => {
    const key = after[n];
    if (key === undefined || key === null) return null;
    return typeof key === "boolean" ? storedOrder(key) : storedKey(key);
  });
  const [score, urn] = [after[sort.length], after[sort.length + 1]];
  return [...keys, Number(score ?? 0), inUnitOrder(String(urn ?? "").toWellFormed())];
}

function hitOf(
  { _source, _score, sort: sortValues = [] }: Response["hits"]["hits"][number],
  sort: readonly SortBy[],
): Hit {
  const urn = fromUnitOrder(_source?.urn ?? "");
  const document = decodeLazily(urn, _source?.document ?? "");
  // JSON has the shortest decimal form of the 32-bit float.
  const score = Math.fround(Number(_score ?? 0));
  const keys = sort.map((by, n) => keyOf(sortValues[n], by, document));
  return { document, score, cursor: [...keys, score, urn] };
}

function keyOf(stored: unknown, by: SortBy, document: SearchDocument): SortKey | null {
  if (typeof stored !== "string") return null;
  return readKey(stored) ?? keyOfDocument(by, document) ?? null;
}

function keyOfDocument({ field, order }: SortBy, { values }: SearchDocument): SortKey | undefined {
  const keys = fieldValues(values, field).map(sortKey).sort(compareKeys);
  return keys.at(order === "ASCENDING" ? 0 : -1);
}
