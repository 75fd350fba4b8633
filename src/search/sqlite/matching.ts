/**
 * Finds the documents of an expression with their scores. What is rare is found first, and narrows
 * the queries for the rest: a word that most documents have is then looked for among a few. When
 * very few are left, they are looked at one by one.
 */
import { evaluate } from "../evaluate.ts";
import type { Expression } from "../search.ts";
import {
  type Conditions,
  chunks,
  type Limit,
  lookedAtMax,
  narrowingAlternativesMax,
  narrowingMax,
} from "./conditions.ts";
import type { Documents } from "./documents.ts";
import { addTo, createUnion, type Found, intersect, nothing, select, weighted } from "./found.ts";
import { isTextLeaf, type Kind, type Levels, levelsOf, type TextLeaf } from "./levels.ts";
import type { Postings } from "./postings.ts";

/** `match`: a query that all of them fulfil, if one is known that is not long. */
export interface Matched extends Found {
  readonly match?: string | undefined;
}

export interface MatchingSources {
  readonly postings: Postings;
  readonly documents: Documents;
  readonly conditions: Conditions;
  kinds(): readonly Kind[];
  /** All documents, ascending. */
  live(): Uint32Array;
}

/** So few are looked at rather than finding everything that begins with something. */
const lookedAtForBroadMax = 2_000;

/** With a limit, documents beyond it may be found or not. */
export type Matching = (expression: Expression, limit?: Limit) => Matched;

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

export function createMatching(sources: MatchingSources): Matching {
  const { postings, documents, conditions, live } = sources;
  const union = createUnion();

  function find(expression: Expression, limit?: Limit): Matched {
    if (limit !== undefined && limit.docs.length <= lookedAtMax) {
      return { ...lookedAt(expression, limit.docs), match: limit.match };
    }
    switch (expression.kind) {
      case "all":
        return { docs: limit?.docs ?? live(), scores: 1, match: limit?.match };
      case "word":
      case "phrase":
      case "whole":
        return findText(expression, limit);
      case "condition": {
        const { condition } = expression;
        const match = limit === undefined ? conditions.matchesOf(condition)[0] : limit.match;
        return { docs: conditions.find(condition, limit), scores: 1, match };
      }
      case "and":
        return findAll(expression, limit);
      case "or":
        return findAny(expression, limit);
      case "not": {
        const base = { docs: limit?.docs ?? live(), scores: 0, match: limit?.match };
        const without = find(expression.not, limit);
        return { ...select(base, without.docs, false), match: limit?.match };
      }
      case "prefer":
        return findPreferring(expression, limit);
    }
  }

  function lookedAt(expression: Expression, docs: Uint32Array): Found {
    const scores: number[] = [];
    const held = docs.filter((doc) => {
      const document = documents.get(doc);
      const score = document && evaluate(expression, document)?.score;
      if (score !== undefined) scores.push(score);
      return score !== undefined;
    });
    return { docs: held, scores: Float64Array.from(scores) };
  }

  function findText(
    leaf: TextLeaf,
    limit: Limit | undefined,
    levels = levelsOf(leaf, sources.kinds(), postings),
  ): Matched {
    if (levels.broad && limit !== undefined && limit.docs.length <= lookedAtForBroadMax) {
      return { ...lookedAt(leaf, limit.docs), match: limit.match };
    }
    return matched(leaf, levels, limit, (match) => postings.docs(match)) ?? nothing;
  }

  /** Undefined when a query has no answer. */
  function matched(
    leaf: TextLeaf,
    { levels, uncertain }: Levels,
    limit: Limit | undefined,
    docsOf: (match: string) => Uint32Array | undefined,
  ): Matched | undefined {
    const narrowing = limit !== undefined && limit.docs.length <= narrowingMax && limit.match;
    const sets: Found[] = [];
    const held: string[] = [];
    for (const { score, matches } of levels) {
      for (const chunk of chunks(matches)) {
        const match = chunk.join(" OR ");
        const docs = docsOf(narrowing ? `(${narrowing}) AND (${match})` : match);
        if (docs === undefined) return undefined;
        if (docs.length === 0) continue;
        sets.push({ docs, scores: score });
        held.push(...chunk);
      }
    }
    const found = union(sets);
    const short = held.length > 0 && held.length <= narrowingAlternativesMax;
    const match = short ? held.join(" OR ") : undefined;
    return { ...(uncertain ? lookedAt(leaf, found.docs) : found), match };
  }

  /** The leaf's documents, if it takes no time to learn that they are few. */
  function sip(leaf: TextLeaf, levels: Levels, limit: Limit | undefined): Matched | undefined {
    if (levels.broad || levels.uncertain) return undefined;
    return matched(leaf, levels, limit, (match) => postings.fewDocs(match, narrowingMax));
  }

  function findAll({ all }: Of<"and">, limit: Limit | undefined): Matched {
    const texts = all.filter(isTextLeaf).map((leaf) => {
      const levels = levelsOf(leaf, sources.kinds(), postings);
      return { leaf, levels, few: all.length > 1 ? sip(leaf, levels, limit) : undefined };
    });
    const size = ({ few }: { readonly few: Found | undefined }) => few?.docs.length ?? Infinity;
    // Two that are not known to be few are not apart.
    const rarestFirst = texts.sort((a, b) => size(a) - size(b) || 0);
    let current: Matched | undefined = limit && { ...limit, scores: 0 };
    const take = (next: Matched) => {
      current =
        current === undefined
          ? next
          : { ...intersect(current, next), match: matchOfBoth(current, next) };
    };
    for (const { leaf, levels, few } of rarestFirst) take(few ?? findText(leaf, current, levels));
    for (const one of all) {
      if (!isTextLeaf(one) && one.kind !== "not") take(find(one, current));
    }
    const base: Matched = current ?? { docs: live(), scores: 0 };
    let found: Found = base;
    for (const one of all) {
      if (one.kind !== "not") continue;
      found = select(found, find(one.not, { docs: found.docs, match: base.match }).docs, false);
    }
    return { ...found, match: base.match };
  }

  function findAny({ any }: Of<"or">, limit: Limit | undefined): Matched {
    const sets = any.map((one) => find(one, limit)).filter(({ docs }) => docs.length > 0);
    const matches = sets.map(({ match }) => match);
    const known = matches.length > 0 && matches.every((match) => match !== undefined);
    const short = known && matches.length <= NARROWING_PARTS_MAX;
    return { ...union(sets), match: short ? `(${matches.join(") OR (")})` : limit?.match };
  }

  function findPreferring({ base, preferred }: Of<"prefer">, limit: Limit | undefined): Matched {
    const found = find(base, limit);
    if (found.docs.length === 0) return found;
    const extras = preferred.map(({ weight, when }) => {
      const { docs, scores } = find(when, { docs: found.docs, match: found.match });
      return weighted({ docs, scores }, weight);
    });
    return { ...addTo(found, union(extras)), match: found.match };
  }

  return find;
}

/** The query of the smaller set narrows more. */
const matchOfBoth = (a: Matched, b: Matched): string | undefined =>
  a.docs.length <= b.docs.length ? (a.match ?? b.match) : (b.match ?? a.match);

/** Parts of an alternative that narrows other queries. */
const NARROWING_PARTS_MAX = 4;
