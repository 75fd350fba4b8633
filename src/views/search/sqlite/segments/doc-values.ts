/**
 * Doc values: the values of one field by document, as ordinals of a sorted list of the distinct
 * values. Filters, facets, sorting and folders read only these. Ordinals number the numbers of a
 * field by size, then false and true, then the texts by UTF-16 code unit.
 *
 *   single   an ordinal + 1 for each document, 0 without a value
 *   pairs    documents in ascending order and the ordinal of each; a document with several values
 *            has several pairs, one without a value has none
 */
import type { FieldValue } from "../../search.ts";
import { compareKeys, type SortKey, sortKey } from "../../sort-key.ts";
import {
  float64Of,
  integersOf,
  lowerBound,
  type Numbers,
  type Range,
  seek,
  uint32Of,
} from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";

export interface FieldEntry {
  readonly name: string;
  readonly numbers: Range;
  /** True if false and true are among the values. */
  readonly booleans: readonly [boolean, boolean];
  readonly texts: DictionaryEntry;
  /** Order of the ordinals' sort keys, equal for equal keys; absent if ordinals are in that order. */
  readonly ranks?: Range | undefined;
  /** The documents of the pairs; absent if there is an ordinal for each document. */
  readonly docs?: Range | undefined;
  readonly ordinals: Range;
  readonly ordinalCount: number;
}

export class FieldValues {
  /** Of distinct values. */
  readonly count: number;
  /** The ordinal of the first text. */
  readonly textsFrom: number;
  private readonly numbers: Float64Array;
  private readonly falseAt: number;
  private readonly trueAt: number;
  private readonly texts: Dictionary;
  private readonly ordinals: Numbers;
  private readonly docs: Uint32Array | undefined;
  private lastPair = 0;
  /** Order of the ordinals' sort keys; undefined if ordinals are in that order. */
  readonly ranks: Uint32Array | undefined;
  private byRank: Uint32Array | undefined;

  constructor(memory: Uint8Array, entry: FieldEntry) {
    this.numbers = float64Of(memory, entry.numbers);
    this.falseAt = entry.booleans[0] ? this.numbers.length : -1;
    this.trueAt = entry.booleans[1] ? this.numbers.length + (entry.booleans[0] ? 1 : 0) : -1;
    this.textsFrom = this.numbers.length + Number(entry.booleans[0]) + Number(entry.booleans[1]);
    this.texts = new Dictionary(memory, entry.texts);
    this.count = this.textsFrom + this.texts.count;
    this.ordinals = integersOf(memory, entry.ordinals, entry.ordinalCount);
    this.docs = entry.docs && uint32Of(memory, entry.docs);
    this.ranks = entry.ranks && uint32Of(memory, entry.ranks);
  }

  /** True if no document has several values. */
  get isSingle(): boolean {
    return this.docs === undefined;
  }

  value(ordinal: number): FieldValue {
    if (ordinal >= this.textsFrom) return this.texts.text(ordinal - this.textsFrom);
    if (ordinal === this.trueAt) return true;
    return ordinal === this.falseAt ? false : (this.numbers[ordinal] as number);
  }

  /** The ordinal of a value; -1 if no document has it. */
  find(value: FieldValue): number {
    if (typeof value === "boolean") return value ? this.trueAt : this.falseAt;
    if (typeof value === "number") {
      const ordinal = lowerBound(this.numbers, value);
      return this.numbers[ordinal] === value ? ordinal : -1;
    }
    const ordinal = this.texts.find(value);
    return ordinal < 0 ? -1 : this.textsFrom + ordinal;
  }

  /** Calls back for each value in order; cheaper than `value` for each ordinal. */
  eachValue(take: (value: FieldValue, ordinal: number) => void): void {
    for (let ordinal = 0; ordinal < this.textsFrom; ordinal++) take(this.value(ordinal), ordinal);
    this.texts.eachText(0, this.texts.count, (text, at) => take(text, this.textsFrom + at));
  }

  /** The index of the first pair that is not before those of a document. Documents mostly ascend. */
  private pairOf(docs: Uint32Array, doc: number): number {
    let pair = this.lastPair;
    if (pair >= docs.length || (docs[pair] as number) > doc) pair = 0;
    if ((docs[pair] as number) < doc) pair = seek(docs, doc, pair + 1);
    this.lastPair = pair;
    return pair;
  }

