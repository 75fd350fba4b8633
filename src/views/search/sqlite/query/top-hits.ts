/** Collects the top k hits of each segment, then of all segments, in the order of the query. */
import type { Cursor, FieldValue, SearchQuery, SortBy } from "../../search.ts";
import { compareKeys, type SortKey } from "../../sort-key.ts";
import type { Segment } from "../segments/segment.ts";
import type { DocSet } from "./doc-set.ts";

/** The matches in one segment. */
export interface Matched {
  readonly segment: Segment;
  readonly found: DocSet;
  /** Keeps documents of the query's types that fulfil its condition and have no tombstone. */
  readonly visible: (set: DocSet) => DocSet;
}

interface TopHit {
  readonly segment: Segment;
  readonly doc: number;
  readonly score: number;
  readonly cursor: Cursor;
}

type Page = Pick<SearchQuery, "sort" | "start" | "count" | "after">;

export function topHits(all: readonly Matched[], page: Page): readonly TopHit[] {
  if (page.count === 0) return [];
  const end = page.start + page.count;
  return all
    .flatMap((matched) => hitsOf(matched, page, end))
    .sort((a, b) => compareCursors(a.cursor, b.cursor, page.sort))
    .slice(page.start, end);
}

/** The top hits of a segment. */
function hitsOf(matched: Matched, page: Page, wanted: number): readonly TopHit[] {
  const { segment, found } = matched;
  const { docs, scores } = found;
  const allKeys = page.sort.map((by) => sortKeys(matched, by));
  const compare = (a: number, b: number): number => {
    for (const keys of allKeys) {
      const [left, right] = [keys[a] as number, keys[b] as number];
      if (left !== right) return left < right ? -1 : 1;
    }
    return (scores[b] as number) - (scores[a] as number) || a - b;
  };
  const isAfter = page.after && comesAfter(matched, allKeys, page.sort, page.after);
  return firstOf(docs.length, wanted, compare, isAfter).map((index) => {
    const [doc, score] = [docs[index] as number, scores[index] as number];
    const sorted = page.sort.map(({ field }, n): FieldValue | null => {
      const rank = Math.abs(allKeys[n]?.[index] as number);
      return rank === Infinity ? null : (segment.field(field)?.keyOfRank(rank) ?? null);
    });
    return { segment, doc, score, cursor: [...sorted, score, segment.urns.text(doc)] };
  });
}

/** Extra capacity of the buffer, so that small pages are not sorted too often. */
const SORTED_MIN = 100;

/** The first `wanted` eligible numbers below `end`, in the order of `compare`. */
export function firstOf(
  end: number,
  wanted: number,
  compare: (a: number, b: number) => number,
  eligible: (n: number) => boolean = () => true,
): readonly number[] {
  let first: number[] = [];
  /** The last number of the current result; undefined until the buffer was full. */
  let last: number | undefined;
  for (let n = 0; n < end; n++) {
    if (!eligible(n) || (last !== undefined && compare(n, last) > 0)) continue;
    first.push(n);
    if (first.length < 2 * wanted + SORTED_MIN) continue;
    first = first.sort(compare).slice(0, wanted);
    last = first.at(-1);
  }
  return first.sort(compare).slice(0, wanted);
}

/** Tests if a document comes after the cursor. */
function comesAfter(
  { segment, found }: Matched,
  allKeys: readonly Float64Array[],
  sort: readonly SortBy[],
  after: Cursor,
): (index: number) => boolean {
  const bounds = sort.map((by, n) => boundOf(segment, by, after[n] ?? null));
  const score = Number(after[sort.length]);
  const urn = String(after[sort.length + 1]).toWellFormed();
  const exact = segment.urns.find(urn);
  const lastDoc = exact >= 0 ? exact : segment.urns.lowerBound(urn) - 1;
  return (index) => {
    for (let n = 0; n < bounds.length; n++) {
      const key = allKeys[n]?.[index] as number;
      if (key !== bounds[n]) return key > (bounds[n] as number);
    }
    const own = found.scores[index] as number;
    return own === score ? (found.docs[index] as number) > lastDoc : own < score;
  };
}

/** Numeric sort keys: the rank of the value, negated if descending; Infinity without a value. */
function sortKeys({ segment, found }: Matched, { field, order }: SortBy): Float64Array {
  const keys = new Float64Array(found.docs.length).fill(Infinity);
  const values = segment.field(field);
  if (values === undefined) return keys;
  const sign = order === "ASCENDING" ? 1 : -1;
  let index = 0;
  const take = (ordinal: number): void => {
    const key = sign * values.rankOf(ordinal);
    if (key < (keys[index] as number)) keys[index] = key;
  };
  for (; index < keys.length; index++) values.each(found.docs[index] as number, take);
  return keys;
}

/** The numeric sort key of a cursor's key in a segment; it may be between two ranks. */
function boundOf(segment: Segment, { field, order }: SortBy, key: FieldValue | null): number {
  const values = segment.field(field);
  if (key === null) return Infinity;
  if (values === undefined) return 0;
  const rank = values.rankOfKey(typeof key === "boolean" ? Number(key) : key);
  return order === "ASCENDING" ? rank : -rank;
}

function compareCursors(a: Cursor, b: Cursor, sort: readonly SortBy[]): number {
  for (const [n, { order }] of sort.entries()) {
    const [left, right] = [a[n] ?? null, b[n] ?? null];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
      continue;
    }
    const by = compareKeys(left as SortKey, right as SortKey);
    if (by !== 0) return order === "ASCENDING" ? by : -by;
  }
  const score = Number(b[sort.length]) - Number(a[sort.length]);
  return score || compareKeys(String(a[sort.length + 1]), String(b[sort.length + 1]));
}
