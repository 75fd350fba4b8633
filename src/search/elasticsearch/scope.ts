/** What a question is about, as a query; what the index cannot tell alone is looked up first. */
import { CatalogError } from "../../core/errors.ts";
import { evaluate } from "../evaluate.ts";
import type { Scope } from "../search.ts";
import { decodeDocument } from "../stored-document.ts";
import { allOf, checkSize, isNothing, nothing, type Query } from "./clauses.ts";
import { conditionQuery } from "./conditions.ts";
import {
  expressionQuery,
  type Level,
  type TextLeaf,
  type UncertainLeaf,
  uncertainLeaves,
} from "./expressions.ts";
import type { Kind } from "./fields.ts";
import type { Indices } from "./indices.ts";
import { simplified } from "./simplified.ts";
import { fromUnitOrder } from "./stored-text.ts";

/** Documents that are looked at for one leaf. */
const LOOKED_AT_MAX = 10_000;

/** Throws `too_large` for what no server takes. */
export async function scopeQuery(
  scope: Pick<Scope, "expression" | "condition">,
  kinds: readonly Kind[],
  indices: Indices,
): Promise<Query> {
  const expression = simplified(scope.expression);
  const lookedUp = new Map<TextLeaf, readonly Level[]>();
  for (const uncertain of uncertainLeaves(expression, kinds)) {
    lookedUp.set(uncertain.leaf, await lookUp(uncertain, indices));
  }
  const query = expressionQuery(expression, { kinds, lookedUp });
  const narrowed = scope.condition === undefined ? query : within(query, scope.condition);
  checkSize(narrowed);
  return narrowed;
}

function within(query: Query, condition: Parameters<typeof conditionQuery>[0]): Query {
  const filter = conditionQuery(condition);
  if (isNothing(query) || isNothing(filter)) return nothing;
  return { bool: { must: [query], filter: [filter] } };
}

async function lookUp(
  { uncertain, candidates }: UncertainLeaf,
  indices: Indices,
): Promise<readonly Level[]> {
  if (isNothing(candidates)) return [];
  checkSize(candidates);
  const { hits } = await indices.search({
    query: allOf([candidates]),
    size: LOOKED_AT_MAX,
    track_total_hits: LOOKED_AT_MAX + 1,
    _source: ["document", "urn"],
  });
  const total = typeof hits.total === "number" ? hits.total : (hits.total?.value ?? 0);
  if (total > LOOKED_AT_MAX) {
    throw new CatalogError(
      "too_large",
      `more than ${LOOKED_AT_MAX} documents have what the search's longest text begins with`,
      { hint: "Ask for a shorter text, or for one that is equal" },
    );
  }
  const found = hits.hits.flatMap(({ _source }) => {
    if (_source?.document === undefined || _source.urn === undefined) return [];
    const document = decodeDocument(fromUnitOrder(_source.urn), _source.document);
    const score = evaluate(uncertain, document)?.score;
    return score === undefined ? [] : [{ score, urn: document.urn }];
  });
  return Array.from(
    Map.groupBy(found, ({ score }) => score),
    ([score, some]) => ({ score, urns: some.map(({ urn }) => urn) }),
  );
}
