/**
 * The values of one field, of all documents, in memory: what facets, sorting and conditions count
 * and compare. Values are numbered as they come; a document has the number of its value, or the
 * place of a list of them.
 */
import type { FieldValue } from "../search.ts";
import { compareKeys, type SortKey, sortKey } from "../sort-key.ts";
import { type ColumnTexts, createColumnTexts } from "./column-texts.ts";
import { merged } from "./merged.ts";

export type ValueNumber = number;

export interface Column {
  /** By their numbers; some may not be in use any more. */
  readonly values: readonly FieldValue[];
  numberOf(value: FieldValue): ValueNumber | undefined;
  /** The values as texts, to look for something in all of them. */
  texts(): ColumnTexts;
  /** Calls back for each value of a document, each once. */
  each(doc: number, tell: (value: ValueNumber) => void): void;
  has(doc: number): boolean;
  /** Whether the document has a value that is marked, by its number. */
  some(doc: number, marked: Uint8Array): boolean;
  /** Of each document the least of its values' numbers in `of`; Infinity without a value. */
  least(docs: Uint32Array, of: Float64Array): Float64Array;
  /** In how many of the documents each value is. */
  count(docs: Uint32Array): Uint32Array;
  set(doc: number, values: readonly FieldValue[]): void;
  /** Of equal sort keys equal places, from 0. */
  order(): ValueOrder;
  /** About; what the column takes in memory. */
  bytes(): number;
  /** Whether so much in it is out of use that it should be read anew. */
  worn(): boolean;
}

export interface ValueOrder {
  /** Place by value number. */
  readonly places: Uint32Array;
  /** Key by place. */
  readonly keys: readonly SortKey[];
}

/** Values and documents as they are read first: pairs in any order. */
export interface Pairs {
  readonly values: readonly FieldValue[];
  readonly docs: Uint32Array;
  /** One for each of `docs`. */
  readonly numbers: Uint32Array;
}

export const noPairs: Pairs = { values: [], docs: new Uint32Array(), numbers: new Uint32Array() };

const BYTES_PER_VALUE = 120;
/** A column is not worn before so many values or list members are out of use. */
const WORN_MIN = 50_000;

