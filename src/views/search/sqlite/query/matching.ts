/** Matches an expression in one segment: every leaf becomes a set of documents with scores. */
import { evaluate } from "../../evaluate.ts";
import type { Expression, SearchDocument, WordChoice } from "../../search.ts";
import type { Segment } from "../segments/segment.ts";
import {
  type Level,
  wholeBeginning,
  wholeTerm,
  wholeUnitsMax,
  wordTerm,
} from "../segments/terms.ts";
import { compileCondition } from "./conditions.ts";
import type { Deadline } from "./deadline.ts";
import {
  addScores,
  allWith,
  type DocSet,
  filter,
  intersect,
  noDocs,
  scored,
  Union,
  union,
  weighted,
  without,
} from "./doc-set.ts";

interface Matching {
  readonly segment: Segment;
  readonly deadline: Deadline;
  /** Reads a stored document, where the index does not decide. */
  readonly documentOf: (segment: Segment, doc: number) => SearchDocument | undefined;
  /** Candidate documents; undefined for all. */
  readonly among?: Uint32Array | undefined;
}

type ExpressionOf<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;
type Within = ExpressionOf<"word">["within"];

export function match(expression: Expression, matching: Matching): DocSet {
  const { segment, deadline } = matching;
  const matchPart = (one: Expression): DocSet => match(one, matching);
  deadline.spend(1_000);
  switch (expression.kind) {
    case "all":
      return allWith(segment.all(), 1);
    case "word":
      return matchTerms(wordRanges(expression, segment), expression.within, matching);
    case "phrase":
      return matchPhrase(expression, matching);
    case "whole":
      return matchWhole(expression, matching);
    case "condition": {
      const holds = compileCondition(expression.condition, segment, deadline);
      return filter(allWith(segment.all(), 1), holds);
    }
    case "and":
      return matchEvery(expression, matching);
    case "or":
      return union(expression.any.map(matchPart), segment.docs);
    case "not":
      return without(allWith(segment.all(), 0), matchPart(expression.not).docs);
    case "prefer": {
      const base = matchPart(expression.base);
      if (base.docs.length === 0) return base;
      const preferred = expression.preferred.map(({ weight, when }) =>
        weighted(match(when, { ...matching, among: base.docs }), weight),
      );
      return addScores(base, union(preferred, segment.docs));
    }
  }
}

/** Reads words first, the rarest before others: an empty intersection ends the evaluation. */
function matchEvery({ all }: ExpressionOf<"and">, matching: Matching): DocSet {
  const { terms } = matching.segment;
  const costs = all.map((one): readonly [bytes: number, one: Expression] => {
    const ranges = one.kind === "word" ? wordRanges(one, matching.segment) : undefined;
    const bytes = ranges?.reduce((sum, { from, to }) => sum + terms.range(from, to)[1], 0);
    return [bytes ?? Number.MAX_VALUE, one];
  });
  let found: DocSet | undefined;
  for (const [, one] of costs.sort(([a], [b]) => a - b)) {
    const set = match(one, matching);
    found = found === undefined ? set : intersect(found, set);
    if (found.docs.length === 0) break;
  }
  return found ?? allWith(matching.segment.all(), 0);
}

type TermRanges = ReturnType<typeof rangesOf>;

/** The ordinals of the term, or with `prefix` of the terms that begin with it. */
function rangesOf(
  term: string,
  { prefix, weight }: Omit<WordChoice, "word">,
  { terms: { dictionary } }: Segment,
) {
  const exact = prefix ? -1 : dictionary.find(term);
  const [from, to] = prefix ? dictionary.prefixRange(term) : [exact, exact + 1];
  return from < 0 || from === to ? [] : [{ from, to, weight }];
}

const wordRanges = ({ any }: ExpressionOf<"word">, segment: Segment): TermRanges =>
  any.flatMap((choice) => rangesOf(wordTerm(choice.word), choice, segment));

function matchTerms(
  ranges: TermRanges,
  within: Within,
  { segment: { terms, docs: docCount }, deadline }: Matching,
): DocSet {
  const [first] = ranges;
  if (first === undefined) return noDocs;
  const place = within === "suggested" ? 1 : 0;
  const scores = terms.entry.levels.map((level) => level[place]);
  const isOneTerm = ranges.every(({ from, to }) => from === first.from && to === from + 1);
  if (isOneTerm) {
    const weight = ranges.reduce((most, { weight }) => Math.max(most, weight), 0);
    const weights = scores.map((score) => score * weight);
    const all = scored(terms.postings(first.from), weights);
    return place === 0 ? all : filter(all, (_, score) => score >= 0);
  }
  const found = new Union(docCount);
  for (const { from, to, weight } of ranges) {
    const { docs, levels } = terms.postings(from, to);
    deadline.spend(docs.length);
    for (let at = 0; at < docs.length; at++) {
      const score = scores[levels[at] as number] as number;
      if (score >= 0) found.add(docs[at] as number, score * weight);
    }
  }
  return found.end();
}

function matchPhrase(
  { words, weight = 1 }: ExpressionOf<"phrase">,
  { segment, deadline }: Matching,
): DocSet {
  const { terms } = segment;
  const { levels, positionStep, docStep } = terms.entry;
  const ordinals = words.map((word) => terms.dictionary.find(wordTerm(word)));
  if (ordinals.includes(-1)) return noDocs;
  /** Occurrences of the first word at which all words so far follow each other. */
  let starts: Float64Array | undefined;
  for (const [n, ordinal] of ordinals.entries()) {
    const occurrences = terms.occurrences(ordinal);
    deadline.spend(4 * occurrences.length);
    starts = starts === undefined ? occurrences : adjacentTo(starts, occurrences, n * positionStep);
    if (starts.length === 0) return noDocs;
  }
  const found = new Union(segment.docs);
  for (const start of starts ?? []) {
    const [boost] = levels[start % positionStep] as Level;
    found.add(Math.floor(start / docStep), weight * boost);
  }
  return found.end();
}

/** Keeps each number for which `others` has number + distance. Both lists ascend. */
function adjacentTo(numbers: Float64Array, others: Float64Array, distance: number): Float64Array {
  let end = 0;
  for (let n = 0, m = 0; n < numbers.length && m < others.length; ) {
    const number = numbers[n] as number;
    const difference = number + distance - (others[m] as number);
    if (difference <= 0) n++;
    if (difference >= 0) m++;
    if (difference === 0) numbers[end++] = number;
  }
  return numbers.subarray(0, end);
}

function matchWhole(expression: ExpressionOf<"whole">, matching: Matching): DocSet {
  const { text, prefix, within } = expression;
  const isUncertain = text.length > wholeUnitsMax || (prefix && text.length === wholeUnitsMax);
  const term = prefix ? wholeBeginning(text) : wholeTerm(text);
  const ranges = rangesOf(term, { prefix, weight: 1 }, matching.segment);
  const found = matchTerms(ranges, within, matching);
  return isUncertain ? evaluated(expression, found, matching) : found;
}

/** Evaluates the expression on the stored documents. */
function evaluated(
  expression: Expression,
  found: DocSet,
  { segment, deadline, documentOf, among }: Matching,
): DocSet {
  const docs: number[] = [];
  const scores: number[] = [];
  const candidates = among === undefined ? found : intersect(found, allWith(among, 0));
  for (const doc of candidates.docs) {
    deadline.spend(10_000);
    const document = documentOf(segment, doc);
    const score = document && evaluate(expression, document)?.score;
    if (score === undefined) continue;
    docs.push(doc);
    scores.push(score);
  }
  return { docs: Uint32Array.from(docs), scores: Float64Array.from(scores) };
}
