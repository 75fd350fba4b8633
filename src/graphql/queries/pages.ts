/** Pages of lists that are read whole: tokens, policies, ingestion sources. */
import { CatalogError } from "../../core/errors.ts";
import type { Maybe } from "../maybe.ts";

/** The requested part of a list. */
export interface PageInput {
  readonly start?: Maybe<number>;
  readonly count?: Maybe<number>;
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
