/** Matches phrases by the positions of their words, which are read for these queries alone. */
import type { Expression } from "../search.ts";
import { ByteReader } from "./bytes.ts";
import type { Deadline } from "./deadline.ts";
import { type DocSet, noDocs } from "./doc-set.ts";
import { boostOf, type Postings, readPositions } from "./postings.ts";
import { type Segment, WORD_MARK } from "./segment.ts";

type Phrase = Extract<Expression, { kind: "phrase" }>;

export function matchPhrase(
  { words, weight = 1 }: Phrase,
  segment: Segment,
  deadline: Deadline,
): DocSet {
  if (words.length === 0) return noDocs;
  const lists = new Map<string, Postings>();
  for (const word of words) {
    if (lists.has(word)) continue;
    const ordinal = segment.terms.find(WORD_MARK + word.toWellFormed());
    if (ordinal < 0) return noDocs;
    lists.set(word, segment.postings(ordinal));
  }
  const [only] = lists.values();
  if (words.length === 1 && only !== undefined) return ofOneWord(only, segment, weight);
  const candidates = inAll([...lists.values()].map(({ docs }) => docs));
  deadline.spend(candidates.length);
  if (candidates.length === 0) return noDocs;
  const cursors = new Map(
    Array.from(lists, ([word, postings]) => [
      word,
      new PositionCursor(postings, segment.positions, deadline),
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

const ofOneWord = (
  { docs, levels }: Postings,
  { levels: all }: Segment,
  weight: number,
): DocSet => ({
  docs,
  scores:
    typeof levels === "number"
      ? weight * (all[levels]?.[0] ?? 0)
      : Float64Array.from(levels, (level) => weight * (all[level]?.[0] ?? 0)),
});

function inAll(lists: readonly Uint32Array[]): Uint32Array {
  const [first = new Uint32Array(), ...others] = lists.toSorted((a, b) => a.length - b.length);
  return others.reduce((docs, other) => {
    let at = 0;
    return docs.filter((doc) => {
      while (at < other.length && (other[at] as number) < doc) at++;
      return other[at] === doc;
    });
  }, first);
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

  constructor({ docs, positions }: Postings, bytes: Uint8Array, deadline: Deadline) {
    this.docs = docs;
    this.reader = new ByteReader(bytes, positions);
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

  /** Binary search: a word may be in a text ten thousand times. */
  has(wanted: number): boolean {
    const { positions } = this;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((positions[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low < this.count && positions[low] === wanted;
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
