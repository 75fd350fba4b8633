/**
 * Work on a long list without keeping others from theirs: after every slice of it the event loop
 * gets a turn. What must be of one piece, deciding above all, is no work for this.
 */
import { setImmediate as turn } from "node:timers/promises";

/** Takes a millisecond or two of what a member of a request costs to check. */
export const sliceMax = 200;

/** What the work makes of each member, in their order. Ends at the first that throws. */
export async function inSlices<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R,
): Promise<R[]> {
  const made: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % sliceMax === 0) await turn();
    made.push(work(item, index));
  }
  return made;
}
