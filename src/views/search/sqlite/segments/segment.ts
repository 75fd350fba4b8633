/**
 * A segment: an immutable index of some documents, which it numbers in the order of their urns. Its
 * bytes have a core (ids, urns, dictionaries), which is loaded with the segment, doc values for each field,
 * which are loaded when a query needs them first, and the lists of terms, of which each query reads those
 * of its terms.
 */
import { integersOf, type Numbers, type Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";
import { type FieldEntry, FieldValues } from "./doc-values.ts";
import { type ReadBytes, Terms, type TermsEntry } from "./terms.ts";

/** The layout of a segment: ranges of the core, of the part of a field, or of the segment. */
export interface SegmentDirectory {
  readonly docs: number;
  /** Of the segment. */
  readonly core: Range;
  /** Of the documents. */
  readonly ids: Range;
  readonly urns: DictionaryEntry;
  readonly terms: TermsEntry;
  /** Parts are ranges of the segment. */
  readonly fields: readonly { readonly part: Range; readonly entry: FieldEntry }[];
}

/** The field of entity types. No document has a field of this name. */
export const typeField = "\0type";

/** A row of the table of segments. */
export interface SegmentRow {
  readonly id: number;
  /** Ids of the first and the last document that it was built from; no other segment's lie between. */
  readonly first: number;
  readonly last: number;
  readonly docs: number;
  readonly bytes: number;
  /** CRC-32 of its bytes. */
  readonly content: number;
}

/** The bytes of a segment. */
export interface SegmentBytes {
  /** A part that stays in memory; nothing changes it. */
  readonly load: ReadBytes;
  /** Bytes for one use. */
  readonly read: ReadBytes;
}

export class Segment {
  readonly row: SegmentRow;
  readonly docs: number;
  readonly urns: Dictionary;
  readonly terms: Terms;
  /** 1 for each document that has a tombstone; undefined if none has. */
  deleted: Uint8Array | undefined;
  private readonly directory: SegmentDirectory;
  private readonly ids: Numbers;
  private readonly bytes: SegmentBytes;
  private readonly fields = new Map<string, FieldValues | undefined>();
  private everyDoc: Uint32Array | undefined;

  constructor(row: SegmentRow, directory: SegmentDirectory, bytes: SegmentBytes) {
    const { docs, core, ids, urns, terms } = directory;
    const memory = bytes.load(core);
    this.row = row;
    this.directory = directory;
    this.docs = docs;
    this.urns = new Dictionary(memory, urns);
    this.terms = new Terms(memory, terms, bytes.read);
    this.ids = integersOf(memory, ids, docs);
    this.bytes = bytes;
  }

  idOf(doc: number): number {
    return this.ids[doc] as number;
  }

  /** Marks a document that this segment was built from as deleted; another is none of it. */
  delete(id: number, urn: string): void {
    const doc = this.docOf(id, urn);
    if (doc < 0) return;
    this.deleted ??= new Uint8Array(this.docs);
    this.deleted[doc] = 1;
  }

  /** The number of a document that this segment was built from; -1 for another. */
  docOf(id: number, urn: string): number {
    if (id < this.row.first || id > this.row.last) return -1;
    const doc = this.urns.find(urn);
    return doc >= 0 && this.idOf(doc) === id ? doc : -1;
  }

  /** The values of a field; undefined if no document has one. */
  field(given: string): FieldValues | undefined {
    const name = given.toWellFormed();
    if (this.fields.has(name)) return this.fields.get(name);
    const found = this.directory.fields.find(({ entry }) => entry.name === name);
    const values = found && new FieldValues(this.bytes.load(found.part), found.entry, this.docs);
    this.fields.set(name, values);
    return values;
  }

  all(): Uint32Array {
    this.everyDoc ??= Uint32Array.from({ length: this.docs }, (_, doc) => doc);
    return this.everyDoc;
  }
}
