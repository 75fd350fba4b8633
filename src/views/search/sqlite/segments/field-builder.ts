/** Builds the doc values of a field (doc-values.ts). */
import type { FieldValue } from "../../search.ts";
import { compareKeys, type SortKey, sortKey } from "../../sort-key.ts";
import { type ByteWriter, keyOf, narrowed } from "./bytes.ts";
import { DictionaryWriter } from "./dictionary.ts";
import type { FieldEntry } from "./doc-values.ts";

/** A field that fewer documents have is stored as pairs. */
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

  private hasSeveral = false;

  /** Adds a value to a document; documents ascend. */
  add(doc: number, value: FieldValue): void {
    const number = this.number(typeof value === "string" ? value.toWellFormed() : value);
    if (this.lastDocs[number] === doc) return;
    this.lastDocs[number] = doc;
    this.hasSeveral ||= this.docs.at(-1) === doc;
    this.docs.push(doc);
    this.numbers.push(number);
  }

  private number(value: FieldValue): number {
    let number = this.numberOf.get(value);
    if (number === undefined) {
      number = this.numberOf.size;
      this.numberOf.set(value, number);
    }
    return number;
  }

  write(writer: ByteWriter, name: string, docCount: number): FieldEntry {
    const values = [...this.numberOf.keys()];
    const numbers = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
    const booleans = [false, true].filter((value) => values.includes(value));
    const texts = values.filter((value) => typeof value === "string").sort();
    const sorted = [...numbers, ...booleans, ...texts];
    const ranks = ranksOf(sorted.map(sortKey));
    const dictionary = new DictionaryWriter(writer);
    for (const text of texts) dictionary.add(keyOf(text));
    return {
      name,
      booleans: [values.includes(false), values.includes(true)],
      texts: dictionary.end(),
      numbers: writer.section(Float64Array.from(numbers)),
      ranks: ranks && writer.section(ranks),
      ...this.writeOrdinals(writer, sorted, docCount),
    };
  }

  private writeOrdinals(writer: ByteWriter, values: readonly FieldValue[], docCount: number) {
    const ordinalOf = new Uint32Array(this.numberOf.size);
    for (const [n, value] of values.entries()) ordinalOf[this.numberOf.get(value) as number] = n;
    const ordinals = this.numbers.map((number) => ordinalOf[number] as number);
    const isSparse = this.docs.length < docCount * SPARSE_PART;
    if (isSparse || this.hasSeveral) {
      return {
        docs: writer.section(Uint32Array.from(this.docs)),
        ordinals: writer.section(narrowed(ordinals, values.length)),
        ordinalCount: ordinals.length,
      };
    }
    const byDoc = new Uint32Array(docCount);
    for (const [at, doc] of this.docs.entries()) byDoc[doc] = (ordinals[at] as number) + 1;
    const written = writer.section(narrowed(byDoc, values.length));
    return { ordinals: written, ordinalCount: docCount };
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
