/** Makes reads of several queries consistent: all events from before a truncation, or from after it. */
import { CatalogError } from "../../core/errors.ts";

/** Maximum number of attempts while truncations change the events. */
const REREAD_MAX = 10;

/**
 * Runs `work`, and repeats it if `truncated` returns another value afterwards, unless `ofOnePoint`
 * says that the result is still consistent. Rejects with `unavailable` after several repetitions.
 */
export async function untruncated<T>(
  truncated: () => Promise<unknown>,
  work: () => Promise<T>,
  ofOnePoint: () => boolean = () => false,
): Promise<T> {
  for (let attempt = 0; attempt < REREAD_MAX; attempt++) {
    const before = await truncated();
    const result = await work();
    if (ofOnePoint() || (await truncated()) === before) return result;
  }
  throw new CatalogError("unavailable", "events were truncated each time they were read", {
    hint: "Try again",
  });
}