  has(doc: number): boolean {
    const { docs } = this;
    return docs === undefined ? this.ordinals[doc] !== 0 : docs[this.pairOf(docs, doc)] === doc;
  }

  /** True if a value of the document is marked by its ordinal. */
  some(doc: number, marked: Uint8Array): boolean {
    const { docs, ordinals } = this;
    if (docs === undefined) {
      const ordinal = ordinals[doc] as number;
      return ordinal !== 0 && marked[ordinal - 1] === 1;
    }
    for (let pair = this.pairOf(docs, doc); docs[pair] === doc; pair++) {
      if (marked[ordinals[pair] as number] === 1) return true;
    }
    return false;
  }

  /** Calls back for each ordinal of a document. */
  each(doc: number, take: (ordinal: number) => void): void {
    const { docs, ordinals } = this;
    if (docs === undefined) {
      const ordinal = ordinals[doc] as number;
      if (ordinal !== 0) take(ordinal - 1);
    } else {
      for (let pair = this.pairOf(docs, doc); docs[pair] === doc; pair++) {
        take(ordinals[pair] as number);
      }
    }
  }

  /** In how many of the documents, which ascend, each ordinal is. */
  countOf(docs: Uint32Array): Uint32Array {
    // The first count is that of the documents without a value.
    const counts = new Uint32Array(this.count + 1);
    if (this.docs === undefined) countSingle(this.ordinals, docs, counts);
    else countPairs(this.ordinals, this.docs, docs, counts);
    return counts.subarray(1);
  }

  /** The sort key of a rank. */
  keyOfRank(rank: number): SortKey {
    return sortKey(this.value(this.ordinalsByRank()?.[rank] ?? rank));
  }

  /** The number of ranks whose key is less than this one, and whether a rank has it. */
  rankOfKey(key: SortKey): { readonly rank: number; readonly exact: boolean } {
    let low = 0;
    let high = this.ordinalsByRank()?.length ?? this.count;
    const end = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.keyOfRank(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return { rank: low, exact: low < end && this.keyOfRank(low) === key };
  }

  private ordinalsByRank(): Uint32Array | undefined {
    const { ranks } = this;
    if (ranks === undefined || this.byRank !== undefined) return this.byRank;
    const greatest = ranks.reduce((most, rank) => Math.max(most, rank));
    this.byRank = new Uint32Array(greatest + 1);
    for (let n = 0; n < ranks.length; n++) this.byRank[ranks[n] as number] = n;
    return this.byRank;
  }
}

/** All pairs are read, not searched, for a document among so many. */
const DENSE_PAIRS = 8;

// Functions by themselves: the compiler optimizes their loops for few types.

function countSingle(ordinals: Numbers, docs: Uint32Array, counts: Uint32Array): void {
  for (let at = 0; at < docs.length; at++) {
    const ordinal = ordinals[docs[at] as number] as number;
    counts[ordinal] = (counts[ordinal] as number) + 1;
  }
}

function countPairs(
  ordinals: Numbers,
  pairDocs: Uint32Array,
  docs: Uint32Array,
  counts: Uint32Array,
): void {
  if (docs.length * DENSE_PAIRS > pairDocs.length) {
    const found = new Uint8Array(Math.max(pairDocs.at(-1) ?? 0, docs.at(-1) ?? 0) + 1);
    for (let at = 0; at < docs.length; at++) found[docs[at] as number] = 1;
    for (let pair = 0; pair < pairDocs.length; pair++) {
      // Pairs of other documents count as those without a value.
      const ordinal =
        ((ordinals[pair] as number) + 1) * (found[pairDocs[pair] as number] as number);
      counts[ordinal] = (counts[ordinal] as number) + 1;
    }
    return;
  }
  for (let at = 0, pair = 0; at < docs.length; at++) {
    const doc = docs[at] as number;
    pair = seek(pairDocs, doc, pair);
    for (; pairDocs[pair] === doc; pair++) {
      const ordinal = (ordinals[pair] as number) + 1;
      counts[ordinal] = (counts[ordinal] as number) + 1;
    }
  }
}
