/** Builds a segment of documents: an inverted index of their texts, and doc values of their fields. */
import type { DocumentText, FieldValue, SearchDocument } from "../search.ts";
import { sortKey } from "../sort-key.ts";
import { ByteWriter, keyOf, type Range } from "./bytes.ts";
import { DictionaryWriter } from "./dictionary.ts";
import { type FieldEntry, type FieldTerms, urnsField, writeField } from "./doc-values.ts";
import { LevelTable, writePositions, writePostings } from "./postings.ts";
import { type SegmentDirectory, WHOLE_MARK, WORD_MARK, wholeKey } from "./segment.ts";

export interface IndexedDocument {
  readonly id: number;
  readonly document: SearchDocument;
}

export interface BuiltSegment {
  readonly directory: SegmentDirectory;
  readonly bytes: Uint8Array;
}

export function buildSegment(documents: readonly IndexedDocument[]): BuiltSegment {
  const ordered = documents
    .map(({ id, document }) => ({ id, document, urn: document.urn.toWellFormed() }))
    .sort((a, b) => (a.urn < b.urn ? -1 : 1));
  const levels = new LevelTable();
  const terms = new TermsBuilder(levels);
  const types = new FieldBuilder();
  const fields = new Map<string, FieldBuilder>();
  const ownUrns = ordered.every(
    ({ document: { values }, urn }) => values.urn?.length === 1 && values.urn[0] === urn,
  );
  for (const [doc, { document }] of ordered.entries()) {
    types.add(doc, [document.entityType]);
    terms.add(doc, document.texts);
    for (const [name, values] of Object.entries(document.values)) {
      if (values.length === 0 || (ownUrns && name === "urn")) continue;
      let field = fields.get(name);
      if (field === undefined) {
        field = new FieldBuilder();
        fields.set(name, field);
      }
      field.add(doc, values);
    }
  }
  const segment = new SegmentAssembler(ordered.length);
  segment.ids(ordered.map(({ id }) => id));
  const urns = new DictionaryWriter(segment.core);
  for (const { urn } of ordered) urns.add(keyOf(urn));
  segment.urns = urns.end();
  segment.types = types.write(segment.core, "", ordered.length);
  terms.write(segment);
  if (ownUrns) segment.field(urnsField("urn"));
  for (const [name, field] of fields) {
    const writer = new ByteWriter();
    segment.field(field.write(writer, name, ordered.length), writer);
  }
  return segment.end(levels);
}

/** Puts the parts of a segment together. */
export class SegmentAssembler {
  readonly core = new ByteWriter();
  readonly postings = new ByteWriter();
  readonly positions = new ByteWriter();
  urns: SegmentDirectory["urns"] | undefined;
  types: FieldEntry | undefined;
  private readonly docs: number;
  private readonly offsets: number[] = [];
  private readonly fields: { readonly entry: FieldEntry; readonly writer?: ByteWriter }[] = [];
  private idRange: Range = [0, 0];
  private dictionary: DictionaryWriter | undefined;

  constructor(docs: number) {
    this.docs = docs;
  }

  /** The term dictionary; begins behind what the core has by then. */
  private get terms(): DictionaryWriter {
    this.dictionary ??= new DictionaryWriter(this.core);
    return this.dictionary;
  }

  ids(ids: readonly number[]): void {
    this.idRange = this.core.section(Float64Array.from(ids));
  }

  /** Adds a term behind all others; what is written to `postings` from here on is its list. */
  term(key: Uint8Array): void {
    this.terms.add(key);
    this.offsets.push(this.postings.length);
  }

  field(entry: FieldEntry, writer?: ByteWriter): void {
    this.fields.push({ entry, writer });
  }

  end(levels: LevelTable): BuiltSegment {
    const { core, urns, types } = this;
    if (urns === undefined || types === undefined) throw new Error("a segment without documents");
    const terms = this.terms.end();
    const offsets = core.section(Uint32Array.from(this.offsets));
    const postings = core.section(this.postings.view());
    const all = new ByteWriter();
    const append = (writer: ByteWriter | undefined): Range =>
      writer === undefined ? [all.length, 0] : all.section(writer.view());
    const directory: SegmentDirectory = {
      ...{ docs: this.docs, levels: levels.levels, core: append(core) },
      ...{ ids: this.idRange, urns, types, terms, offsets, postings },
      fields: this.fields.map(({ entry, writer }) => ({ part: append(writer), entry })),
      positions: append(this.positions),
    };
    return { directory, bytes: all.view() };
  }
}

