/** Matches phrases by the positions of their words, which are read for these queries alone. */
import type { Expression } from "../search.ts";
import { ByteReader } from "./bytes.ts";
import type { Deadline } from "./deadline.ts";
import { type DocSet, noDocs } from "./doc-set.ts";
import { type PositionsByBoost, type Postings, readPositions } from "./postings.ts";
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
  const positions = new Map(
    Array.from(lists, ([word, postings]) => [
      word,
      positionsOf(postings, candidates, segment.positions, deadline),
    ]),
  );
  const inOrder = words.map((word) => positions.get(word) ?? []);
  const docs: number[] = [];
  const scores: number[] = [];
  for (const [at, doc] of candidates.entries()) {
    deadline.spend(8 * words.length);
    const boost = greatestBoost(inOrder.map((all) => all[at] as PositionsByBoost));
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

/** The positions of a word in some of its documents, which are in ascending order. */
function positionsOf(
  { docs, positions }: Postings,
  wanted: Uint32Array,
  bytes: Uint8Array,
  deadline: Deadline,
): readonly PositionsByBoost[] {
  const found: PositionsByBoost[] = [];
  const reader = new ByteReader(bytes, positions);
  for (let at = 0; found.length < wanted.length; at++) {
    const length = reader.varint();
    const end = reader.at + length;
    if (docs[at] === wanted[found.length]) {
      found.push(readPositions(bytes, reader.at, end));
      deadline.spend(length);
    }
    reader.at = end;
    deadline.spend(1);
  }
  return found;
}

/** The greatest boost of the texts that have the words one after the other. */
function greatestBoost(words: readonly PositionsByBoost[]): number | undefined {
  const [first, ...others] = words;
  let greatest: number | undefined;
  for (const [boost, starts] of first ?? []) {
    if (greatest !== undefined && boost <= greatest) continue;
    const sets = others.map((one) => one.get(boost));
    if (sets.some((one) => one === undefined)) continue;
    const isThere = starts.some((start) =>
      sets.every((positions, n) => includes(positions as readonly number[], start + n + 1)),
    );
    if (isThere) greatest = boost;
  }
  return greatest;
}

/** Binary search: a word may be in a text ten thousand times. */
function includes(positions: readonly number[], wanted: number): boolean {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return positions[low] === wanted;
}
