/** Sliced scrolls: the first slice has all results, and every other slice is empty. */
import { CatalogError } from "../errors.ts";

export interface SliceOptions {
  /** From 0. */
  readonly id: number;
  /** Number of slices; unchecked when absent. */
  readonly max?: number | undefined;
}

/**
 * The slice is not the first, so it is empty. Throws `malformed` for a slice that does not exist.
 */
export function isLaterSlice(slice: SliceOptions | undefined): boolean {
  if (slice === undefined) return false;
  const { id, max } = slice;
  if (id >= 0 && id < (max ?? Number.POSITIVE_INFINITY)) return id > 0;
  throw new CatalogError("malformed", `the slice is ${id} of ${max ?? "no"} slices`, {
    hint: "Count slices from 0, each less than how many there are",
  });
}
