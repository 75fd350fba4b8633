/** Matches of a hit, with long values cut around the match, and the explanation of its score. */
import { appendAll, minOf } from "../../lib/lists.ts";
import { evaluate, type Match } from "../../views/search/evaluate.ts";
import type { Condition, Expression, SearchDocument } from "../../views/search/search.ts";
import type { SearchWords } from "./expression.ts";
import type { Explanation, MatchedField, SearchFlags } from "./requests.ts";

/** Longer values are cut. */
const valueCharactersMax = 300;
const charactersBefore = 80;
/** Characters that are searched word by word per response; later values show their beginning. */
const readCharactersMax = 1_000_000;

/** The words and texts that an expression searches for. */
interface Sought {
  /** Sequences of words; the last word may be a prefix. */
  readonly runs: readonly (readonly string[])[];
  /** Substrings in lower case. */
  readonly texts: readonly string[];
}

/** Returns the value, cut around the first match if it is long. */
function createExcerpts(
  expression: Expression,
  words: Pick<SearchWords, "tokensOf">,
): (value: string) => string {
  const sought = soughtBy(expression);
  let left = readCharactersMax;

  function offsetIn(value: string): number {
    const lower = value.toLowerCase();
    const written = [...sought.texts, ...sought.runs.map((run) => run.join(" "))];
    const offsets = written.map((text) => lower.indexOf(text)).filter((offset) => offset >= 0);
    if (offsets.length > 0) return minOf(offsets);
    left -= value.length;
    return left < 0 ? 0 : offsetOfWords(value, sought.runs, words);
  }

  return (value) => {
    if (value.length <= valueCharactersMax) return value;
    const begin = Math.max(0, offsetIn(value) - charactersBefore);
    const end = begin + valueCharactersMax;
    const cut = value.slice(begin, end).toWellFormed();
    return `${begin > 0 ? "…" : ""}${cut}${end < value.length ? "…" : ""}`;
  };
}

/** Finds words despite accents, capitals and separators. */
function offsetOfWords(
  value: string,
  runs: Sought["runs"],
  { tokensOf }: Pick<SearchWords, "tokensOf">,
): number {
  const found: {
    readonly word: string;
    readonly joined: string | undefined;
    readonly at: number;
  }[] = [];
  for (const { 0: piece, index: at } of value.matchAll(/\S+/g)) {
    for (const { parts, joined } of tokensOf(piece)) {
      appendAll(
        found,
        parts.map((word, i) => ({ word, joined: i === 0 ? joined : undefined, at })),
      );
    }
  }
  const begins = (at: number): boolean =>
    runs.some((run) => {
      const [only = ""] = run;
      if (run.length === 1 && found[at]?.joined?.startsWith(only)) return true;
      return run.every((word, i) => {
        const own = found[at + i]?.word;
        return i === run.length - 1 ? own?.startsWith(word) : own === word;
      });
    });
  const first = found.findIndex((_, at) => begins(at));
  return found[first]?.at ?? 0;
}

function soughtBy(expression: Expression): Sought {
  switch (expression.kind) {
    case "word":
      return { runs: expression.any.map(({ word }) => [word]), texts: [] };
    case "phrase":
      return { runs: [expression.words], texts: [] };
    case "condition":
      return { runs: [], texts: textsOf(expression.condition) };
    case "and":
      return united(expression.all.map(soughtBy));
    case "or":
      return united(expression.any.map(soughtBy));
    case "prefer":
      return soughtBy(expression.base);
    default:
      return NOTHING;
  }
}

const NOTHING: Sought = { runs: [], texts: [] };

const united = (all: readonly Sought[]): Sought => ({
  runs: all.flatMap(({ runs }) => runs),
  texts: all.flatMap(({ texts }) => texts),
});

function textsOf(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case "like":
      return condition.texts;
    case "every":
      return condition.every.flatMap(textsOf);
    case "any":
      return condition.any.flatMap(textsOf);
    default:
      return [];
  }
}

/** Maximum number of matches of a hit, in total and per field. */
const matchesMax = 50;
const matchesOfFieldMax = 10;

interface HitDetails {
  readonly matchedFields: readonly MatchedField[];
  readonly explanation?: Explanation | undefined;
}

export const NO_MATCHES: HitDetails = { matchedFields: [] };

/**
 * Undefined if hits have no matches. `everything`: the query matches everything, so there are none.
 */
export function createMatches(
  { expression, everything }: { readonly expression: Expression; readonly everything: boolean },
  flags: SearchFlags,
  words: Pick<SearchWords, "tokensOf">,
): ((document: SearchDocument) => HitDetails) | undefined {
  const { skipHighlighting, customHighlightingFields: only = [], explain } = flags;
  if (explain !== true && (everything || skipHighlighting === true)) return undefined;
  const excerptOf = createExcerpts(expression, words);
  return (document) => {
    const evaluation = evaluate(expression, document);
    if (evaluation === undefined) return NO_MATCHES;
    const matches = evaluation.matches.map((match) => ({
      ...match,
      value: excerptOf(match.value),
    }));
    const shown = matches.filter(({ field }) => only.length === 0 || only.includes(field));
    return {
      matchedFields: everything || skipHighlighting === true ? [] : fieldsOf(shown),
      ...(explain === true && {
        explanation: { score: evaluation.score, matches: matches.slice(0, matchesMax) },
      }),
    };
  };
}

/** Each value once, in the order of the matches. */
function fieldsOf(matches: readonly Match[]): readonly MatchedField[] {
  const counts = new Map<string, number>();
  const byKey = new Map<string, MatchedField>();
  for (const { field, value } of matches) {
    const key = `${field}\n${value}`;
    const count = counts.get(field) ?? 0;
    if (byKey.has(key) || count >= matchesOfFieldMax || byKey.size >= matchesMax) continue;
    counts.set(field, count + 1);
    byKey.set(key, { name: field, value });
  }
  return [...byKey.values()];
}
