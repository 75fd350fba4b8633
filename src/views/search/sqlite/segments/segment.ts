/**
 * A segment: an immutable index of some documents. Doc numbers are in the order of the urns. The
 * bytes have three sections. The core (ids, urns, dictionaries) is loaded with the segment. The doc
 * values of a field are loaded by the first query that needs them. Posting lists are read by each
 * query.
 */
import { integersOf, type Numbers, type Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";
import { type FieldEntry, FieldValues } from "./doc-values.ts";
import { type ReadBytes, Terms, type TermsEntry } from "./terms.ts";

/** The layout of a segment: ranges of the core, of a field's part or of the whole segment. */
export interface SegmentDirectory {
  readonly docs: number;
  /** A range of the whole segment. */
  readonly core: Range;
  /** Ids by doc number. */
  readonly ids: Range;
  readonly urns: DictionaryEntry;
  readonly terms: TermsEntry;
  /** `part`: a range of the whole segment. */
  readonly fields: readonly { readonly part: Range; readonly entry: FieldEntry }[];
}

/** The internal field of entity types; no document has a field of this name. */
export const typeField = "\0type";

/** A row of the table of segments. */
export interface SegmentRow {
  readonly id: number;
  /** The range of document ids of the segment. */
  readonly first: number;
  readonly last: number;
  readonly docs: number;
  readonly bytes: number;
  /** CRC-32 of the segment's bytes. */
  readonly content: number;
}

/** The bytes of a segment. */
export interface SegmentBytes {
  /** Loads a part that stays in memory; it must not be modified. */
  readonly load: ReadBytes;
  /** Reads bytes that are not cached. */
  readonly read: ReadBytes;
}

export class Segment {
  readonly row: SegmentRow;
  readonly docs: number;
  readonly urns: Dictionary;
  readonly terms: Terms;
  /** By doc number: 1 for a document with a tombstone; undefined without tombstones. */
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

  /** Marks a document as deleted; ignores documents of other segments. */
  delete(id: number, urn: string): void {
    const doc = this.docOf(id, urn);
    if (doc < 0) return;
    this.deleted ??= new Uint8Array(this.docs);
    this.deleted[doc] = 1;
  }

  /** The doc number, or -1 for a document of another segment. */
  docOf(id: number, urn: string): number {
    if (id < this.row.first || id > this.row.last) return -1;
    const doc = this.urns.find(urn);
    return doc >= 0 && this.idOf(doc) === id ? doc : -1;
  }

  /** The doc values of a field; undefined if no document has the field. */
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
