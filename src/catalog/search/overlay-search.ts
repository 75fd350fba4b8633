/**
 * A search reader with a few additional documents. Results include them as matches of every query,
 * with the score 1. A facet that returns its most frequent values must return all values of these
 * documents.
 */
import { appendAll } from "../../lib/lists.ts";
import { fieldValues } from "../../views/search/evaluate.ts";
import {
  type Cursor,
  type FacetQuery,
  type FacetValue,
  type Hit,
  hitsMax,
  type SearchDocument,
  type SearchQuery,
  type SearchReader,
  type SearchResult,
  type SortBy,
} from "../../views/search/search.ts";
import { compareKeys, sortKey } from "../../views/search/sort-key.ts";

type Searching = Pick<SearchReader, "search">;

export function joinedSearch(reader: Searching, documents: readonly SearchDocument[]): Searching {
  if (documents.length === 0) return reader;
  return {
    async search(query) {
      const { sort, start, count, after } = query;
      const order = orderOf(sort);
      const joined = documents
        .map((document) => hitOf(document, sort))
        .filter(({ cursor }) => after === undefined || order(cursor, after) > 0);
      // Documents further before the page stay before it, whatever is merged in.
      const from = Math.max(0, start - joined.length);
      const length = count === 0 ? 0 : start + count - from;
      // With matches, near words are not needed.
      const page = { start: from, count: length, nearWordsOf: undefined };
      const result = await searchWhole(reader, { ...query, ...page });
      const hits = [...result.hits, ...joined].sort((a, b) => order(a.cursor, b.cursor));
      return {
        ...result,
        hits: hits.slice(start - from, start - from + count),
        total: result.total + documents.length,
        facets: query.facets.map((facet, i) => counted(facet, documents, result.facets[i] ?? [])),
      };
    },
  };
}

/** Reads as many hits as requested, in several searches if necessary. */
async function searchWhole(reader: Searching, query: SearchQuery): Promise<SearchResult> {
  const { start, count } = query;
  const result = await reader.search(query);
  const hits = [...result.hits];
  for (let last = hits.length; last === hitsMax && hits.length < count; ) {
    const [from, rest] = [start + hits.length, count - hits.length];
    const next = await reader.search({ ...query, start: from, count: rest, facets: [] });
    appendAll(hits, next.hits);
    last = next.hits.length;
  }
  return { ...result, hits };
}

const SCORE = 1;

function hitOf(document: SearchDocument, sort: readonly SortBy[]): Hit {
  const keys = sort.map(({ field, order }) => {
    const all = fieldValues(document.values, field).map(sortKey).toSorted(compareKeys);
    return all.at(order === "ASCENDING" ? 0 : -1) ?? null;
  });
  return { document, score: SCORE, cursor: [...keys, SCORE, document.urn] };
}

function orderOf(sort: readonly SortBy[]): (a: Cursor, b: Cursor) => number {
  const [score, urn] = [sort.length, sort.length + 1];
  return (a, b) => {
    for (const [n, { order }] of sort.entries()) {
      const [one, other] = [a[n] ?? null, b[n] ?? null];
      if (one === other) continue;
      if (one === null || other === null) return one === null ? 1 : -1;
      const compared = compareKeys(sortKey(one), sortKey(other));
      if (compared !== 0) return order === "ASCENDING" ? compared : -compared;
    }
    return Number(b[score]) - Number(a[score]) || compareKeys(String(a[urn]), String(b[urn]));
  };
}

function counted(
  facet: FacetQuery,
  documents: readonly SearchDocument[],
  found: readonly FacetValue[],
): readonly FacetValue[] {
  const counts = new Map(found.map((one) => [keyOf(one.values), one]));
  for (const document of documents) {
    for (const values of combinationsOf(facet, document)) {
      const key = keyOf(values);
      counts.set(key, { values, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  if ("named" in facet) return facet.named.flatMap((values) => counts.get(keyOf(values)) ?? []);
  return [...counts.values()].sort(byCount).slice(0, facet.limit);
}

const keyOf = (values: readonly string[]): string => JSON.stringify(values);

const byCount = (a: FacetValue, b: FacetValue): number =>
  b.count - a.count ||
  compareKeys(a.values[0], b.values[0]) ||
  compareKeys(a.values[1], b.values[1]);

/** The values of a document that a facet counts. */
function combinationsOf(
  facet: FacetQuery,
  { values }: SearchDocument,
): readonly (readonly string[])[] {
  const texts = (field: string) => fieldValues(values, field).map(String);
  if ("named" in facet) {
    const all = facet.among.map((fields) => new Set(fields.flatMap(texts)));
    return facet.named.filter((named) => named.every((text, at) => all[at]?.has(text)));
  }
  const [first, second] = facet.fields;
  const firsts = new Set(texts(first));
  if (second === undefined) return Array.from(firsts, (text) => [text]);
  const seconds = new Set(texts(second));
  return [...firsts].flatMap((text) => Array.from(seconds, (other) => [text, other]));
}
