/** Sort keys of values: numbers and booleans by size, then texts in lower case. */
import type { FieldValue } from "./search.ts";

export type SortKey = number | string;

export const sortKey = (value: FieldValue): SortKey =>
  typeof value === "string" ? value.toLowerCase() : Number(value);

/** Texts by UTF-16 code unit. */
export function compareKeys(a: SortKey | undefined, b: SortKey | undefined): number {
  if (a === b || a === undefined || b === undefined) return 0;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : 1;
}
