/** Matches of a hit and the explanation of its score, computed from its document. */
import { evaluate, type Match } from "../../views/search/evaluate.ts";
import type { Expression, SearchDocument } from "../../views/search/search.ts";
import type { SearchWords } from "./expression.ts";
import { createExcerpts } from "./highlight.ts";
import type { Explanation, MatchedField, SearchFlags } from "./requests.ts";

/** Maximum number of matches of a hit, in total and per field. */
const matchesMax = 50;
const matchesOfFieldMax = 10;

interface HitDetails {
  readonly matchedFields: readonly MatchedField[];
  readonly explanation?: Explanation | undefined;
}

const NOTHING: HitDetails = { matchedFields: [] };

/** `everything`: the query matches everything, so there are no matches. */
export function createMatches(
  { expression, everything }: { readonly expression: Expression; readonly everything: boolean },
  flags: SearchFlags,
  words: Pick<SearchWords, "tokensOf">,
): (document: SearchDocument) => HitDetails {
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
