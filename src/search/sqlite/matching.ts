/** Matches an expression in one segment: every leaf becomes a set of documents with scores. */
import { evaluate } from "../evaluate.ts";
import type { Expression, SearchDocument } from "../search.ts";
import { compileCondition } from "./conditions.ts";
import type { Deadline } from "./deadline.ts";
import {
  type DocSet,
  filter,
  intersect,
  noDocs,
  raise,
  UnionBuilder,
  union,
  weighted,
  without,
} from "./doc-set.ts";
import { matchPhrase } from "./phrases.ts";
import type { Postings } from "./postings.ts";
import { type Segment, WHOLE_MARK, WORD_MARK, wholeKey, wholeUnitsMax } from "./segment.ts";

export interface Matching {
  readonly deadline: Deadline;
  /** The stored document of a number; read where the index does not decide. */
  readonly documentOf: (segment: Segment, doc: number) => SearchDocument | undefined;
}

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;
type Within = Of<"word">["within"];

export function match(expression: Expression, segment: Segment, matching: Matching): DocSet {
  const { deadline } = matching;
  const inside = (one: Expression): DocSet => match(one, segment, matching);
  deadline.spend(1_000);
  switch (expression.kind) {
    case "all":
      return { docs: segment.all(), scores: 1 };
    case "word":
      return matchWord(expression, segment, deadline);
    case "phrase":
      return matchPhrase(expression, segment, deadline);
    case "whole":
      return matchWhole(expression, segment, matching);
    case "condition": {
      const holds = compileCondition(expression.condition, segment, deadline);
      return filter({ docs: segment.all(), scores: 1 }, holds);
    }
    case "and":
      return matchEvery(expression, segment, inside);
    case "or":
      return union(expression.any.map(inside), segment.docs);
    case "not":
      return without({ docs: segment.all(), scores: 0 }, inside(expression.not).docs);
    case "prefer": {
      const base = inside(expression.base);
      if (base.docs.length === 0) return base;
      const preferred = expression.preferred.map(({ weight, when }) =>
        weighted(inside(when), weight),
      );
      return raise(base, union(preferred, segment.docs));
    }
  }
}

function matchEvery(
  { all }: Of<"and">,
  segment: Segment,
  inside: (one: Expression) => DocSet,
): DocSet {
  const sets: DocSet[] = [];
  const excluded: Expression[] = [];
  for (const one of all) {
    if (one.kind === "not") excluded.push(one.not);
    else {
      const set = inside(one);
      if (set.docs.length === 0) return noDocs;
      sets.push(set);
    }
  }
  sets.sort((a, b) => a.docs.length - b.docs.length);
  let found = sets.reduce<DocSet | undefined>(
    (before, set) => (before === undefined ? set : intersect(before, set)),
    undefined,
  ) ?? { docs: segment.all(), scores: 0 };
  for (const one of excluded) found = without(found, inside(one).docs);
  return found;
}

function matchWord({ any, within }: Of<"word">, segment: Segment, deadline: Deadline): DocSet {
  const terms = any.map(({ word, ...choice }) => ({
    ...choice,
    term: WORD_MARK + word.toWellFormed(),
  }));
  return matchTerms(terms, segment, within, deadline);
}

interface TermChoice {
  readonly term: string;
  readonly prefix: boolean;
  readonly weight: number;
}

/** More terms than these are added up document by document. */
const TERMS_APART_MAX = 2;

/** Documents that have one of the terms, or with `prefix` one that begins with it. */
function matchTerms(
  choices: readonly TermChoice[],
  segment: Segment,
  within: Within,
  deadline: Deadline,
): DocSet {
  const weights = new Map<number, number>();
  for (const { term, prefix, weight } of choices) {
    const ordinal = prefix ? -1 : segment.terms.find(term);
    if (ordinal >= 0) weights.set(ordinal, Math.max(weight, weights.get(ordinal) ?? 0));
  }
  const ranges = choices
    .filter(({ prefix }) => prefix)
    .map(({ term, weight }) => ({ range: segment.terms.prefixRange(term), weight }));
  for (const { range, weight } of ranges) {
    const [from, to] = range;
    for (let ordinal = from; ordinal < to && weights.size <= TERMS_APART_MAX; ordinal++) {
      weights.set(ordinal, Math.max(weight, weights.get(ordinal) ?? 0));
    }
  }
  const place = within === "suggested" ? 1 : 0;
  const scores = segment.levels.map((level) => level[place]);
  if (weights.size <= TERMS_APART_MAX) {
    const sets = Array.from(weights, ([ordinal, weight]) =>
      docsOf(segment.postings(ordinal), scores, weight),
    );
    return union(sets, segment.docs);
  }
  const found = new UnionBuilder(segment.docs);
  const add = (from: number, to: number, weight: number) => {
    segment.eachPosting(from, to, (doc, level) => {
      deadline.spend(1);
      const score = scores[level] as number;
      if (score >= 0) found.add(doc, score * weight);
    });
  };
  for (const [ordinal, weight] of weights) add(ordinal, ordinal + 1, weight);
  for (const { range, weight } of ranges) add(...range, weight);
  return found.end();
}

/** `scores` has the score of each level, below 0 if it does not count. */
function docsOf({ docs, levels }: Postings, scores: readonly number[], weight: number): DocSet {
  if (typeof levels === "number") {
    const score = scores[levels] as number;
    return score < 0 ? noDocs : { docs, scores: score * weight };
  }
  const all = new Float64Array(levels.length);
  for (let at = 0; at < all.length; at++) all[at] = scores[levels[at] as number] as number;
  const found = scores.some((score) => score < 0) ? held(docs, all) : { docs, scores: all };
  return weight === 1 ? found : weighted(found, weight);
}

/** Those with a score that is not negative. */
function held(docs: Uint32Array, scores: Float64Array): DocSet {
  if (!scores.some((score) => score < 0)) return { docs, scores };
  return {
    docs: docs.filter((_, at) => (scores[at] as number) >= 0),
    scores: scores.filter((score) => score >= 0),
  };
}

function matchWhole(expression: Of<"whole">, segment: Segment, matching: Matching): DocSet {
  const { prefix, within } = expression;
  const text = expression.text.toWellFormed();
  const uncertain = text.length >= wholeUnitsMax;
  const term = WHOLE_MARK + wholeKey(text);
  const choice = { term, prefix, weight: 1 };
  const found = matchTerms([choice], segment, within, matching.deadline);
  return uncertain ? compared(expression, found, segment, matching) : found;
}

/** Evaluates the expression for each document by itself. */
function compared(
  expression: Expression,
  { docs }: DocSet,
  segment: Segment,
  { deadline, documentOf }: Matching,
): DocSet {
  const kept: number[] = [];
  const scores: number[] = [];
  for (const doc of docs) {
    deadline.spend(10_000);
    const document = documentOf(segment, doc);
    const score = document && evaluate(expression, document)?.score;
    if (score === undefined) continue;
    kept.push(doc);
    scores.push(score);
  }
  return { docs: Uint32Array.from(kept), scores: Float64Array.from(scores) };
}
