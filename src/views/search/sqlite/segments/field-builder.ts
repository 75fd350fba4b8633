/** Builds the doc values of a field (doc-values.ts). */
import type { FieldValue } from "../../search.ts";
import { compareKeys, type SortKey, sortKey } from "../../sort-key.ts";
import { type ByteWriter, narrowed } from "./bytes.ts";
import { DictionaryWriter } from "./dictionary.ts";
import type { FieldEntry } from "./doc-values.ts";

export class FieldBuilder {
  /** Values are numbered in the order of their addition. */
  private readonly numberOf = new Map<FieldValue, number>();
  /** The last document with the value, by number. */
  private readonly lastDocs: number[] = [];
  /** Pairs of a document and the number of a value. */
  private readonly docs: number[] = [];
  private readonly numbers: number[] = [];
  private hasSeveral = false;

  /** Documents must be added in ascending order. */
  add(doc: number, given: FieldValue): void {
    const value = typeof given === "string" ? given.toWellFormed() : given;
    let number = this.numberOf.get(value);
    if (number === undefined) {
      number = this.numberOf.size;
      this.numberOf.set(value, number);
    }
    if (this.lastDocs[number] === doc) return;
    this.lastDocs[number] = doc;
    this.hasSeveral ||= this.docs.at(-1) === doc;
    this.docs.push(doc);
    this.numbers.push(number);
  }

  write(writer: ByteWriter, name: string, docCount: number): FieldEntry {
    const values = [...this.numberOf.keys()];
    const numbers = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
    const booleans = [false, true].filter((value) => values.includes(value));
    const texts = values.filter((value) => typeof value === "string").sort();
    const sorted = [...numbers, ...booleans, ...texts];
    const ranks = ranksOf(sorted.map(sortKey));
    const dictionary = new DictionaryWriter(writer);
    for (const text of texts) dictionary.add(text);
    return {
      ...{ name, booleans, texts: dictionary.end() },
      numbers: writer.section(Float64Array.from(numbers)),
      ranks: ranks && writer.section(ranks),
      ...this.writeOrdinals(writer, sorted, docCount),
    };
  }

  private writeOrdinals(writer: ByteWriter, values: readonly FieldValue[], docCount: number) {
    const ordinalOf = new Uint32Array(this.numberOf.size);
    for (const [n, value] of values.entries()) {
      ordinalOf[this.numberOf.get(value) as number] = n + 1;
    }
    const ordinals = this.numbers.map((number) => ordinalOf[number] as number);
    if (!this.hasSeveral) {
      const byDoc = new Uint32Array(docCount);
      for (const [at, doc] of this.docs.entries()) byDoc[doc] = ordinals[at] as number;
      return { ordinals: writer.section(narrowed(byDoc, values.length)) };
    }
    const starts = new Uint32Array(docCount + 1);
    for (const doc of this.docs) starts[doc + 1] = (starts[doc + 1] as number) + 1;
    for (let doc = 1; doc <= docCount; doc++) {
      starts[doc] = (starts[doc] as number) + (starts[doc - 1] as number);
    }
    return {
      starts: writer.section(narrowed(starts, ordinals.length)),
      ordinals: writer.section(narrowed(ordinals, values.length)),
    };
  }
}

/** Ranks of the sort keys by ordinal, from 1; undefined if each rank is the ordinal. */
function ranksOf(keys: readonly SortKey[]): Uint32Array | undefined {
  const distinct = [...new Set(keys)].sort(compareKeys);
  if (keys.every((key, at) => key === distinct[at])) return undefined;
  const rankOf = new Map(distinct.map((key, at) => [key, at + 1]));
  return Uint32Array.from([0, ...keys.map((key) => rankOf.get(key) ?? 0)]);
}
