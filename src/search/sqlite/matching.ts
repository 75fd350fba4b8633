/**
 * Finds the documents of an expression with their scores. What is rare is found first, and narrows
 * the queries for the rest: a word that most documents have is then looked for among a few. When
 * very few are left, they are looked at one by one.
 */
import { evaluate } from "../evaluate.ts";
import { createGlance } from "../glance.ts";
import type { Expression } from "../search.ts";
import { lookedAtMax } from "./columns.ts";
import {
  type Conditions,
  chunks,
  type Limit,
  narrowingAlternativesMax,
  narrowingMax,
  narrowingOf,
} from "./conditions.ts";
import type { Documents } from "./documents.ts";
import { addTo, createUnion, type Found, intersect, nothing, select, weighted } from "./found.ts";
import { isTextLeaf, type Kind, type Levels, levelsOf, type TextLeaf } from "./levels.ts";
import type { Postings } from "./postings.ts";
import type { Steps } from "./slices.ts";

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

/** Documents that are looked at one by one before others get their turn. */
const LOOKED_AT_PART = 32;
/** Alternatives of a level that are asked for one by one. */
const APART_MAX = 4;

/** With a limit, documents beyond it may be found or not. */
export type Matching = (expression: Expression, limit?: Limit) => Steps<Matched>;

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

