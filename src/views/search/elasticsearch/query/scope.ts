/** Translates a search into a query, after evaluating the leaves that the index cannot decide. */
import { evaluate } from "../../evaluate.ts";
import type { Scope } from "../../search.ts";
import type { TextFieldKind } from "../fields.ts";
import type { Indices } from "../indices.ts";
import { fetchCandidates } from "./candidates.ts";
import { checkSize, isNothing, nothing, type QueryClause } from "./clauses.ts";
import { conditionQuery } from "./conditions.ts";
import {
  expressionQuery,
  type ScoreLevel,
  type TextLeaf,
  type UncertainLeaf,
  uncertainLeaves,
} from "./expressions.ts";
import { simplifiedExpression } from "./simplified-expression.ts";

/** Throws `too_large` for a query that servers reject. */
export async function scopeQuery(
  scope: Pick<Scope, "expression" | "condition">,
  kinds: readonly TextFieldKind[],
  indices: Indices,
): Promise<QueryClause> {
  const expression = simplifiedExpression(scope.expression);
  const evaluatedLeaves = new Map<TextLeaf, readonly ScoreLevel[]>();
  for (const uncertain of uncertainLeaves(expression, kinds)) {
    evaluatedLeaves.set(uncertain.leaf, await evaluateCandidates(uncertain, indices));
  }
  const query = expressionQuery(expression, { kinds, evaluatedLeaves });
  const filtered = scope.condition === undefined ? query : withFilter(query, scope.condition);
  checkSize(filtered);
  return filtered;
}

function withFilter(
  query: QueryClause,
  condition: Parameters<typeof conditionQuery>[0],
): QueryClause {
  const filter = conditionQuery(condition);
  if (isNothing(query) || isNothing(filter)) return nothing;
  return { bool: { must: [query], filter: [filter] } };
}

async function evaluateCandidates(
  { uncertain, candidates }: UncertainLeaf,
  indices: Indices,
): Promise<readonly ScoreLevel[]> {
  if (isNothing(candidates)) return [];
  checkSize(candidates);
  const found = (await fetchCandidates(candidates, indices)).flatMap((document) => {
    const score = evaluate(uncertain, document)?.score;
    return score === undefined ? [] : [{ score, urn: document.urn }];
  });
  return Array.from(
    Map.groupBy(found, ({ score }) => score),
    ([score, scored]) => ({ score, urns: scored.map(({ urn }) => urn) }),
  );
}
