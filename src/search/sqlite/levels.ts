/**
 * The leaves of an expression that ask for words, as queries of the index: one for each score that
 * the leaf may give, the greatest first.
 */
import type { Expression, WordChoice } from "../search.ts";
import type { Postings } from "./postings.ts";
import {
  beginning,
  gramToken,
  gramUnitsMax,
  type KindNumber,
  quoted,
  wholeGramToken,
  wholeToken,
  wholeUnitsMax,
  wordToken,
  wordUnitsMax,
} from "./tokens.ts";

export type TextLeaf = Extract<Expression, { kind: "word" | "phrase" | "whole" }>;

export const isTextLeaf = (expression: Expression): expression is TextLeaf =>
  expression.kind === "word" || expression.kind === "phrase" || expression.kind === "whole";

export interface Kind {
  readonly number: KindNumber;
  readonly boost: number;
  readonly suggested: boolean;
}

export interface Level {
  readonly score: number;
  /** Alternatives. */
  readonly matches: readonly string[];
}

export interface Levels {
  readonly levels: readonly Level[];
  /** Whether each document that is found has to be compared with the leaf itself. */
  readonly uncertain: boolean;
  /** Whether there is a beginning among them of which it is not known what it costs. */
  readonly broad: boolean;
}

/** Words of a phrase that the index is asked for; of a longer one the rest is compared. */
const PHRASE_WORDS_MAX = 64;
/** A beginning of so many words is asked for as these words. */
const EXPANSIONS_MAX = 32;

export function levelsOf(leaf: TextLeaf, kinds: readonly Kind[], postings: Postings): Levels {
  switch (leaf.kind) {
    case "word":
      return wordLevels(leaf, kinds, postings);
    case "phrase":
      return phraseLevels(leaf, kinds);
    case "whole":
      return wholeLevels(leaf, kinds, postings);
  }
}

function wordLevels(
  { any, within }: Extract<TextLeaf, { kind: "word" }>,
  kinds: readonly Kind[],
  postings: Postings,
): Levels {
  const scores = createScores();
  const uncertain = any.some(({ word }) => word.length >= wordUnitsMax);
  let broad = false;
  for (const kind of kinds) {
    if (within === "suggested" && !kind.suggested) continue;
    for (const choice of any) {
      const matches = wordMatches(choice, kind, postings);
      broad ||= matches.broad;
      scores.add(choice.weight * kind.boost, matches.matches);
    }
  }
  return { levels: scores.levels(), uncertain, broad };
}

function wordMatches({ word, prefix }: WordChoice, kind: Kind, postings: Postings): Matches {
  const wanted = word.toWellFormed();
  const token = wordToken(kind.number, wanted);
  // A longer word is indexed as if it were no longer than this.
  if (!prefix || wanted.length >= wordUnitsMax) return { matches: [quoted(token)], broad: false };
  if (kind.suggested && isGram(wanted)) {
    return { matches: [quoted(gramToken(kind.number, wanted))], broad: false };
  }
  return beginnings(token, postings);
}

interface Matches {
  readonly matches: readonly string[];
  readonly broad: boolean;
}

/** A few tokens are rather asked for one by one. */
function beginnings(token: string, postings: Postings): Matches {
  const longer = postings.longer(token, EXPANSIONS_MAX);
  return longer === undefined
    ? { matches: [beginning(token)], broad: true }
    : { matches: [token, ...longer].map(quoted), broad: false };
}

function phraseLevels(
  { words, weight = 1 }: Extract<TextLeaf, { kind: "phrase" }>,
  kinds: readonly Kind[],
): Levels {
  const scores = createScores();
  const asked = words.slice(0, PHRASE_WORDS_MAX).map((word) => word.toWellFormed());
  if (asked.length > 0) {
    for (const { number, boost } of kinds) {
      scores.add(weight * boost, [quoted(asked.map((word) => wordToken(number, word)).join(" "))]);
    }
  }
  const uncertain =
    words.length > PHRASE_WORDS_MAX || asked.some((word) => word.length >= wordUnitsMax);
  return { levels: scores.levels(), uncertain, broad: false };
}

function wholeLevels(
  { text, prefix, within }: Extract<TextLeaf, { kind: "whole" }>,
  kinds: readonly Kind[],
  postings: Postings,
): Levels {
  const scores = createScores();
  const asked = text.toWellFormed();
  const uncertain = asked.length >= wholeUnitsMax;
  let broad = false;
  for (const { number, boost, suggested } of kinds) {
    if (within === "suggested" && !suggested) continue;
    const token = wholeToken(number, asked);
    if (!prefix || uncertain) scores.add(boost, [quoted(token)]);
    else if (suggested && isGram(asked)) scores.add(boost, [quoted(wholeGramToken(number, asked))]);
    else {
      const matches = beginnings(token, postings);
      scores.add(boost, matches.matches);
      broad ||= matches.broad;
    }
  }
  return { levels: scores.levels(), uncertain, broad };
}

const isGram = (text: string): boolean => text.length > 0 && text.length <= gramUnitsMax;

/** What is asked for with several scores counts with the greatest. */
function createScores() {
  const scores = new Map<string, number>();
  return {
    add(score: number, matches: readonly string[]): void {
      for (const match of matches) {
        if (score > (scores.get(match) ?? -1)) scores.set(match, score);
      }
    },
    levels(): readonly Level[] {
      const levels = new Map<number, string[]>();
      for (const [match, score] of scores) {
        const level = levels.get(score);
        if (level === undefined) levels.set(score, [match]);
        else level.push(match);
      }
      return [...levels]
        .map(([score, matches]) => ({ score, matches }))
        .sort((a, b) => b.score - a.score);
    },
  };
}
