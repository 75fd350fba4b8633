/** Builds a segment of documents: an inverted index of their texts, and doc values of their fields. */
import type { DocumentText, SearchDocument } from "../../search.ts";
import { ByteWriter, keyOf } from "./bytes.ts";
import { FieldBuilder } from "./field-builder.ts";
import { type Level, LevelTable, writePositions } from "./postings.ts";
import { typeField, wholeTerm } from "./segment.ts";
import { type BuiltSegment, writeSegment } from "./segment-writer.ts";
import type { TermsWriter } from "./terms.ts";

export interface IndexedDocument {
  readonly id: number;
  readonly document: SearchDocument;
}

/** Documents come in the order of their ids. */
export function buildSegment(documents: readonly IndexedDocument[]): BuiltSegment {
  const ordered = documents
    .map(({ id, document }) => ({ id, document, urn: document.urn.toWellFormed() }))
    .sort((a, b) => (a.urn < b.urn ? -1 : 1));
  const levels = new LevelTable();
  const wholes = new TermsBuilder(levels);
  const words = new TermsBuilder(levels);
  const types = new FieldBuilder();
  const fields = new Map([[typeField, types]]);
  for (const [doc, { document }] of ordered.entries()) {
    types.add(doc, types.number(document.entityType));
    addTexts(doc, document.texts, { levels, wholes, words });
    for (const [name, values] of Object.entries(document.values)) {
      if (values.length === 0) continue;
      const field = fields.get(name) ?? new FieldBuilder();
      fields.set(name, field);
      for (const value of values) field.add(doc, field.number(value));
    }
  }
  return writeSegment({
    ids: ordered.map(({ id }) => id),
    urns: ordered.map(({ urn }) => keyOf(urn)),
    ...{ fields, levels },
    wholes: (writer) => wholes.write(writer),
    words: (writer) => words.write(writer),
  });
}

interface TermsBuilders {
  readonly levels: LevelTable;
  readonly wholes: TermsBuilder;
  readonly words: TermsBuilder;
}

function addTexts(doc: number, texts: readonly DocumentText[], builders: TermsBuilders): void {
  const { levels, wholes, words } = builders;
  let position = 0;
  let before = -1;
  for (const { boost, suggested, ...text } of texts.toSorted((a, b) => a.boost - b.boost)) {
    if (boost !== before) position = 0;
    before = boost;
    const level = levels.numberOf(boost, suggested ? boost : -1);
    wholes.add(wholeTerm(text.folded), doc, level, NOWHERE);
    for (const word of text.words) words.add(word, doc, level, position++);
    // The gap keeps a phrase within one text.
    position++;
  }
}

/** The position of a whole value. */
const NOWHERE = -1;

/** Collects where terms occur, document by document and by ascending boost, and sorts by term in the end. */
class TermsBuilder {
  private readonly levels: LevelTable;
  /** Terms are numbered as they come. */
  private readonly numberOf = new Map<string, number>();
  private readonly occurrences: Record<"terms" | "docs" | "levels" | "positions", number[]> = {
    ...{ terms: [], docs: [], levels: [], positions: [] },
  };

  constructor(levels: LevelTable) {
    this.levels = levels;
  }

  add(raw: string, doc: number, level: number, position: number): void {
    const { terms, docs, levels, positions } = this.occurrences;
    terms.push(this.number(raw));
    docs.push(doc);
    levels.push(level);
    positions.push(position);
  }

  private number(raw: string): number {
    const known = this.numberOf.get(raw);
    if (known !== undefined) return known;
    const term = raw.toWellFormed();
    const number = this.numberOf.get(term) ?? this.numberOf.size;
    this.numberOf.set(term, number);
    return number;
  }

  write(writer: TermsWriter): void {
    const sorted = this.sorted();
    const scratch = new ByteWriter();
    for (const term of [...this.numberOf.keys()].sort()) {
      const number = this.numberOf.get(term) as number;
      const end = sorted.ends[number] as number;
      for (let from = number === 0 ? 0 : (sorted.ends[number - 1] as number); from < end; ) {
        from = this.writePosting(writer, sorted, [from, end], scratch);
      }
      writer.term(keyOf(term));
    }
  }

  /** Writes the posting of the first document in a range of occurrences; returns where the next begins. */
  private writePosting(
    writer: TermsWriter,
    { docs, levels, positions }: Occurrences,
    [start, end]: readonly [start: number, end: number],
    scratch: ByteWriter,
  ): number {
    const doc = docs[start] as number;
    scratch.length = 0;
    let [boost, suggested] = [-1, -1];
    let from = start;
    while (from < end && docs[from] === doc) {
      const first = from;
      boost = this.levels.levels[levels[first] as number]?.[0] ?? 0;
      for (; docs[from] === doc && from < end; from++) {
        const level = this.levels.levels[levels[from] as number] as Level;
        if (level[0] !== boost) break;
        suggested = Math.max(suggested, level[1]);
      }
      if (positions[first] !== NOWHERE) writePositions(scratch, boost, positions, [first, from]);
    }
    const level = this.levels.numberOf(boost, suggested);
    writer.posting(doc, level, scratch.buffer, 0, scratch.length);
    return from;
  }

  /** The occurrences in the order of the numbers of their terms; those of term n end at `ends[n]`. */
  private sorted(): Occurrences {
    const { terms, docs, levels, positions } = this.occurrences;
    /** Where the next occurrence of each term goes. */
    const next = new Uint32Array(this.numberOf.size + 1);
    for (const term of terms) next[term + 1] = (next[term + 1] as number) + 1;
    for (let term = 1; term < next.length; term++) {
      next[term] = (next[term] as number) + (next[term - 1] as number);
    }
    const sorted = {
      docs: new Uint32Array(terms.length),
      levels: new Uint16Array(terms.length),
      positions: new Int32Array(terms.length),
    };
    for (let n = 0; n < terms.length; n++) {
      const term = terms[n] as number;
      const at = next[term] as number;
      sorted.docs[at] = docs[n] as number;
      sorted.levels[at] = levels[n] as number;
      sorted.positions[at] = positions[n] as number;
      next[term] = at + 1;
    }
    return { ...sorted, ends: next };
  }
}

interface Occurrences {
  readonly docs: Uint32Array;
  readonly levels: Uint16Array;
  readonly positions: Int32Array;
  readonly ends: Uint32Array;
}