export function createMatching(sources: MatchingSources): Matching {
  const { postings, documents, conditions, live } = sources;
  const union = createUnion();

  function* find(expression: Expression, limit?: Limit): Steps<Matched> {
    yield;
    if (limit !== undefined && limit.docs.length <= lookedAtMax) {
      return { ...(yield* lookedAt(expression, limit.docs)), match: limit.match };
    }
    switch (expression.kind) {
      case "all":
        return { docs: limit?.docs ?? live(), scores: 1, match: limit?.match };
      case "word":
      case "phrase":
      case "whole":
        return yield* findText(expression, limit);
      case "condition": {
        const { condition } = expression;
        const match = limit === undefined ? conditions.matchesOf(condition)[0] : limit.match;
        return { docs: yield* conditions.find(condition, limit), scores: 1, match };
      }
      case "and":
        return yield* findAll(expression, limit);
      case "or":
        return yield* findAny(expression, limit);
      case "not": {
        const base = { docs: limit?.docs ?? live(), scores: 0, match: limit?.match };
        const without = yield* find(expression.not, limit);
        return { ...select(base, without.docs, false), match: limit?.match };
      }
      case "prefer":
        return yield* findPreferring(expression, limit);
    }
  }

  function* lookedAt(expression: Expression, docs: Uint32Array): Steps<Found> {
    const held: number[] = [];
    const scores: number[] = [];
    const glance = createGlance(expression);
    for (const [at, doc] of docs.entries()) {
      const document = documents.get(doc, glance);
      const score = document && evaluate(expression, document)?.score;
      if (score !== undefined) {
        held.push(doc);
        scores.push(score);
      }
      if (at % LOOKED_AT_PART === LOOKED_AT_PART - 1) yield;
    }
    return { docs: Uint32Array.from(held), scores: Float64Array.from(scores) };
  }

  function* findText(
    leaf: TextLeaf,
    limit: Limit | undefined,
    levels = levelsOf(leaf, sources.kinds(), postings),
  ): Steps<Matched> {
    if (levels.broad && limit !== undefined && limit.docs.length <= lookedAtForBroadMax) {
      return { ...(yield* lookedAt(leaf, limit.docs)), match: limit.match };
    }
    const within = narrowingOf(limit);
    if (within === undefined) return (yield* matched(leaf, levels, postings.docs)) ?? nothing;
    const docsOf = (match: string) => postings.docsWithin(within, match);
    const found = (yield* matched(leaf, levels, docsOf)) ?? nothing;
    // The leaf's own query finds more than was found.
    return { ...found, match: within.match };
  }

  /** Undefined when a query has no answer. */
  function* matched(
    leaf: TextLeaf,
    { levels, uncertain }: Levels,
    docsOf: (match: string) => Uint32Array | undefined,
  ): Steps<Matched | undefined> {
    const sets: Found[] = [];
    const held: string[] = [];
    for (const { score, matches } of levels) {
      // What is asked for by itself may be in memory.
      const parts = matches.length <= APART_MAX ? matches.map((one) => [one]) : chunks(matches);
      for (const part of parts) {
        const docs = docsOf(part.join(" OR "));
        if (docs === undefined) return undefined;
        if (docs.length === 0) continue;
        sets.push({ docs, scores: score });
        held.push(...part);
        yield;
      }
    }
    const found = union(sets);
    const short = held.length > 0 && held.length <= narrowingAlternativesMax;
    const match = short ? held.join(" OR ") : undefined;
    return { ...(uncertain ? yield* lookedAt(leaf, found.docs) : found), match };
  }

  /** The leaf's documents, if they are in memory, or it takes no time to learn that they are few. */
  function* sip(
    leaf: TextLeaf,
    levels: Levels,
    limit: Limit | undefined,
  ): Steps<Matched | undefined> {
    if (levels.broad || levels.uncertain) return undefined;
    const within = narrowingOf(limit);
    return yield* matched(leaf, levels, (match) =>
      within === undefined
        ? postings.fewDocs(match, narrowingMax)
        : postings.docsWithin(within, match),
    );
  }

  function* findAll({ all }: Of<"and">, limit: Limit | undefined): Steps<Matched> {
    const texts: { leaf: TextLeaf; levels: Levels; few: Matched | undefined }[] = [];
    for (const leaf of all.filter(isTextLeaf)) {
      const levels = levelsOf(leaf, sources.kinds(), postings);
      const few = all.length > 1 ? yield* sip(leaf, levels, limit) : undefined;
      texts.push({ leaf, levels, few });
    }
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
    for (const { leaf, levels, few } of rarestFirst) {
      take(few ?? (yield* findText(leaf, current, levels)));
    }
    for (const one of all) {
      if (!isTextLeaf(one) && one.kind !== "not") take(yield* find(one, current));
    }
    const base: Matched = current ?? { docs: live(), scores: 0 };
    let found: Found = base;
    for (const one of all) {
      if (one.kind !== "not") continue;
      const without = yield* find(one.not, { docs: found.docs, match: base.match });
      found = select(found, without.docs, false);
    }
    return { ...found, match: base.match };
  }

  function* findAny({ any }: Of<"or">, limit: Limit | undefined): Steps<Matched> {
    const sets: Matched[] = [];
    for (const one of any) {
      const set = yield* find(one, limit);
      if (set.docs.length > 0) sets.push(set);
    }
    const matches = sets.map(({ match }) => match);
    const known = matches.length > 0 && matches.every((match) => match !== undefined);
    const short = known && matches.length <= NARROWING_PARTS_MAX;
    return { ...union(sets), match: short ? `(${matches.join(") OR (")})` : limit?.match };
  }

  function* findPreferring({ base, preferred }: Of<"prefer">, limit?: Limit): Steps<Matched> {
    const found = yield* find(base, limit);
    if (found.docs.length === 0) return found;
    const extras: Found[] = [];
    for (const { weight, when } of preferred) {
      const { docs, scores } = yield* find(when, { docs: found.docs, match: found.match });
      extras.push(weighted({ docs, scores }, weight));
    }
    return { ...addTo(found, union(extras)), match: found.match };
  }

  return find;
}

/** The query of the smaller set narrows more. */
const matchOfBoth = (a: Matched, b: Matched): string | undefined =>
  a.docs.length <= b.docs.length ? (a.match ?? b.match) : (b.match ?? a.match);

/** Parts of an alternative that narrows other queries. */
const NARROWING_PARTS_MAX = 4;
