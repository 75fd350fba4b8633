/** Matches phrases by the positions of their words, which only these queries read. */
import type { Expression } from "../../search.ts";
import { ByteReader, firstNot } from "../segments/bytes.ts";
import type { Segment } from "../segments/segment.ts";
import { boostOf, readPositions, wordTerm } from "../segments/terms.ts";
import type { Deadline } from "./deadline.ts";
import { type DocSet, intersect, noDocs, scored, weighted } from "./doc-set.ts";

type Phrase = Extract<Expression, { kind: "phrase" }>;

export function matchPhrase(
  { words, weight = 1 }: Phrase,
  segment: Segment,
  deadline: Deadline,
): DocSet {
  const ordinals = new Map<string, number>();
  for (const word of words) {
    const ordinal = segment.terms.dictionary.find(wordTerm(word));
    if (ordinal < 0) return noDocs;
    ordinals.set(word, ordinal);
  }
  const boosts = segment.levels.map(([boost]) => boost);
  const lists = Array.from(ordinals, ([word, ordinal]) => {
    const postings = segment.terms.postings(ordinal);
    return { word, postings, set: scored(postings, boosts) };
  }).sort((a, b) => a.set.docs.length - b.set.docs.length);
  const [first, ...others] = lists.map(({ set }) => set);
  if (first === undefined) return noDocs;
  if (words.length === 1) return weighted(first, weight);
  const candidates = others.reduce(intersect, first).docs;
  deadline.spend(candidates.length);
  if (candidates.length === 0) return noDocs;
  const cursors = new Map(
    lists.map(({ word, postings }) => [
      word,
      new PositionCursor(postings.docs, segment.terms.positions(postings), deadline),
    ]),
  );
  const inOrder = words.flatMap((word) => cursors.get(word) ?? []);
  const docs: number[] = [];
  const scores: number[] = [];
  for (const doc of candidates) {
    for (const cursor of cursors.values()) cursor.seek(doc);
    const boost = greatestBoost(inOrder, deadline);
    if (boost === undefined) continue;
    docs.push(doc);
    scores.push(boost * weight);
  }
  return { docs: Uint32Array.from(docs), scores: Float64Array.from(scores) };
}

/** Goes through the documents of a word. */
class PositionCursor {
  /** Of the word in the last document: the first `count` of them, in ascending order. */
  positions = new Float64Array(16);
  count = 0;
  private readonly docs: Uint32Array;
  private readonly reader: ByteReader;
  private readonly deadline: Deadline;
  private at = 0;

  constructor(docs: Uint32Array, bytes: Uint8Array, deadline: Deadline) {
    this.docs = docs;
    this.reader = new ByteReader(bytes);
    this.deadline = deadline;
  }

  /** The document has the word, and comes after the one before. */
  seek(doc: number): void {
    const { reader } = this;
    const from = this.at;
    while (this.docs[this.at++] !== doc) {
      const skipped = reader.varint();
      reader.at += skipped;
    }
    const length = reader.varint();
    this.deadline.spend(this.at - from + length);
    // Each position takes a byte or more.
    if (length > this.positions.length) this.positions = new Float64Array(2 * length);
    this.count = readPositions(reader, length, this.positions);
  }

  has(wanted: number): boolean {
    const { positions } = this;
    const at = firstNot(0, this.count, (n) => (positions[n] as number) < wanted);
    return at < this.count && positions[at] === wanted;
  }
}

/**
 * The greatest boost of the texts that have the words one after the other: around each position of
 * the word that has the fewest.
 */
function greatestBoost(words: readonly PositionCursor[], deadline: Deadline): number | undefined {
  let rarest = 0;
  for (let n = 1; n < words.length; n++) {
    if ((words[n] as PositionCursor).count < (words[rarest] as PositionCursor).count) rarest = n;
  }
  const { positions, count } = words[rarest] as PositionCursor;
  deadline.spend(8 * count * words.length);
  for (let at = count - 1; at >= 0; at--) {
    const position = positions[at] as number;
    let all = true;
    for (let n = 0; n < words.length && all; n++) {
      all = n === rarest || (words[n] as PositionCursor).has(position + n - rarest);
    }
    if (all) return boostOf(position);
  }
  return undefined;
}
