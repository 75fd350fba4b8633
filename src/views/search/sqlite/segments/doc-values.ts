/**
 * Doc values: the values of one field by document, as ordinals of the sorted distinct values.
 * Filters, facets, sorting and folders read only doc values. Ordinals start at 1: numbers by size,
 * then false and true, then texts by UTF-16 code unit. Ordinal 0 means no value.
 *
 * A field has one ordinal per document. If a document has several values, the field has the
 * ordinals of all documents one after the other, and the start of those of each document.
 */
import type { FieldValue } from "../../search.ts";
import { compareKeys, type SortKey, sortKey } from "../../sort-key.ts";
import { firstNot, float64Of, integersOf, type Numbers, type Range, uint32Of } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";

export interface FieldEntry {
  readonly name: string;
  readonly numbers: Range;
  /** The distinct booleans among the values. */
  readonly booleans: readonly boolean[];
  readonly texts: DictionaryEntry;
  /** Rank of the sort key by ordinal, equal for equal keys; absent if each rank is the ordinal. */
  readonly ranks?: Range | undefined;
  /** Absent if no document has several values. */
  readonly starts?: Range | undefined;
  readonly ordinals: Range;
}

export class FieldValues {
  /** The greatest ordinal + 1. */
  readonly end: number;
  /** True if no document has several values. */
  readonly isSingle: boolean;
  /** True if all values are texts. */
  readonly isText: boolean;
  private readonly numbers: Float64Array;
  private readonly booleans: readonly boolean[];
  private readonly texts: Dictionary;
  /** The ordinal of the first text. */
  private readonly textsFrom: number;
  private readonly starts: Numbers | undefined;
  private readonly ordinals: Numbers;
  private readonly ranks: Uint32Array | undefined;
  private ordinalOfRank: Uint32Array | undefined;
  private mapped: { readonly base: FieldValues; readonly ordinals: Int32Array } | undefined;

  constructor(memory: Uint8Array, entry: FieldEntry, docs: number) {
    const { starts, ordinals, ranks } = entry;
    this.numbers = float64Of(memory, entry.numbers);
    this.booleans = entry.booleans;
    this.texts = new Dictionary(memory, entry.texts);
    this.textsFrom = 1 + this.numbers.length + this.booleans.length;
    this.end = this.textsFrom + this.texts.count;
    this.isSingle = starts === undefined;
    this.isText = this.textsFrom === 1;
    this.starts = starts && integersOf(memory, starts, docs + 1);
    this.ordinals = integersOf(memory, ordinals, this.starts?.[docs] ?? docs);
    this.ranks = ranks && uint32Of(memory, ranks);
  }

  value(ordinal: number): FieldValue {
    if (ordinal >= this.textsFrom) return this.texts.text(ordinal - this.textsFrom);
    const { numbers, booleans } = this;
    return numbers[ordinal - 1] ?? (booleans[ordinal - 1 - numbers.length] as boolean);
  }

  /** The ordinal of a value, or 0. */
  find(value: FieldValue): number {
    const { numbers } = this;
    if (typeof value === "string") {
      const at = this.texts.find(value.toWellFormed());
      return at < 0 ? 0 : this.textsFrom + at;
    }
    if (typeof value === "boolean") {
      const at = this.booleans.indexOf(value);
      return at < 0 ? 0 : 1 + numbers.length + at;
    }
    const at = firstNot(0, numbers.length, (n) => (numbers[n] as number) < value);
    return numbers[at] === value ? 1 + at : 0;
  }

  /** Iterates over the values in order; faster than calling `value` for each ordinal. */
  eachValue(take: (value: FieldValue, ordinal: number) => void): void {
    for (let ordinal = 1; ordinal < this.textsFrom; ordinal++) take(this.value(ordinal), ordinal);
    this.texts.eachText(0, this.texts.count, (text, at) => take(text, this.textsFrom + at));
  }

  /** The index of the first ordinal of a document. */
  private start(doc: number): number {
    return this.starts === undefined ? doc : (this.starts[doc] as number);
  }

  has(doc: number): boolean {
    const start = this.start(doc);
    return start < this.start(doc + 1) && this.ordinals[start] !== 0;
  }

  /** True if `marked` is set for an ordinal of the document. */
  some(doc: number, marked: Uint8Array): boolean {
    const end = this.start(doc + 1);
    for (let at = this.start(doc); at < end; at++) {
      if (marked[this.ordinals[at] as number] === 1) return true;
    }
    return false;
  }

  each(doc: number, take: (ordinal: number) => void): void {
    const end = this.start(doc + 1);
    for (let at = this.start(doc); at < end; at++) {
      const ordinal = this.ordinals[at] as number;
      if (ordinal !== 0) take(ordinal);
    }
  }

  /** Number of the documents by ordinal; the count of ordinal 0 is undefined. */
  countOf(docs: Uint32Array): Uint32Array {
    const counts = new Uint32Array(this.end);
    if (this.starts === undefined) countSingle(this.ordinals, docs, counts);
    else countSeveral(this.ordinals, this.starts, docs, counts);
    counts[0] = 0;
    return counts;
  }

  /** The ordinal of a document; only if `isSingle`. */
  ordinalOf(doc: number): number {
    return this.ordinals[doc] as number;
  }

  /** Cache of the ordinals of these values in another segment. */
  ordinalsIn(base: FieldValues): Int32Array {
    if (this.mapped?.base !== base) this.mapped = { base, ordinals: new Int32Array(this.end) };
    return this.mapped.ordinals;
  }

  rankOf(ordinal: number): number {
    return this.ranks === undefined ? ordinal : (this.ranks[ordinal] as number);
  }

  /** The sort key of a rank. */
  keyOfRank(rank: number): SortKey {
    return sortKey(this.value(this.ordinalsByRank()?.[rank] ?? rank));
  }

  /** The rank of a sort key; between two ranks if no value has it. */
  rankOfKey(key: SortKey): number {
    const end = this.ordinalsByRank()?.length ?? this.end;
    const rank = firstNot(1, end, (one) => compareKeys(this.keyOfRank(one), key) < 0);
    return rank < end && this.keyOfRank(rank) === key ? rank : rank - 0.5;
  }

  private ordinalsByRank(): Uint32Array | undefined {
    const { ranks } = this;
    if (ranks === undefined || this.ordinalOfRank !== undefined) return this.ordinalOfRank;
    const greatest = ranks.reduce((most, rank) => Math.max(most, rank));
    this.ordinalOfRank = new Uint32Array(greatest + 1);
    for (const [ordinal, rank] of ranks.entries()) this.ordinalOfRank[rank] = ordinal;
    return this.ordinalOfRank;
  }
}

// Separate functions: V8 optimizes each loop for few array types.

function countSingle(ordinals: Numbers, docs: Uint32Array, counts: Uint32Array): void {
  for (let at = 0; at < docs.length; at++) {
    const ordinal = ordinals[docs[at] as number] as number;
    counts[ordinal] = (counts[ordinal] as number) + 1;
  }
}

function countSeveral(
  ordinals: Numbers,
  starts: Numbers,
  docs: Uint32Array,
  counts: Uint32Array,
): void {
  for (let n = 0; n < docs.length; n++) {
    const doc = docs[n] as number;
    const end = starts[doc + 1] as number;
    for (let at = starts[doc] as number; at < end; at++) {
      const ordinal = ordinals[at] as number;
      counts[ordinal] = (counts[ordinal] as number) + 1;
    }
  }
}