/**
 * Collects the postings of all terms document by document, and sorts them by term in the end. Terms
 * are numbered as they come.
 */
class TermsBuilder {
  private readonly levels: LevelTable;
  private readonly wholes = new Map<string, number>();
  private readonly words = new Map<string, number>();
  private termCount = 0;
  /** By term: its last document, and its index among the terms of that document. */
  private readonly lastDocs: number[] = [];
  private readonly slots: number[] = [];
  /** By posting: `starts` is where its positions begin in `scratch`. */
  private readonly postings: Record<"terms" | "docs" | "levels" | "starts", number[]> = {
    ...{ terms: [], docs: [], levels: [], starts: [] },
  };
  private readonly scratch = new ByteWriter();
  /** Terms of the document that is added: their greatest boosts, and the last of their positions. */
  private readonly own: Record<"terms" | "boosts" | "suggested" | "last", number[]> = {
    ...{ terms: [], boosts: [], suggested: [], last: [] },
  };
  /** Positions in that document: `before` is the index of the term's position before. */
  private readonly positions: Record<"values" | "boosts" | "before", number[]> = {
    ...{ values: [], boosts: [], before: [] },
  };

  constructor(levels: LevelTable) {
    this.levels = levels;
  }

  add(doc: number, texts: readonly DocumentText[]): void {
    for (const list of Object.values(this.own)) list.length = 0;
    for (const list of Object.values(this.positions)) list.length = 0;
    const { values, boosts, before } = this.positions;
    let boost = -1;
    let position = 0;
    for (const text of byBoost(texts)) {
      if (text.boost !== boost) position = 0;
      boost = text.boost;
      this.slotOf(this.wholes, wholeKey(text.folded), doc, text);
      for (const word of text.words) {
        const slot = this.slotOf(this.words, word.toWellFormed(), doc, text);
        before.push(this.own.last[slot] as number);
        this.own.last[slot] = values.push(position++) - 1;
        boosts.push(boost);
      }
      // The gap keeps a phrase within one text.
      position++;
    }
    for (let slot = 0; slot < this.own.terms.length; slot++) this.addPosting(doc, slot);
  }

  /** The index of a term among those of the document. */
  private slotOf(
    terms: Map<string, number>,
    key: string,
    doc: number,
    { boost, suggested }: DocumentText,
  ): number {
    const { own } = this;
    let term = terms.get(key);
    if (term === undefined) {
      term = this.termCount++;
      terms.set(key, term);
    }
    if (this.lastDocs[term] !== doc) {
      this.lastDocs[term] = doc;
      this.slots[term] = own.terms.push(term) - 1;
      own.boosts.push(boost);
      own.suggested.push(suggested ? boost : -1);
      own.last.push(-1);
      return own.terms.length - 1;
    }
    const slot = this.slots[term] as number;
    if (boost > (own.boosts[slot] as number)) own.boosts[slot] = boost;
    if (suggested && boost > (own.suggested[slot] as number)) own.suggested[slot] = boost;
    return slot;
  }

  private addPosting(doc: number, slot: number): void {
    const { postings, own } = this;
    const [boost, suggested] = [own.boosts[slot] as number, own.suggested[slot] as number];
    postings.terms.push(own.terms[slot] as number);
    postings.docs.push(doc);
    postings.levels.push(this.levels.numberOf(boost, suggested));
    postings.starts.push(this.scratch.length);
    const last = own.last[slot] as number;
    if (last >= 0) this.writeOwnPositions(last);
  }

  private writeOwnPositions(last: number): void {
    const { values, boosts, before } = this.positions;
    const own: number[] = [];
    for (let at = last; at >= 0; at = before[at] as number) own.push(at);
    own.reverse();
    writePositions(
      this.scratch,
      own.map((at) => boosts[at] as number),
      own.map((at) => values[at] as number),
    );
  }

  write(segment: SegmentAssembler): void {
    this.postings.starts.push(this.scratch.length);
    const lists = this.sorted();
    for (const [mark, terms] of [
      [WHOLE_MARK, this.wholes],
      [WORD_MARK, this.words],
    ] as const) {
      for (const key of [...terms.keys()].sort()) {
        segment.term(keyOf(mark + key));
        const term = terms.get(key) as number;
        this.writeTerm(segment, lists, term, mark === WORD_MARK);
      }
    }
  }

