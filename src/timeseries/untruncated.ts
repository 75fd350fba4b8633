/** Events that are read in several queries are all of before a truncation, or of after it. */
import { CatalogError } from "../core/errors.ts";

/** How often a truncation may come while the same events are read. */
const REREAD_MAX = 10;

/**
 * What `work` reads. It is read again where `truncated` tells something else afterwards, unless
 * `ofOneMoment` says that it is whole all the same. Rejects with `unavailable` when that does not end.
 */
export async function untruncated<T>(
  truncated: () => Promise<unknown>,
  work: () => Promise<T>,
  ofOneMoment: () => boolean = () => false,
): Promise<T> {
  for (let attempt = 0; attempt < REREAD_MAX; attempt++) {
    const before = await truncated();
    const result = await work();
    if (ofOneMoment() || (await truncated()) === before) return result;
  }
  throw new CatalogError("unavailable", "events were truncated each time they were read", {
    hint: "Try again",
  });
}
