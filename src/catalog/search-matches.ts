/** What a hit was found by, and how its score came to be: told from its document. */
import { evaluate, type Match } from "../search/evaluate.ts";
import type { Expression, SearchDocument } from "../search/search.ts";
import { createExcerpts } from "./excerpt.ts";
import type { SearchWords } from "./search-expression.ts";
import type { Explanation, MatchedField, SearchFlags } from "./search-requests.ts";

/** Most matches that a hit tells, in all and of one field. */
const matchesMax = 50;
const matchesOfFieldMax = 10;

interface Told {
  readonly matchedFields: readonly MatchedField[];
  readonly explanation?: Explanation | undefined;
}

const NOTHING: Told = { matchedFields: [] };

/** `everything`: nothing in particular was looked for, and so nothing was matched. */
export function createMatches(
  { expression, everything }: { readonly expression: Expression; readonly everything: boolean },
  flags: SearchFlags,
  words: Pick<SearchWords, "tokensOf">,
): (document: SearchDocument) => Told {
  const { skipHighlighting, customHighlightingFields: only = [], explain } = flags;
  if (explain !== true && (everything || skipHighlighting === true)) return () => NOTHING;
  const excerptOf = createExcerpts(expression, words);
  return (document) => {
    const evaluation = evaluate(expression, document);
    if (evaluation === undefined) return NOTHING;
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
  const told = new Map<string, MatchedField>();
  for (const { field, value } of matches) {
    const key = `${field}\n${value}`;
    const count = counts.get(field) ?? 0;
    if (told.has(key) || count >= matchesOfFieldMax || told.size >= matchesMax) continue;
    counts.set(field, count + 1);
    told.set(key, { name: field, value });
  }
  return [...told.values()];
}
