/**
 * Suggestions for a search without hits: its query with near words in place of misspelled ones
 * (views/search/near-words.ts). Only queries that have hits are suggested. The n-th suggestion has the n-th
 * near word of each word, or the last one.
 */
import { CatalogError } from "../../../core/errors.ts";
import { maxOf } from "../../../lib/lists.ts";
import type { NearWord } from "../../../views/search/near-words.ts";
import type { SearchWords } from "../expression.ts";
import type { SearchSuggestion } from "../requests.ts";

/** Longer queries get no suggestions. */
const charactersMax = 100;
/** Words of a query beyond these are not looked up. */
const wordsMax = 5;

interface SuggestionPlan {
  /** Words to look up near words of; none where no suggestions are wanted. */
  readonly words: readonly string[];
  /** Best first. `count`: how many hits a query has. */
  read(
    nearWords: readonly (readonly NearWord[])[],
    count: (input: string) => Promise<number>,
  ): Promise<readonly SearchSuggestion[]>;
}

export function planSuggestions(
  input: string,
  { tokensOf }: Pick<SearchWords, "tokensOf">,
): SuggestionPlan {
  const runs = input.length > charactersMax ? [] : runsOf(input, tokensOf);
  const words = [...new Set(runs.map(({ word }) => word))].slice(0, wordsMax);
  return {
    words,
    async read(nearWords, count) {
      const near = new Map(words.map((word, n) => [word, nearWords[n] ?? []]));
      const most = maxOf([0, ...nearWords.map(({ length }) => length)]);
      const suggestions: SearchSuggestion[] = [];
      for (let n = 0; n < most; n++) {
        const { text, score } = replaced(input, runs, (word) => {
          const found = near.get(word) ?? [];
          return found[Math.min(n, found.length - 1)];
        });
        const frequency = await count(text).catch(noneBeyondLimits);
        if (frequency === undefined) break;
        if (frequency > 0) suggestions.push({ text, score, frequency });
      }
      return suggestions;
    },
  };
}

/** The search itself was answered: a suggestion with too many parts or hits does not fail it. */
function noneBeyondLimits(error: unknown): undefined {
  const beyond = error instanceof CatalogError && ["malformed", "too_large"].includes(error.code);
  if (!beyond) throw error;
}

/** Letters and digits in a row, which are one word. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly word: string;
}

const RUN = /[\p{L}\p{M}\p{N}]+/gu;

function runsOf(input: string, tokensOf: SearchWords["tokensOf"]): readonly Run[] {
  return [...input.matchAll(RUN)].flatMap(({ 0: run, index }) => {
    const [token, another] = tokensOf(run);
    if (token?.joined === undefined || another !== undefined) return [];
    return [{ start: index, end: index + run.length, word: token.joined }];
  });
}

/** The query with other words. Its score is the part of the replaced words that no edit changes. */
function replaced(
  input: string,
  runs: readonly Run[],
  nearWord: (word: string) => NearWord | undefined,
): Pick<SearchSuggestion, "text" | "score"> {
  let [text, end, edits, characters] = ["", 0, 0, 0];
  for (const run of runs) {
    const near = nearWord(run.word);
    if (near === undefined) continue;
    text += input.slice(end, run.start) + near.word;
    end = run.end;
    edits += near.distance;
    characters += [...run.word].length;
  }
  return { text: text + input.slice(end), score: 1 - edits / characters };
}
