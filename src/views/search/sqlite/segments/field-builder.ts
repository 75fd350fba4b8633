/** Builds the doc values of a field (doc-values.ts). */
import type { FieldValue } from "../../search.ts";
import { compareKeys, type SortKey, sortKey } from "../../sort-key.ts";
import { type ByteWriter, keyOf, narrowed } from "./bytes.ts";
import { writeDictionary } from "./dictionary.ts";
import type { FieldEntry } from "./doc-values.ts";

/** A field that fewer documents have is sparse. */
const SPARSE_PART = 1 / 8;

/** Collects the values of a field, document by document. */
export class FieldBuilder {
  /** Values are numbered as they come. */
  private readonly numberOf = new Map<FieldValue, number>();
  /** By number: the last document with the value. */
  private readonly lastDocs: number[] = [];
  /** Pairs of a document and the number of a value. */
  private readonly docs: number[] = [];
  private readonly numbers: number[] = [];

  /** The number of a value. */
  number(raw: FieldValue): number {
    const known = this.numberOf.get(raw);
    if (known !== undefined) return known;
    const value = typeof raw === "string" ? raw.toWellFormed() : raw;
    const number = this.numberOf.get(value) ?? this.numberOf.size;
    this.numberOf.set(value, number);
    return number;
  }

  /** Adds the number of a value to a document; documents ascend. */
  add(doc: number, number: number): void {
    if (this.lastDocs[number] === doc) return;
    this.lastDocs[number] = doc;
    this.docs.push(doc);
    this.numbers.push(number);
  }

  /** Undefined if no document has a value. */
  write(writer: ByteWriter, name: string, docCount: number): FieldEntry | undefined {
    const used = Array.from(this.numberOf).filter(([, n]) => this.lastDocs[n] !== undefined);
    if (used.length === 0) return undefined;
    const values = used.map(([value]) => value);
    const numbers = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
    const booleans = [false, true].filter((value) => values.includes(value));
    const texts = values.filter((value) => typeof value === "string").sort();
    const sorted = [...numbers, ...booleans, ...texts];
    const ranks = ranksOf(sorted.map(sortKey));
    return {
      name,
      booleans: [values.includes(false), values.includes(true)],
      texts: writeDictionary(writer, texts.map(keyOf)),
      numbers: writer.section(Float64Array.from(numbers)),
      ranks: ranks && writer.section(ranks),
      ...this.writeOrdinals(writer, sorted, docCount),
    };
  }

  private writeOrdinals(writer: ByteWriter, values: readonly FieldValue[], docCount: number) {
    const ordinalOf = new Uint32Array(this.numberOf.size);
    for (const [n, value] of values.entries()) ordinalOf[this.numberOf.get(value) as number] = n;
    const ordinals = this.numbers.map((number) => ordinalOf[number] as number);
    /** Documents with a value, and where the ordinals of each begin. */
    const docs: number[] = [];
    const starts: number[] = [];
    for (let at = 0; at < this.docs.length; at++) {
      const doc = this.docs[at] as number;
      if (at > 0 && this.docs[at - 1] === doc) continue;
      docs.push(doc);
      starts.push(at);
    }
    starts.push(ordinals.length);
    const isSparse = docs.length < docCount * SPARSE_PART;
    if (!isSparse && ordinals.length === docs.length) {
      const single = new Uint32Array(docCount);
      for (let at = 0; at < docs.length; at++) {
        single[docs[at] as number] = (ordinals[at] as number) + 1;
      }
      const written = writer.section(narrowed(single, values.length));
      return { ordinals: written, ordinalCount: docCount };
    }
    const list = writer.section(narrowed(ordinals, values.length));
    const common = { ordinals: list, ordinalCount: ordinals.length };
    if (isSparse) {
      return {
        ...common,
        docs: writer.section(Uint32Array.from(docs)),
        starts: writer.section(Uint32Array.from(starts)),
      };
    }
    const all = new Uint32Array(docCount + 1);
    for (let at = 0, doc = 0; doc < docCount; doc++) {
      if (docs[at] === doc) at++;
      all[doc + 1] = starts[at] as number;
    }
    return { ...common, starts: writer.section(all) };
  }
}

/** Order of sort keys, equal for equal ones; undefined if they ascend. */
function ranksOf(keys: readonly SortKey[]): Uint32Array | undefined {
  if (keys.every((key, at) => at === 0 || compareKeys(keys[at - 1], key) < 0)) return undefined;
  const order = Array.from(keys.keys()).sort((a, b) => compareKeys(keys[a], keys[b]));
  const ranks = new Uint32Array(keys.length);
  let rank = 0;
  for (const [at, ordinal] of order.entries()) {
    if (at > 0 && keys[order[at - 1] as number] !== keys[ordinal]) rank++;
    ranks[ordinal] = rank;
  }
  return ranks;
}
