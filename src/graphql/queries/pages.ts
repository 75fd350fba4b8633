/** Pages, filters and order of lists that are scanned: tokens, policies, ingestion sources. */
import { CatalogError } from "../../core/errors.ts";
import { listed } from "../../lib/format.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Maybe } from "../maybe.ts";
import type { FacetFilter } from "./token-filter.ts";

/** The requested part of a list. */
export interface PageInput {
  readonly start?: Maybe<number>;
  readonly count?: Maybe<number>;
}

/** A page of a search. */
export interface SearchPageInput extends PageInput {
  readonly query?: Maybe<string>;
}

const countUsual = 20;
const countMax = 1_000;

/** `start` from 0, and the maximum `count`. Throws `malformed`. */
export function pageOf(input: PageInput): { readonly start: number; readonly count: number } {
  const start = input.start ?? 0;
  const count = input.count ?? countUsual;
  if (start >= 0 && count >= 0 && count <= countMax) return { start, count };
  throw new CatalogError("malformed", `start is ${start} and count is ${count}`, {
    hint: `Send 0 or more, and a count of at most ${countMax}`,
  });
}

/** The page of a list that is read as a whole. */
export function pageIn<Row>(all: readonly Row[], asked: PageInput, usual = countUsual) {
  const start = Math.max(0, asked.start ?? 0);
  const page = all.slice(start, start + Math.max(0, asked.count ?? usual));
  return { start, count: page.length, total: all.length, page };
}

export interface Sort {
  readonly field: string;
  readonly sortOrder: "ASCENDING" | "DESCENDING";
}

type Row = Readonly<Record<string, unknown>>;
type Compare = (found: string, value: string) => boolean;

const conditions: Readonly<Record<string, Compare>> = {
  EQUAL: (found, value) => found === value,
  IN: (found, value) => found === value,
  IEQUAL: (found, value) => found.toLowerCase() === value.toLowerCase(),
  CONTAIN: (found, value) => found.toLowerCase().includes(value.toLowerCase()),
  START_WITH: (found, value) => found.toLowerCase().startsWith(value.toLowerCase()),
};

/** The filter of a list that is scanned. Throws `malformed` for a field that is not in `fields`. */
export function rowTest(
  { field, values, value, condition, negated }: FacetFilter,
  fields: readonly string[],
): (row: Row) => boolean {
  const compare = ownValue(conditions, condition ?? "EQUAL");
  if (compare === undefined || !fields.includes(field)) {
    const asked = `${condition ?? "EQUAL"} of "${field.slice(0, 60)}"`;
    throw new CatalogError("malformed", `the list cannot be filtered by ${asked}`, {
      hint: `Filter ${listed(fields)} by ${listed(Object.keys(conditions))}`,
    });
  }
  const all = [...(values ?? []), ...(value ? [value] : [])];
  return (row) => all.some((one) => compare(String(row[field]), one)) !== (negated === true);
}

/** The order of a list that is scanned; absent: unchanged. Throws `malformed` as rowTest does. */
export function rowOrder(
  sort: Maybe<Sort>,
  fields: readonly string[],
): (one: Row, other: Row) => number {
  if (!sort) return () => 0;
  const { field, sortOrder } = sort;
  if (!fields.includes(field)) {
    throw new CatalogError("malformed", `the list cannot be sorted by "${field.slice(0, 60)}"`, {
      hint: `Sort by ${listed(fields)}`,
    });
  }
  const sign = sortOrder === "DESCENDING" ? -1 : 1;
  return (one, other) => {
    const [a, b] = [String(one[field]), String(other[field])];
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  };
}
