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
  let ownUrns = true;
  for (const [doc, { document, urn }] of ordered.entries()) {
    types.add(doc, [document.entityType]);
    terms.add(doc, document.texts);
    ownUrns &&= document.values.urn?.length === 1 && document.values.urn[0] === urn;
    for (const [name, values] of Object.entries(document.values)) {
      if (values.length === 0) continue;
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
  for (const [name, field] of fields) {
    if (name === "urn" && ownUrns) segment.field(urnsField(name));
    else {
      const writer = new ByteWriter();
      segment.field(field.write(writer, name, ordered.length), writer);
    }
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

/** A term of the segment, and what the texts of the document that is added have of it. */
interface Term {
  doc: number;
  boost: number;
  suggested: number;
  /** Index of its last position in the document; -1 for none. */
  position: number;
  /** Indexes of its first and last posting. */
  first: number;
  last: number;
}

/**
 * Postings and positions are lists in common arrays, each entry with the index of another: a term
 * that one document has takes few bytes.
 */
class TermsBuilder {
  private readonly levels: LevelTable;
  private readonly wholes = new Map<string, Term>();
  private readonly words = new Map<string, Term>();
  private readonly scratch = new ByteWriter();
  /** Of each posting; `next` is the index of the term's next one. */
  private readonly postings: Record<"docs" | "levels" | "next", number[]> = {
    docs: [],
    levels: [],
    next: [],
  };
  private readonly scratchStarts: number[] = [];
  /** Of each position in the document; `before` is the index of the term's one before. */
  private readonly positions: Record<"values" | "boosts" | "before", number[]> = {
    values: [],
    boosts: [],
    before: [],
  };
  private touched: Term[] = [];

  constructor(levels: LevelTable) {
    this.levels = levels;
  }

  add(doc: number, texts: readonly DocumentText[]): void {
    const { values, boosts, before } = this.positions;
    values.length = boosts.length = before.length = 0;
    let boost = -1;
    let position = 0;
    for (const text of byBoost(texts)) {
      if (text.boost !== boost) position = 0;
      boost = text.boost;
      this.touch(this.wholes, wholeKey(text.folded), doc, text);
      for (const word of text.words) {
        const term = this.touch(this.words, word.toWellFormed(), doc, text);
        before.push(term.position);
        term.position = values.push(position++) - 1;
        boosts.push(boost);
      }
      // The gap keeps a phrase within one text.
      position++;
    }
    for (const term of this.touched) this.addPosting(doc, term);
    this.touched = [];
  }

  private touch(
    terms: Map<string, Term>,
    key: string,
    doc: number,
    { boost, suggested }: DocumentText,
  ): Term {
    let term = terms.get(key);
    if (term === undefined) {
      term = { doc: -1, boost: -1, suggested: -1, position: -1, first: -1, last: -1 };
      terms.set(key, term);
    }
    if (term.doc !== doc) {
      term.doc = doc;
      term.boost = term.suggested = term.position = -1;
      this.touched.push(term);
    }
    if (boost > term.boost) term.boost = boost;
    if (suggested && boost > term.suggested) term.suggested = boost;
    return term;
  }

  private addPosting(doc: number, term: Term): void {
    const { docs, levels, next } = this.postings;
    const index = docs.push(doc) - 1;
    levels.push(this.levels.numberOf(term.boost, term.suggested));
    next.push(-1);
    if (term.last < 0) term.first = index;
    else next[term.last] = index;
    term.last = index;
    this.scratchStarts.push(this.scratch.length);
    if (term.position >= 0) this.writeOwnPositions(term.position);
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
    this.scratchStarts.push(this.scratch.length);
    for (const [mark, terms] of [
      [WHOLE_MARK, this.wholes],
      [WORD_MARK, this.words],
    ] as const) {
      for (const key of [...terms.keys()].sort()) {
        segment.term(keyOf(mark + key));
        this.writeTerm(segment, terms.get(key) as Term, mark === WORD_MARK);
      }
    }
  }

  private writeTerm(segment: SegmentAssembler, { first }: Term, isWord: boolean): void {
    const { docs, levels, next } = this.postings;
    const own: number[] = [];
    for (let at = first; at >= 0; at = next[at] as number) own.push(at);
    writePostings(
      segment.postings,
      own.map((at) => docs[at] as number),
      own.map((at) => levels[at] as number),
      segment.positions.length,
    );
    const scratch = this.scratch.buffer;
    for (let n = 0; n < own.length && isWord; n++) {
      const start = this.scratchStarts[own[n] as number] as number;
      const end = this.scratchStarts[(own[n] as number) + 1] as number;
      segment.positions.varint(end - start);
      segment.positions.bytes(scratch, start, end);
    }
  }
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
