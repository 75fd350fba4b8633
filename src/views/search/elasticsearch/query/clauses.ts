/**
 * Builds server queries from values: user input is never parsed as a query. Each query has a
 * constant score, independent of term statistics.
 */
import type { estypes } from "@elastic/elasticsearch";
import { CatalogError } from "../../../../core/errors.ts";
import { slicesOf } from "../../../../lib/lists.ts";
import type { FieldValue } from "../../search.ts";
import { head } from "../stored-text.ts";

export type QueryClause = estypes.QueryDslQueryContainer;

export const everything = (score: number): QueryClause => ({ match_all: { boost: score } });
export const nothing: QueryClause = { match_none: {} };
export const isNothing = (query: QueryClause): boolean => query.match_none !== undefined;

/** Values of one `terms` query; the default of index.max_terms_count is 65,536. */
const TERMS_MAX = 50_000;

/** Matches documents whose field has one of the values. */
export const terms = (
  field: string,
  values: readonly FieldValue[],
  score = 0,
): readonly QueryClause[] =>
  Array.from(slicesOf(values, TERMS_MAX), (some) => ({ terms: { [field]: some, boost: score } }));

/** Maximum size of a prefix or a range bound; servers reject longer ones. */
const TERM_BYTES_MAX = 900;

export const isTooLong = (stored: string): boolean =>
  stored.length * 4 > TERM_BYTES_MAX && Buffer.byteLength(stored) > TERM_BYTES_MAX;

/** Truncates a text to `TERM_BYTES_MAX`. */
export const truncatedTerm = (text: string): string =>
  isTooLong(text) ? head(text, TERM_BYTES_MAX / 4) : text;

export const prefix = (field: string, value: string, score = 0): QueryClause => ({
  prefix: { [field]: { value, boost: score } },
});

/** `*` and `?` are the wildcards of a pattern; `literal` escapes all other text. */
export const wildcard = (field: string, value: string): QueryClause => ({
  wildcard: { [field]: { value, boost: 0 } },
});

export const literal = (text: string): string => text.replace(/[*?\\]/g, "\\$&");

export const range = (
  field: string,
  bounds: Readonly<Partial<Record<"gt" | "gte" | "lt" | "lte", number | string>>>,
): QueryClause => ({ range: { [field]: { ...bounds, boost: 0 } } });

export const exists = (field: string): QueryClause => ({ exists: { field, boost: 0 } });

/** The score is the greatest of the matching clauses. */
export function maxScoreOf(queries: readonly QueryClause[]): QueryClause {
  const nonEmpty = queries.filter((query) => !isNothing(query));
  if (nonEmpty.length <= 1) return nonEmpty[0] ?? nothing;
  return { dis_max: { queries: nonEmpty, tie_breaker: 0 } };
}

/** Matches if at least one clause matches; the score is 0. */
export function anyOf(queries: readonly QueryClause[]): QueryClause {
  const nonEmpty = queries.filter((query) => !isNothing(query));
  if (nonEmpty.length <= 1) return nonEmpty[0] ?? nothing;
  return { bool: { should: nonEmpty, minimum_should_match: 1, boost: 0 } };
}

/** Matches if all clauses match; the score is 0. */
export function allOf(queries: readonly QueryClause[]): QueryClause {
  if (queries.some(isNothing)) return nothing;
  return queries.length === 1 && queries[0] !== undefined
    ? queries[0]
    : { bool: { filter: [...queries], boost: 0 } };
}

export const noneOf = (queries: readonly QueryClause[]): QueryClause => ({
  bool: { must_not: queries.filter((query) => !isNothing(query)), boost: 0 },
});

/** Below the lowest default of indices.query.bool.max_clause_count. */
const CLAUSES_MAX = 1_000;
/** The default nesting limit of servers, less the levels of the enclosing query. */
const DEPTH_MAX = 24;

/** Throws `too_large` for a query that a server would reject. */
export function checkSize(query: QueryClause): void {
  const { clauses, depth } = sizeOf(query);
  const hint = "Use fewer words or filters";
  if (clauses > CLAUSES_MAX) {
    const asked = `the search has ${clauses} conditions`;
    throw new CatalogError("too_large", `${asked}, of which there may be ${CLAUSES_MAX}`, { hint });
  }
  if (depth > DEPTH_MAX) {
    const asked = `the search has conditions in each other ${depth} deep`;
    throw new CatalogError("too_large", `${asked}, which may be ${DEPTH_MAX}`, { hint });
  }
}

interface QuerySize {
  readonly clauses: number;
  readonly depth: number;
}

function sizeOf(query: QueryClause): QuerySize {
  const { bool, dis_max, constant_score, match_phrase } = query;
  const nested: QueryClause[] = [
    ...[bool?.must, bool?.should, bool?.filter, bool?.must_not].flatMap((some) => some ?? []),
    ...(dis_max?.queries ?? []),
    ...(constant_score === undefined ? [] : [constant_score.filter]),
  ] as QueryClause[];
  if (match_phrase !== undefined) {
    const words = Object.values(match_phrase).map((one) =>
      typeof one === "string" ? one : (one?.query ?? ""),
    );
    return { clauses: words.join(" ").split(" ").length, depth: 1 };
  }
  const sizes = nested.map(sizeOf);
  return {
    clauses: sizes.reduce((sum, { clauses }) => sum + clauses, nested.length === 0 ? 1 : 0),
    depth: 1 + sizes.reduce((most, { depth }) => Math.max(most, depth), 0),
  };
}
