/** Documents that are fetched to be looked at, where the index cannot tell for itself. */
import { CatalogError } from "../../core/errors.ts";
import type { SearchDocument } from "../search.ts";
import { decodeDocument } from "../stored-document.ts";
import { allOf, type Query } from "./clauses.ts";
import type { Indices, Response } from "./indices.ts";
import { fromUnitOrder } from "./stored-text.ts";

const CANDIDATES_MAX = 10_000;

/** Rejects `too_large` where there are too many. */
export async function fetchCandidates(
  query: Query,
  indices: Indices,
): Promise<readonly SearchDocument[]> {
  const response = await indices.search({
    query: allOf([query]),
    size: CANDIDATES_MAX,
    track_total_hits: CANDIDATES_MAX + 1,
  });
  if (totalOf(response) > CANDIDATES_MAX) {
    throw new CatalogError(
      "too_large",
      `more than ${CANDIDATES_MAX} documents have what the search's longest text begins with`,
      { hint: "Ask for a shorter text, or for one that is equal" },
    );
  }
  return response.hits.hits.flatMap(({ _source }) =>
    _source?.document === undefined || _source.urn === undefined
      ? []
      : [decodeDocument(fromUnitOrder(_source.urn), _source.document)],
  );
}

export function totalOf({ hits: { total } }: Response): number {
  return typeof total === "number" ? total : (total?.value ?? 0);
}
