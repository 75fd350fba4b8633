/**
 * Puts what was found in order, as far as it is asked for: by the criteria of the sort, then by
 * score, then by urn. Every criterion becomes a number that rises in the order of the answer.
 */
import type { Cursor, FieldValue, SortBy } from "../search.ts";
import { compareKeys, type SortKey, sortKey } from "../sort-key.ts";
import type { Column } from "./column.ts";
import { type Found, scoreAt } from "./found.ts";
import type { UrnOrder } from "./urn-order.ts";

export interface Place {
  readonly doc: number;
  readonly score: number;
  readonly cursor: Cursor;
}

export interface Page {
  readonly sort: readonly SortBy[];
  readonly start: number;
  readonly count: number;
  readonly after?: Cursor | undefined;
}

export interface RankingSources {
  column(field: string): Column;
  readonly urns: UrnOrder;
}

export function rank(found: Found, page: Page, { column, urns }: RankingSources): readonly Place[] {
  const { sort, after, start, count } = page;
  const criteria = sort.map((by) => createCriterion(by, column(by.field)));
  const { docs } = found;
  const byUrn = urns.places(docs, urnOfCursor(after, sort.length));
  const columns: ArrayLike<number>[] = [
    ...criteria.map((criterion) => criterion.keysOf(docs)),
    ...(typeof found.scores === "number" ? [] : [found.scores.map((score) => -score)]),
    byUrn.of,
  ];
  const compare = (a: number, b: number): number => {
    for (const keys of columns) {
      const order = (keys[a] ?? 0) - (keys[b] ?? 0);
      // Two infinities, of documents without a value, are not apart.
      if (order !== 0 && !Number.isNaN(order)) return order;
    }
    return 0;
  };
  const beyond =
    after === undefined
      ? undefined
      : isAfter([
          ...criteria.map(({ keyOf }, n) => keyOf(after[n] ?? null)),
          -Number(after[sort.length]),
          byUrn.urn,
        ]);

  function isAfter(cursor: readonly number[]): (at: number) => boolean {
    return (at) => {
      for (const [n, place] of cursor.entries()) {
        const scored = typeof found.scores === "number" && n === sort.length;
        const key = scored ? -scoreAt(found, at) : columns[columnOf(n)]?.[at];
        if (key !== place) return (key ?? 0) > place;
      }
      return false;
    };
  }

  /** There is no column of scores when all are the same. */
  const columnOf = (n: number): number => (n > sort.length ? columns.length - 1 : n);

  return least(docs.length, start + count, compare, beyond)
    .slice(start)
    .map((at) => {
      const doc = docs[at] ?? 0;
      const score = scoreAt(found, at);
      const keys = criteria.map((criterion) => criterion.cursorOf(doc));
      return { doc, score, cursor: [...keys, score, urns.urnOf(doc)] };
    });
}

const urnOfCursor = (cursor: Cursor | undefined, criteria: number): string | undefined =>
  cursor === undefined ? undefined : String(cursor[criteria + 1] ?? "");

interface Criterion {
  keysOf(docs: Uint32Array): Float64Array;
  /** Of a key in a cursor: one of the keys, or between two. */
  keyOf(cursor: FieldValue | null): number;
  cursorOf(doc: number): FieldValue | null;
}

function createCriterion({ order }: SortBy, column: Column): Criterion {
  const { places, keys } = column.order();
  const sign = order === "ASCENDING" ? 1 : -1;

  const ofValues = new Float64Array(places.length);
  for (let value = 0; value < places.length; value++) {
    ofValues[value] = sign * 2 * (places[value] ?? 0);
  }

  return {
    keysOf: (docs) => column.least(docs, ofValues),
    keyOf: (cursor) => (cursor === null ? Infinity : sign * placeOfKey(keys, sortKey(cursor))),
    cursorOf(doc) {
      const [key = Infinity] = column.least(Uint32Array.of(doc), ofValues);
      return key === Infinity ? null : (keys[Math.abs(key) / 2] ?? null);
    },
  };
}

/** Twice its place, or between two places that are there. */
function placeOfKey(keys: readonly SortKey[], key: SortKey): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(keys[middle], key) < 0) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key ? 2 * low : 2 * low - 1;
}

/** From this part of all on, sorting them is quicker than keeping the least ones in a heap. */
const HEAP_PART = 8;

/** The least `count` of so many, in order; of those that `counts` says. */
function least(
  length: number,
  count: number,
  compare: (a: number, b: number) => number,
  counts: ((at: number) => boolean) | undefined,
): readonly number[] {
  const heap: number[] = [];
  if (count <= 0) return heap;
  if (count * HEAP_PART >= length) {
    for (let at = 0; at < length; at++) if (counts?.(at) ?? true) heap.push(at);
    return heap.sort(compare).slice(0, count);
  }
  for (let at = 0; at < length; at++) {
    if (heap.length === count && compare(at, heap[0] ?? 0) >= 0) continue;
    if (counts !== undefined && !counts(at)) continue;
    if (heap.length < count) {
      heap.push(at);
      rise(heap, compare);
    } else {
      heap[0] = at;
      sink(heap, compare);
    }
  }
  return heap.sort(compare);
}

/** The greatest is at the top: the last one rises to its place. */
function rise(heap: number[], compare: (a: number, b: number) => number): void {
  let at = heap.length - 1;
  const item = heap[at] ?? 0;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent] ?? 0;
    if (compare(above, item) >= 0) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = item;
}

function sink(heap: number[], compare: (a: number, b: number) => number): void {
  const item = heap[0] ?? 0;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && compare(heap[child] ?? 0, heap[child + 1] ?? 0) < 0) child++;
    const below = heap[child] ?? 0;
    if (compare(item, below) >= 0) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = item;
}
