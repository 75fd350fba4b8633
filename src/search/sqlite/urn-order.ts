/**
 * The places of documents in the order of their urns, without the urns: 8 bytes a document. Read
 * when the first large answer has to be ordered; new documents are put in between. A document that
 * is removed keeps its place.
 */
import type { DatabaseSync } from "node:sqlite";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import { listedNumbers } from "./listed-numbers.ts";
import { mergedWith, placeAmong } from "./merged.ts";

export interface UrnOrder {
  urnOf(doc: number): string;
  /** The first of some documents in the order of their urns. */
  first(docs: Uint32Array, count: number): Uint32Array;
  /**
   * Numbers that order the documents as their urns do, and where a urn that is given would be:
   * one of the numbers, or between two.
   */
  places(docs: Uint32Array, urn?: string): { readonly of: ArrayLike<number>; readonly urn: number };
  /** There are documents up to this number now. */
  grow(last: number): void;
  clear(): void;
}

/** So few urns are rather compared themselves. */
const COMPARED_MAX = 1_000;
/** Places that are kept until the first of them are picked. */
const FIRST_ROOM = 4_096;
/** With so many more documents than before, SQLite sorts them all sooner than we the new ones. */
const GROWN_TIMES = 1.25;

/** UTF-8 orders U+E000 and above differently beside characters of two UTF-16 units. */
export const isWide = (urn: string): boolean => /[\ud800-\uffff]/.test(urn);

export function createUrnOrder(db: DatabaseSync): UrnOrder {
  const { arrays } = preparingOn(db);
  const select = arrays<readonly [urn: string]>("SELECT urn FROM entity WHERE id = ?");
  const inOrder = arrays<readonly [docs: string | null]>(
    "SELECT group_concat(id) FROM (SELECT id FROM entity WHERE wide = 0 ORDER BY urn)",
  );
  const wide = arrays<readonly [id: number]>("SELECT id FROM entity WHERE wide = 1");
  let last = 0;
  let sorted: Uint32Array | undefined;
  let placeOf = new Uint32Array();

  const urnOf = (doc: number): string => select.get(doc)?.[0] ?? "";

  function read(): Uint32Array {
    const narrow = listedNumbers(inOrder.get()?.[0] ?? null);
    const others = wide.all().map(([id]) => id);
    return mergedWith(narrow, Uint32Array.from(others), comparing());
  }

  /** Compares urns; remembers those that it has met for as long as it lives. */
  function comparing(): (a: number, b: number) => number {
    const urns = new Map<number, string>();
    const remembered = (doc: number): string => {
      let urn = urns.get(doc);
      if (urn === undefined) {
        urn = urnOf(doc);
        urns.set(doc, urn);
      }
      return urn;
    };
    return (a, b) => byCodeUnit(remembered(a), remembered(b));
  }

  function refreshed(): Uint32Array {
    if (sorted !== undefined && sorted.length === last) return sorted;
    if (sorted === undefined || last > sorted.length * GROWN_TIMES) sorted = read();
    else {
      const fresh = new Uint32Array(last - sorted.length);
      for (let at = 0; at < fresh.length; at++) fresh[at] = sorted.length + at + 1;
      sorted = mergedWith(sorted, fresh, comparing());
    }
    placeOf = new Uint32Array(last + 1);
    for (let place = 0; place < sorted.length; place++) placeOf[sorted[place] ?? 0] = place;
    return sorted;
  }

  /** Even numbers for places, odd ones for what lies between them. */
  function placeOfUrn(urn: string, all: Uint32Array, urnAt: (doc: number) => string): number {
    const place = placeAmong(all, 0, (doc) => byCodeUnit(urnAt(doc), urn));
    return place < all.length && urnAt(all[place] ?? 0) === urn ? 2 * place : 2 * place - 1;
  }

  return {
    urnOf,
    first(docs, count) {
      const all = refreshed();
      // Places of the first so far, and of others: in the order of the numbers, few come to it.
      let room = new Uint32Array(Math.max(FIRST_ROOM, 2 * count));
      let filled = 0;
      let end = Number.POSITIVE_INFINITY;
      const settle = () => {
        room.subarray(0, filled).sort();
        filled = Math.min(filled, count);
        if (filled === count) end = room[count - 1] ?? 0;
      };
      for (let at = 0; at < docs.length; at++) {
        const place = placeOf[docs[at] ?? 0] ?? 0;
        if (place >= end) continue;
        room[filled++] = place;
        if (filled === room.length) settle();
      }
      settle();
      room = room.subarray(0, filled);
      return room.map((place) => all[place] ?? 0);
    },
    places(docs, urn = "") {
      if (docs.length <= COMPARED_MAX && sorted?.length !== last) {
        const urns = new Map(Array.from(docs, (doc) => [doc, urnOf(doc)]));
        const urnAt = (doc: number) => urns.get(doc) ?? "";
        const few = docs.slice().sort((a, b) => byCodeUnit(urnAt(a), urnAt(b)));
        const places = new Map(Array.from(few, (doc, place) => [doc, 2 * place]));
        return {
          of: Array.from(docs, (doc) => places.get(doc) ?? 0),
          urn: placeOfUrn(urn, few, urnAt),
        };
      }
      const all = refreshed();
      const of = new Uint32Array(docs.length);
      for (let at = 0; at < docs.length; at++) of[at] = 2 * (placeOf[docs[at] ?? 0] ?? 0);
      return { of, urn: urn === "" ? -1 : placeOfUrn(urn, all, urnOf) };
    },
    grow(to) {
      last = to;
    },
    clear() {
      last = 0;
      sorted = undefined;
      placeOf = new Uint32Array();
    },
  };
}

export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
