/** Collects the top hits: of each segment the first in the order of the query, then of all. */
import type { Cursor, FieldValue, SearchQuery, SortBy } from "../../search.ts";
import { compareKeys } from "../../sort-key.ts";
import type { Segment } from "../segments/segment.ts";
import type { DocSet } from "./doc-set.ts";

/** The matches in one segment. */
export interface Matched {
  readonly segment: Segment;
  readonly found: DocSet;
}

interface TopHit {
  readonly segment: Segment;
  readonly doc: number;
  readonly score: number;
  readonly cursor: Cursor;
}

/** So many more than are wanted are collected before they are sorted. */
const SORTED_MIN = 100;

type Page = Pick<SearchQuery, "sort" | "start" | "count" | "after">;

export function topHits(all: readonly Matched[], page: Page): readonly TopHit[] {
  const end = page.start + page.count;
  if (page.count === 0) return [];
  const sources = all.map((matched) => hitsOf(matched, page, end));
  const heads = sources.flatMap((source) => {
    const { value } = source.next();
    return value === undefined ? [] : [{ hit: value, source }];
  });
  const hits: TopHit[] = [];
  while (hits.length < end && heads.length > 0) {
    const first = heads.reduce((a, b) =>
      compareCursors(b.hit.cursor, a.hit.cursor, page.sort) < 0 ? b : a,
    );
    hits.push(first.hit);
    const { value } = first.source.next();
    if (value === undefined) heads.splice(heads.indexOf(first), 1);
    else first.hit = value;
  }
  return hits.slice(page.start);
}

/** The first hits of a segment, one after the other. */
function* hitsOf(matched: Matched, page: Page, wanted: number): Generator<TopHit, undefined> {
  const { segment, found } = matched;
  const keys = page.sort.map((by) => sortKeys(matched, by));
  for (const index of firstOf(matched, keys, page, wanted)) {
    const doc = found.docs[index] as number;
    const score = found.scores[index] as number;
    const sorted = page.sort.map(({ field }, n): FieldValue | null => {
      const rank = Math.abs(keys[n]?.[index] as number);
      return rank === Infinity ? null : (segment.field(field)?.keyOfRank(rank) ?? null);
    });
    yield { segment, doc, score, cursor: [...sorted, score, segment.urns.text(doc)] };
  }
}

/** The sort keys of the documents that matched, for each criterion of order. */
type Keys = readonly Float64Array[];

/** Indexes of the first documents in the set that matched. */
function firstOf(matched: Matched, allKeys: Keys, page: Page, wanted: number): readonly number[] {
  const { docs, scores } = matched.found;
  const isAfter = page.after && comesAfter(matched, allKeys, page.sort, page.after);
  const compare = (a: number, b: number): number => {
    for (const keys of allKeys) {
      const [left, right] = [keys[a] as number, keys[b] as number];
      if (left !== right) return left < right ? -1 : 1;
    }
    return (scores[b] as number) - (scores[a] as number) || a - b;
  };
  let first: number[] = [];
  /** The last of the first so far; undefined before so many are found. */
  let last: number | undefined;
  for (let index = 0; index < docs.length; index++) {
    if (isAfter !== undefined && !isAfter(index)) continue;
    if (last !== undefined && compare(index, last) > 0) continue;
    first.push(index);
    if (first.length < 2 * wanted + SORTED_MIN) continue;
    first = first.sort(compare).slice(0, wanted);
    last = first.at(-1);
  }
  return first.sort(compare).slice(0, wanted);
}

/** True if a document comes after a position in the order. */
function comesAfter(
  { segment, found }: Matched,
  keys: Keys,
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
      const key = keys[n]?.[index] as number;
      if (key !== bounds[n]) return key > (bounds[n] as number);
    }
    const own = found.scores[index] as number;
    return own === score ? (found.docs[index] as number) > lastDoc : own < score;
  };
}

/** A number for each document that sorts it: its rank, negative if descending; Infinity without one. */
function sortKeys({ segment, found }: Matched, { field, order }: SortBy): Float64Array {
  const keys = new Float64Array(found.docs.length).fill(Infinity);
  const values = segment.field(field);
  if (values === undefined) return keys;
  const { ranks } = values;
  const sign = order === "ASCENDING" ? 1 : -1;
  let index = 0;
  const take = (ordinal: number): void => {
    const key = sign * (ranks === undefined ? ordinal : (ranks[ordinal] as number));
    if (key < (keys[index] as number)) keys[index] = key;
  };
  for (; index < keys.length; index++) values.each(found.docs[index] as number, take);
  return keys;
}

/** Where a sort key lies among those of a segment: one of them or between two. */
function boundOf(segment: Segment, { field, order }: SortBy, key: FieldValue | null): number {
  if (key === null) return Infinity;
  const values = segment.field(field);
  if (values === undefined) return 0;
  const { rank, exact } = values.rankOfKey(typeof key === "boolean" ? Number(key) : key);
  const between = exact ? rank : rank - 0.5;
  return order === "ASCENDING" ? between : -between;
}

function compareCursors(a: Cursor, b: Cursor, sort: readonly SortBy[]): number {
  for (const [n, { order }] of sort.entries()) {
    const [left, right] = [a[n] ?? null, b[n] ?? null];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
      continue;
    }
    const by = compareKeys(left as string | number, right as string | number);
    if (by !== 0) return order === "ASCENDING" ? by : -by;
  }
  const score = Number(b[sort.length]) - Number(a[sort.length]);
  return score || compareKeys(String(a[sort.length + 1]), String(b[sort.length + 1]));
}
