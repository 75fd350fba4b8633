/** Near words (../near-words.ts) from the term dictionaries of the segments. */
import { CatalogError } from "../../../../core/errors.ts";
import { NearTest, type NearWord, nearest } from "../../near-words.ts";
import type { Segment } from "../segments/segment.ts";
import { wordOf, wordTerm } from "../segments/terms.ts";
import type { Deadline } from "./deadline.ts";
import { allWith, type DocSet } from "./doc-set.ts";

/** A segment, and which of its documents may be used. */
export interface VisibleSegment {
  readonly segment: Segment;
  readonly visible: (set: DocSet) => DocSet;
}

/** Steps of one comparison of two words. */
const COMPARE_STEPS = 20;

/** The near words of each word; of none beyond the time limit. */
export function nearWordsOf(
  words: readonly string[],
  segments: readonly VisibleSegment[],
  deadline: Deadline,
): readonly (readonly NearWord[])[] {
  try {
    return words.map((word) => nearWords(word.toWellFormed(), segments, deadline));
  } catch (error) {
    // The query itself was answered in time.
    if (error instanceof CatalogError && error.code === "too_large") return words.map(() => []);
    throw error;
  }
}

function nearWords(
  word: string,
  segments: readonly VisibleSegment[],
  deadline: Deadline,
): readonly NearWord[] {
  const near = new NearTest(word);
  if (near.editsMax === 0) return [];
  const count = ({ segment, visible }: VisibleSegment, ordinal: number): number => {
    const { docs } = segment.terms.postings(ordinal);
    deadline.spend(docs.length);
    return visible(allWith(docs, 1)).docs.length;
  };
  for (const one of segments) {
    const [from, to] = one.segment.terms.dictionary.prefixRange(wordTerm(word));
    for (let ordinal = from; ordinal < to; ordinal++) if (count(one, ordinal) > 0) return [];
  }
  const found = new Map<string, NearWord>();
  for (const one of segments) {
    const { dictionary } = one.segment.terms;
    const [from, to] = dictionary.prefixRange(wordTerm(near.first));
    dictionary.eachText(from, to, (term, ordinal) => {
      const other = wordOf(term);
      deadline.spend(COMPARE_STEPS);
      const distance = near.distance(other);
      if (distance === undefined) return;
      const documents = count(one, ordinal) + (found.get(other)?.documents ?? 0);
      found.set(other, { word: other, distance, documents });
    });
  }
  return nearest(found.values());
}
