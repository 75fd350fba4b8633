/**
 * The best documents of a question that most documents fulfil, without going through all of them:
 * what is completed after one letter. Documents under a rare token are looked at one by one. All
 * others are under frequent tokens alone, and the best that those can be worth together is known
 * beforehand: of the documents under the tokens that it takes, the first by urn are the best.
 */
import type { Condition, Expression } from "../search.ts";
import type { Conditions } from "./conditions.ts";
import { placeOf } from "./found.ts";
import { isTextLeaf, type Kind, levelsOf } from "./levels.ts";
import type { Postings } from "./postings.ts";
import type { Steps } from "./slices.ts";
import { isBeginning } from "./tokens.ts";
import type { UrnOrder } from "./urn-order.ts";

export interface BestSources {
  readonly postings: Postings;
  readonly conditions: Conditions;
  readonly urns: UrnOrder;
  kinds(): readonly Kind[];
}

export interface BestQuery {
  readonly expression: Expression;
  readonly condition?: Condition | undefined;
  /** Of the documents that there are, those that count. */
  readonly has: (doc: number) => boolean;
  readonly wanted: number;
}

export interface Best {
  readonly doc: number;
  readonly score: number;
}

/** In the order of an answer; undefined when they are not to be had so. */
export type FindBest = (query: BestQuery) => Steps<readonly Best[] | undefined>;

/** Documents that are under rare tokens, at most: a token of more is a frequent one. */
const RARE_MAX = 2_000;
/** More lists than this are too many to look into for each document. */
const LISTS_MAX = 64;
/** Of the documents that may be the best so many are looked at, and as many again for each wanted. */
const LOOKED_AT_MIN = 128;
const LOOKED_AT_TIMES = 3;

/** Whether a document is in the list of that number. */
type In = (list: number) => boolean;
/** What a document is worth; undefined when it does not fulfil the expression. */
type Worth = (within: In) => number | undefined;

export function createBest({ postings, conditions, urns, kinds }: BestSources): FindBest {
  /** Undefined for an expression of which no lists tell what a document is worth. */
  function compile(expression: Expression, lists: Lists): Worth | undefined {
    if (isTextLeaf(expression)) {
      const { levels, uncertain } = levelsOf(expression, kinds(), postings);
      if (uncertain) return undefined;
      const own = levels.map(({ score, matches }) => ({
        score,
        lists: matches.map(lists.numberOf),
      }));
      return (within) => own.find((level) => level.lists.some(within))?.score;
    }
    if (expression.kind === "and") return compileAll(expression.all, lists);
    if (expression.kind === "prefer") return compilePreferring(expression, lists);
    return undefined;
  }

  function compileAll(all: readonly Expression[], lists: Lists): Worth | undefined {
    const every = all.flatMap((one) => compile(one, lists) ?? []);
    if (every.length < all.length) return undefined;
    return (within) => {
      let sum = 0;
      for (const worth of every) {
        const score = worth(within);
        if (score === undefined) return undefined;
        sum += score;
      }
      return sum;
    };
  }

  function compilePreferring(
    { base, preferred }: Extract<Expression, { kind: "prefer" }>,
    lists: Lists,
  ): Worth | undefined {
    const own = compile(base, lists);
    const more = preferred.flatMap(({ weight, when }) => {
      const worth = compile(when, lists);
      return worth === undefined ? [] : [{ weight, worth }];
    });
    if (own === undefined || more.length < preferred.length) return undefined;
    return (within) => {
      const score = own(within);
      if (score === undefined) return undefined;
      let greatest = 0;
      for (const { weight, worth } of more) {
        greatest = Math.max(greatest, weight * (worth(within) ?? 0));
      }
      return score + greatest;
    };
  }

  function* fulfilling(docs: readonly number[], condition: Condition | undefined) {
    if (condition === undefined || docs.length === 0) return new Set(docs);
    const asked = Uint32Array.from(docs).sort();
    return new Set(yield* conditions.find(condition, { docs: asked }));
  }

  return function* ({ expression, condition, has, wanted }) {
    const lists = createLists();
    const worth = compile(expression, lists);
    if (worth === undefined || lists.matches.length > LISTS_MAX) return undefined;
    const all: Uint32Array[] = [];
    const read = (which: (match: string) => boolean): void => {
      for (const [list, match] of lists.matches.entries()) {
        if (which(match)) all[list] = postings.docs(match);
      }
    };
    // What begins with something is only worth going through where others are many, too.
    read((match) => !isBeginning(match));
    if (!all.some(({ length }) => length > RARE_MAX)) return undefined;
    read(isBeginning);
    const frequent = all.map(({ length }) => length > RARE_MAX);
    const isIn = (doc: number, list: number): boolean => {
      const docs = all[list] ?? new Uint32Array();
      return docs[placeOf(docs, doc)] === doc;
    };
    const worthOf = (doc: number): number | undefined => worth((list) => isIn(doc, list));

    const rare = new Set<number>();
    for (const [list, docs] of all.entries()) {
      if (frequent[list]) continue;
      for (const doc of docs) rare.add(doc);
      if (rare.size > RARE_MAX) return undefined;
    }
    const scores = new Map<number, number>();
    for (const doc of rare) {
      const score = has(doc) ? worthOf(doc) : undefined;
      if (score !== undefined) scores.set(doc, score);
    }
    const fit = yield* fulfilling([...scores.keys()], condition);
    for (const doc of scores.keys()) if (!fit.has(doc)) scores.delete(doc);

    const most = worth((list) => frequent[list] ?? false);
    if (most !== undefined) {
      const needed = all.filter((_, list) => {
        return frequent[list] && worth((one) => one !== list && (frequent[one] ?? false)) !== most;
      });
      const [shortest] = needed.sort((a, b) => a.length - b.length);
      if (shortest === undefined) return undefined;
      const first = urns.first(shortest, LOOKED_AT_MIN + wanted * LOOKED_AT_TIMES);
      const worthMost = [...first].filter((doc) => {
        return has(doc) && !rare.has(doc) && worthOf(doc) === most;
      });
      const best = yield* fulfilling(worthMost, condition);
      // With too few, there are others, or some that are worth less.
      if (best.size < wanted) return undefined;
      for (const doc of best) scores.set(doc, most);
    }
    const docs = Uint32Array.from(scores.keys()).sort();
    const { of } = urns.places(docs);
    const worths = Array.from(docs, (doc) => scores.get(doc) ?? 0);
    return Array.from(docs.keys())
      .sort((a, b) => (worths[b] ?? 0) - (worths[a] ?? 0) || (of[a] ?? 0) - (of[b] ?? 0))
      .slice(0, wanted)
      .map((at) => ({ doc: docs[at] ?? 0, score: worths[at] ?? 0 }));
  };
}

interface Lists {
  readonly matches: readonly string[];
  numberOf(match: string): number;
}

/** Each query once. */
function createLists(): Lists {
  const matches: string[] = [];
  const numbers = new Map<string, number>();
  return {
    matches,
    numberOf(match) {
      let number = numbers.get(match);
      if (number === undefined) {
        number = matches.push(match) - 1;
        numbers.set(match, number);
      }
      return number;
    },
  };
}