export function createColumn({ values: first, docs, numbers }: Pairs, docsMax: number): Column {
  const values: FieldValue[] = [...first];
  const known = new Map<FieldValue, ValueNumber>(values.map((value, number) => [value, number]));
  /** By document: 0 without a value, number + 1 with one, -place in `lists` with several. */
  let codes = new Int32Array(docsMax + 1);
  /** Length and members of one list after the other; the place 0 is none. */
  let lists = new Int32Array(1);
  let listsEnd = 1;
  const keys: SortKey[] = [];
  let order: ValueOrder | undefined;
  let sorted: Uint32Array = new Uint32Array();
  let texts: ColumnTexts | undefined;
  load();
  const firstListsEnd = listsEnd;

  function load(): void {
    let several = false;
    for (let at = 0; at < docs.length; at++) {
      const doc = docs[at] ?? 0;
      several ||= codes[doc] !== 0;
      codes[doc] = (numbers[at] ?? 0) + 1;
    }
    if (several) loadLists();
  }

  function loadLists(): void {
    const counts = new Uint32Array(docsMax + 1);
    for (const doc of docs) counts[doc] = (counts[doc] ?? 0) + 1;
    for (let doc = 0; doc <= docsMax; doc++) {
      const count = counts[doc] ?? 0;
      if (count < 2) continue;
      codes[doc] = -listsEnd;
      listsEnd += count + 1;
    }
    lists = new Int32Array(listsEnd);
    for (let at = 0; at < docs.length; at++) {
      const code = codes[docs[at] ?? 0] ?? 0;
      if (code >= 0) continue;
      const length = (lists[-code] ?? 0) + 1;
      lists[-code] = length;
      lists[length - code] = numbers[at] ?? 0;
    }
  }

  function numberFor(value: FieldValue): ValueNumber {
    let number = known.get(value);
    if (number === undefined) {
      number = values.length;
      known.set(value, number);
      values.push(value);
    }
    return number;
  }

  function keep(list: readonly ValueNumber[]): number {
    if (listsEnd + list.length + 1 > lists.length) {
      lists = grown(lists, (listsEnd + list.length + 1) * 1.5);
    }
    const place = listsEnd;
    lists[place] = list.length;
    lists.set(list, place + 1);
    listsEnd += list.length + 1;
    return -place;
  }

  return {
    values,
    numberOf: (value) => known.get(value),
    texts() {
      texts ??= createColumnTexts(values);
      return texts;
    },
    each(doc, tell) {
      const code = codes[doc] ?? 0;
      if (code > 0) tell(code - 1);
      else if (code < 0) {
        const length = lists[-code] ?? 0;
        for (let n = 1; n <= length; n++) tell(lists[n - code] ?? 0);
      }
    },
    has: (doc) => (codes[doc] ?? 0) !== 0,
    some(doc, marked) {
      const code = codes[doc] ?? 0;
      if (code >= 0) return code > 0 && marked[code - 1] === 1;
      const length = lists[-code] ?? 0;
      for (let n = 1; n <= length; n++) if (marked[lists[n - code] ?? 0] === 1) return true;
      return false;
    },
    least(some, of) {
      const least = new Float64Array(some.length);
      for (let at = 0; at < some.length; at++) {
        const code = codes[some[at] ?? 0] ?? 0;
        let key = code > 0 ? (of[code - 1] ?? Infinity) : Infinity;
        const length = code < 0 ? (lists[-code] ?? 0) : 0;
        for (let n = 1; n <= length; n++) {
          const other = of[lists[n - code] ?? 0] ?? Infinity;
          if (other < key) key = other;
        }
        least[at] = key;
      }
      return least;
    },
    count(some) {
      const counts = new Uint32Array(values.length);
      for (let at = 0; at < some.length; at++) {
        const code = codes[some[at] ?? 0] ?? 0;
        if (code > 0) counts[code - 1] = (counts[code - 1] ?? 0) + 1;
        else if (code < 0) {
          const length = lists[-code] ?? 0;
          for (let n = 1; n <= length; n++) {
            const number = lists[n - code] ?? 0;
            counts[number] = (counts[number] ?? 0) + 1;
          }
        }
      }
      return counts;
    },
    set(doc, some) {
      if (doc >= codes.length) codes = grown(codes, doc * 1.5 + 1);
      const list = [...new Set(some.map((value) => numberFor(wellFormed(value))))];
      const [only = -1] = list;
      codes[doc] = list.length > 1 ? keep(list) : only + 1;
    },
    order() {
      if (order === undefined || order.places.length < values.length) {
        for (const value of values.slice(keys.length)) keys.push(sortKey(value));
        sorted = merged(sorted, values.length, (a, b) => compareKeys(keys[a], keys[b]));
        order = placed(sorted, keys);
      }
      return order;
    },
    bytes: () =>
      4 * (codes.length + lists.length) + BYTES_PER_VALUE * values.length + (texts?.bytes() ?? 0),
    worn: () =>
      values.length > 2 * first.length + WORN_MIN || listsEnd > 2 * firstListsEnd + WORN_MIN,
  };
}

/** Of these documents alone, each with its values; no other is to be asked for. */
export function columnOf(docs: Uint32Array, valuesOf: readonly (readonly FieldValue[])[]): Column {
  const places = new Map(Array.from(docs, (doc, place) => [doc, place]));
  const column = createColumn(noPairs, docs.length);
  for (const [place, values] of valuesOf.entries()) column.set(place, values);
  const placeOf = (doc: number): number => places.get(doc) ?? docs.length;
  return {
    ...column,
    each: (doc, tell) => column.each(placeOf(doc), tell),
    has: (doc) => column.has(placeOf(doc)),
    some: (doc, marked) => column.some(placeOf(doc), marked),
    least: (some, of) => column.least(some.map(placeOf), of),
    count: (some) => column.count(some.map(placeOf)),
    set: (doc, values) => column.set(placeOf(doc), values),
  };
}

export const wellFormed = (value: FieldValue): FieldValue =>
  typeof value === "string" ? value.toWellFormed() : value;

export function grown<T extends Int32Array | Uint32Array | Uint16Array>(
  array: T,
  length: number,
): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.ceil(length));
  larger.set(array);
  return larger;
}

function placed(sorted: Uint32Array, keys: readonly SortKey[]): ValueOrder {
  const places = new Uint32Array(sorted.length);
  const distinct: SortKey[] = [];
  for (const number of sorted) {
    const key = keys[number];
    if (key === undefined) continue;
    if (distinct.length === 0 || distinct.at(-1) !== key) distinct.push(key);
    places[number] = distinct.length - 1;
  }
  return { places, keys: distinct };
}
