/** Compares two views row by row. */
import { isDeepStrictEqual } from "node:util";
import type { Dump } from "./dumped-readers.ts";

export interface Difference<Row> {
  /** Rows that are equal before this one. */
  readonly index: number;
  /** Undefined if the view has no more rows. */
  readonly left: Row | undefined;
  readonly right: Row | undefined;
}

/** The first difference; undefined when the views are equal. */
export async function findDifference<Row>(
  left: Dump<Row>,
  right: Dump<Row>,
): Promise<Difference<Row> | undefined> {
  const others = right.dump()[Symbol.asyncIterator]();
  let index = 0;
  try {
    for await (const row of left.dump()) {
      const other = await others.next();
      if (other.done || !isDeepStrictEqual(row, other.value)) {
        return { index, left: row, right: other.done ? undefined : other.value };
      }
      index++;
    }
    const other = await others.next();
    return other.done ? undefined : { index, left: undefined, right: other.value };
  } finally {
    await others.return?.();
  }
}
