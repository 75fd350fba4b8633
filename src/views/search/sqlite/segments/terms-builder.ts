/** Builds the terms of a segment (terms.ts): an inverted index of the texts of its documents. */
import { assert } from "../../../../core/errors.ts";
import type { DocumentText } from "../../search.ts";
import { ByteWriter } from "./bytes.ts";
import { DictionaryWriter } from "./dictionary.ts";
import {
  isWord,
  type Level,
  type Postings,
  type TermsEntry,
  wholeTerm,
  wordTerm,
  writePostings,
} from "./terms.ts";

/** Exclusive limits of the levels of a segment, and of the positions of a document. */
const LEVELS_MAX = 2 ** 9;
const POSITIONS_MAX = 2 ** 24;

/** Collects the occurrences of terms. */
export class TermsBuilder {
  /** A short list: a linear search is fast enough. */
  private readonly levels: Level[] = [];
  /** Occurrences by term, each as (document × POSITIONS_MAX + position) × LEVELS_MAX + level. */
  private readonly occurrences = new Map<string, number[]>();
  /** Maximum number of positions of a document. */
  private positions = 1;

  /** Documents must be added in ascending order. */
  add(doc: number, texts: readonly DocumentText[]): void {
    let position = 0;
    for (const { boost, suggested, folded, words } of texts) {
      const level = this.levelOf(boost, suggested ? boost : -1);
      const first = doc * POSITIONS_MAX * LEVELS_MAX + level;
      this.occurs(wholeTerm(folded), first);
      for (const word of words) this.occurs(wordTerm(word), first + LEVELS_MAX * position++);
      // A position gap, so that no phrase matches across two texts.
      position++;
    }
    assert(position < POSITIONS_MAX && this.levels.length < LEVELS_MAX, "a text has a number");
    this.positions = Math.max(this.positions, position);
  }

  private levelOf(boost: number, suggested: number): number {
    const known = this.levels.findIndex((one) => one[0] === boost && one[1] === suggested);
    return known >= 0 ? known : this.levels.push([boost, suggested]) - 1;
  }

  private occurs(term: string, occurrence: number): void {
    const all = this.occurrences.get(term);
    if (all === undefined) this.occurrences.set(term, [occurrence]);
    else all.push(occurrence);
  }

  /** Appends the dictionary to `core`, and the posting lists to `segment`. */
  write(core: ByteWriter, segment: ByteWriter): TermsEntry {
    const dictionary = new DictionaryWriter(core);
    const postings = new ByteWriter();
    const positions = new ByteWriter();
    const positionStep = this.levels.length;
    const docStep = this.positions * positionStep;
    for (const term of [...this.occurrences.keys()].sort()) {
      const occurrences = this.occurrences.get(term) ?? [];
      const from = positions.length;
      if (isWord(term)) writePositions(positions, occurrences, { positionStep, docStep });
      const start = postings.length;
      writePostings(postings, this.postingsOf(occurrences), [from, positions.length - from]);
      dictionary.add(term, [start, postings.length - start]);
    }
    return {
      ...{ dictionary: dictionary.end(), levels: this.levels, positionStep, docStep },
      postings: segment.section(postings.view()),
      positions: segment.section(positions.view()),
    };
  }

  private postingsOf(occurrences: readonly number[]): Postings {
    const docs: number[] = [];
    const levels: number[] = [];
    for (const occurrence of occurrences) {
      const { doc, level } = partsOf(occurrence);
      if (docs.at(-1) !== doc) levels[docs.push(doc) - 1] = level;
      else levels[docs.length - 1] = this.greatest(levels.at(-1) as number, level);
    }
    return { docs, levels };
  }

  private greatest(level: number, other: number): number {
    if (level === other) return level;
    const [boost, suggested] = this.levels[level] as Level;
    const [otherBoost, otherSuggested] = this.levels[other] as Level;
    return this.levelOf(Math.max(boost, otherBoost), Math.max(suggested, otherSuggested));
  }
}

function partsOf(occurrence: number) {
  const place = Math.floor(occurrence / LEVELS_MAX);
  const doc = Math.floor(place / POSITIONS_MAX);
  return { doc, position: place - doc * POSITIONS_MAX, level: occurrence - place * LEVELS_MAX };
}

function writePositions(
  writer: ByteWriter,
  occurrences: readonly number[],
  { positionStep, docStep }: Pick<TermsEntry, "positionStep" | "docStep">,
): void {
  let before = 0;
  for (const occurrence of occurrences) {
    const { doc, position, level } = partsOf(occurrence);
    const number = doc * docStep + position * positionStep + level;
    writer.varint(number - before);
    before = number;
  }
}
