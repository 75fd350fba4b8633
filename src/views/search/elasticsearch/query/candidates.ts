/** Fetches candidate documents for conditions that the index alone cannot evaluate. */
import { CatalogError } from "../../../../core/errors.ts";
import type { SearchDocument } from "../../search.ts";
import { decodeDocument } from "../../stored-document.ts";
import type { Indices, Response } from "../indices.ts";
import { fromUnitOrder } from "../stored-text.ts";
import { allOf, type QueryClause } from "./clauses.ts";

const CANDIDATES_MAX = 10_000;

/** Rejects with `too_large` for more than `CANDIDATES_MAX` documents. */
export async function fetchCandidates(
  query: QueryClause,
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
      `more than ${CANDIDATES_MAX} documents match the beginning of the longest text of the search`,
      { hint: "Search for a shorter text, or for an equal one" },
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
