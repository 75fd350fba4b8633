/** Translates a search into a query; evaluates parts that the index alone cannot decide first. */
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
  const lookedUp = new Map<TextLeaf, readonly ScoreLevel[]>();
  for (const uncertain of uncertainLeaves(expression, kinds)) {
    lookedUp.set(uncertain.leaf, await lookUp(uncertain, indices));
  }
  const query = expressionQuery(expression, { kinds, lookedUp });
  const narrowed = scope.condition === undefined ? query : within(query, scope.condition);
  checkSize(narrowed);
  return narrowed;
}

function within(query: QueryClause, condition: Parameters<typeof conditionQuery>[0]): QueryClause {
  const filter = conditionQuery(condition);
  if (isNothing(query) || isNothing(filter)) return nothing;
  return { bool: { must: [query], filter: [filter] } };
}

async function lookUp(
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
    ([score, some]) => ({ score, urns: some.map(({ urn }) => urn) }),
  );
}
