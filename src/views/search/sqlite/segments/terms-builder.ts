/** Builds the terms of a segment (terms.ts): an inverted index of the texts of its documents. */
import type { DocumentText } from "../../search.ts";
import { ByteWriter } from "./bytes.ts";
import { DictionaryWriter } from "./dictionary.ts";
import {
  type Level,
  LevelTable,
  type TermsEntry,
  wholeTerm,
  wordTerm,
  writePositions,
  writePostings,
} from "./terms.ts";

/** The position of a whole value. */
const NOWHERE = -1;
/** Numbers of an occurrence: its term, document, level and position. */
const NUMBERS = 4;
/** A builder begins with room for so many. */
const OCCURRENCES = 64;

/** Collects where terms occur, document by document and by ascending boost, and sorts by term in the end. */
export class TermsBuilder {
  private readonly table = new LevelTable();
  /** Terms of whole values, and words, numbered as they come. Whole values sort before words. */
  private readonly wholes = new Map<string, number>();
  private readonly words = new Map<string, number>();
  /** As they come, in the first `length` numbers. Arrays would take twice the memory. */
  private occurrences = new Int32Array(NUMBERS * OCCURRENCES);
  private length = 0;

  /** Documents come in ascending order. */
  add(doc: number, texts: readonly DocumentText[]): void {
    let position = 0;
    let before = -1;
    for (const { boost, suggested, ...text } of texts.toSorted((a, b) => a.boost - b.boost)) {
      if (boost !== before) position = 0;
      before = boost;
      const level = this.table.numberOf(boost, suggested ? boost : -1);
      this.occurs(this.wholes, wholeTerm(text.folded), doc, level, NOWHERE);
      for (const word of text.words) {
        this.occurs(this.words, word.toWellFormed(), doc, level, position++);
      }
      // The gap keeps a phrase within one text.
      position++;
    }
  }

  private occurs(
    numberOf: Map<string, number>,
    text: string,
    doc: number,
    level: number,
    position: number,
  ): void {
    let number = numberOf.get(text);
    if (number === undefined) {
      number = this.wholes.size + this.words.size;
      numberOf.set(text, number);
    }
    if (this.length === this.occurrences.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.occurrences);
      this.occurrences = larger;
    }
    const { occurrences } = this;
    occurrences[this.length++] = number;
    occurrences[this.length++] = doc;
    occurrences[this.length++] = level;
    occurrences[this.length++] = position;
  }

  /** Appends the dictionary to `core`, and the lists to `segment`. */
  write(
    core: ByteWriter,
    segment: ByteWriter,
  ): { readonly terms: TermsEntry; readonly levels: readonly Level[] } {
    const sorted = this.sorted();
    const dictionary = new DictionaryWriter(core);
    const postings = new ByteWriter();
    const positions = new ByteWriter();
    const write = (numberOf: ReadonlyMap<string, number>, termOf: (text: string) => string) => {
      for (const text of [...numberOf.keys()].sort()) {
        const number = numberOf.get(text) as number;
        const range = [sorted.ends[number - 1] ?? 0, sorted.ends[number] as number] as const;
        const start = postings.length;
        this.writeTerm(sorted, range, postings, positions);
        dictionary.add(termOf(text), [start, postings.length - start]);
      }
    };
    write(this.wholes, (term) => term);
    write(this.words, wordTerm);
    return {
      terms: {
        dictionary: dictionary.end(),
        postings: segment.section(postings.view()),
        positions: segment.section(positions.view()),
      },
      levels: this.table.levels,
    };
  }

  /** The postings of the term that is written: the first of lists that are reused. */
  private readonly postings = { docs: [] as number[], levels: [] as number[] };
  private readonly scratch = new ByteWriter();

  private writeTerm(
    { docs, levels, positions }: Occurrences,
    [start, end]: readonly [start: number, end: number],
    postingLists: ByteWriter,
    positionLists: ByteWriter,
  ): void {
    const { scratch, table } = this;
    const positionsFrom = positionLists.length;
    let count = 0;
    for (let from = start; from < end; ) {
      const doc = docs[from] as number;
      scratch.length = 0;
      let [boost, suggested] = [-1, -1];
      while (from < end && docs[from] === doc) {
        const first = from;
        boost = table.levels[levels[first] as number]?.[0] ?? 0;
        for (; docs[from] === doc && from < end; from++) {
          const level = table.levels[levels[from] as number] as Level;
          if (level[0] !== boost) break;
          suggested = Math.max(suggested, level[1]);
        }
        if (positions[first] !== NOWHERE) writePositions(scratch, boost, positions, [first, from]);
      }
      this.postings.docs[count] = doc;
      this.postings.levels[count++] = table.numberOf(boost, suggested);
      if (scratch.length === 0) continue;
      positionLists.varint(scratch.length);
      positionLists.bytes(scratch.view());
    }
    const range = [positionsFrom, positionLists.length - positionsFrom] as const;
    writePostings(postingLists, this.postings, count, range);
  }

  /** The occurrences in the order of the numbers of their terms; those of term n end at `ends[n]`. */
  private sorted(): Occurrences {
    const { occurrences, length } = this;
    /** Where the next occurrence of each term goes. */
    const next = new Uint32Array(this.wholes.size + this.words.size + 1);
    for (let at = 0; at < length; at += NUMBERS) {
      const after = (occurrences[at] as number) + 1;
      next[after] = (next[after] as number) + 1;
    }
    for (let term = 1; term < next.length; term++) {
      next[term] = (next[term] as number) + (next[term - 1] as number);
    }
    const count = length / NUMBERS;
    const sorted = {
      docs: new Uint32Array(count),
      levels: new Uint16Array(count),
      positions: new Int32Array(count),
    };
    for (let from = 0; from < length; from += NUMBERS) {
      const term = occurrences[from] as number;
      const at = next[term] as number;
      sorted.docs[at] = occurrences[from + 1] as number;
      sorted.levels[at] = occurrences[from + 2] as number;
      sorted.positions[at] = occurrences[from + 3] as number;
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
