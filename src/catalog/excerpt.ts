/** What surrounds a match in a long value, so that whoever looks for something sees where it is. */
import type { Condition, Expression } from "../search/search.ts";
import type { SearchWords } from "./search-expression.ts";

/** A longer value is cut to what surrounds the match. */
const valueCharactersMax = 300;
const charactersBefore = 80;
/**
 * So many characters are looked through word by word for one answer; of further values the beginning is
 * shown.
 */
const readCharactersMax = 1_000_000;

/** What an expression looks for. */
interface Sought {
  /** Words one after the other; the last may be the beginning of one. */
  readonly runs: readonly (readonly string[])[];
  /** As values have them, in lower case. */
  readonly texts: readonly string[];
}

/** The value, or of a long one what surrounds the first of what the expression looks for. */
export function createExcerpts(
  expression: Expression,
  words: Pick<SearchWords, "tokensOf">,
): (value: string) => string {
  const sought = soughtBy(expression);
  let left = readCharactersMax;

  function placeIn(value: string): number {
    const lower = value.toLowerCase();
    const written = [...sought.texts, ...sought.runs.map((run) => run.join(" "))];
    const places = written.map((text) => lower.indexOf(text)).filter((place) => place >= 0);
    if (places.length > 0) return Math.min(...places);
    left -= value.length;
    return left < 0 ? 0 : placeOfWords(value, sought.runs, words);
  }

  return (value) => {
    if (value.length <= valueCharactersMax) return value;
    const begin = Math.max(0, placeIn(value) - charactersBefore);
    const end = begin + valueCharactersMax;
    const cut = value.slice(begin, end).toWellFormed();
    return `${begin > 0 ? "…" : ""}${cut}${end < value.length ? "…" : ""}`;
  };
}

/**
 * Where words are that are written otherwise than they are looked for: with accents, capitals, signs
 * between.
 */
function placeOfWords(
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
      found.push(...parts.map((word, i) => ({ word, joined: i === 0 ? joined : undefined, at })));
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