  /** The postings in the order of their terms; those of term n begin at `ends[n - 1]`. */
  private sorted(): SortedPostings {
    const { terms, docs, levels } = this.postings;
    const next = new Uint32Array(this.termCount + 1);
    for (const term of terms) next[term + 1] = (next[term + 1] as number) + 1;
    for (let term = 1; term < next.length; term++) {
      next[term] = (next[term] as number) + (next[term - 1] as number);
    }
    const sorted = {
      docs: new Uint32Array(terms.length),
      levels: new Uint16Array(terms.length),
      postings: new Uint32Array(terms.length),
    };
    for (let posting = 0; posting < terms.length; posting++) {
      const term = terms[posting] as number;
      const at = next[term] as number;
      sorted.docs[at] = docs[posting] as number;
      sorted.levels[at] = levels[posting] as number;
      sorted.postings[at] = posting;
      next[term] = at + 1;
    }
    return { ...sorted, ends: next };
  }

  private writeTerm(
    segment: SegmentAssembler,
    { docs, levels, postings, ends }: SortedPostings,
    term: number,
    isWord: boolean,
  ): void {
    const from = term === 0 ? 0 : (ends[term - 1] as number);
    const to = ends[term] as number;
    writePostings(segment.postings, { docs, levels, from, to }, segment.positions.length);
    if (!isWord) return;
    const { starts } = this.postings;
    for (let at = from; at < to; at++) {
      const posting = postings[at] as number;
      const [start, end] = [starts[posting] as number, starts[posting + 1] as number];
      segment.positions.varint(end - start);
      segment.positions.bytes(this.scratch.buffer, start, end);
    }
  }
}

interface SortedPostings {
  readonly docs: Uint32Array;
  readonly levels: Uint16Array;
  /** Numbers of the postings as they were added. */
  readonly postings: Uint32Array;
  readonly ends: Uint32Array;
}

const byBoost = (texts: readonly DocumentText[]): readonly DocumentText[] =>
  texts.every(({ boost }) => boost === texts[0]?.boost)
    ? texts
    : texts.toSorted((a, b) => a.boost - b.boost);

/** Collects the values of a field, document by document. */
class FieldBuilder {
  private readonly known = new Map<FieldValue, number>();
  private readonly lastDocs: number[] = [];
  private readonly docs: number[] = [];
  private readonly starts: number[] = [0];
  private readonly numbers: number[] = [];

  add(doc: number, values: readonly FieldValue[]): void {
    for (const raw of values) {
      // JSON knows no negative zero.
      const value = typeof raw === "string" ? raw.toWellFormed() : raw === 0 ? 0 : raw;
      let number = this.known.get(value);
      if (number === undefined) {
        number = this.known.size;
        this.known.set(value, number);
      }
      if (this.lastDocs[number] === doc) continue;
      this.lastDocs[number] = doc;
      this.numbers.push(number);
    }
    this.docs.push(doc);
    this.starts.push(this.numbers.length);
  }

  write(writer: ByteWriter, name: string, docCount: number): FieldEntry {
    const values = [...this.known.keys()].sort(compareValues);
    const ordinals = new Uint32Array(values.length);
    for (const [ordinal, value] of values.entries()) {
      ordinals[this.known.get(value) as number] = ordinal;
    }
    const lists = {
      docs: Uint32Array.from(this.docs),
      starts: Uint32Array.from(this.starts),
      ordinals: Uint32Array.from(this.numbers, (number) => ordinals[number] as number),
    };
    const texts = new DictionaryWriter(writer);
    for (const value of values) if (typeof value === "string") texts.add(keyOf(value));
    return writeField(writer, name, termsOf(values, texts), lists, docCount);
  }
}

/** `texts` has the texts among the values, which are in order. */
export const termsOf = (values: readonly FieldValue[], texts: DictionaryWriter): FieldTerms => ({
  numbers: values.filter((value) => typeof value === "number"),
  booleans: [values.includes(false), values.includes(true)],
  texts: texts.end(),
  sortKeys: values.map(sortKey),
});

const classes = { number: 0, boolean: 1, string: 2 };
const classOf = (value: FieldValue): number => classes[typeof value as keyof typeof classes];

/** The order of ordinals. */
export function compareValues(a: FieldValue, b: FieldValue): number {
  if (a === b) return 0;
  if (typeof a !== typeof b) return classOf(a) - classOf(b);
  return a < b ? -1 : 1;
}
