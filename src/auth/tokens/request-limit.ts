/**
 * Limits the requests per second of each user, or of each address without a user. A token bucket that
 * holds two seconds of requests admits bursts.
 */
import { CatalogError } from "../../core/errors.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import type { RequestLimit } from "./authentication.ts";
import { networkOf } from "./failure-limit.ts";

const heldSeconds = 2;
/** A client with more names than this is not slowed down, because the oldest are evicted. */
const callersMax = 10_000;

/** Undefined for no limit. */
export function createRequestLimit(perSecond: number, now: () => number): RequestLimit | undefined {
  if (perSecond === 0) return undefined;
  const full = Math.max(1, perSecond * heldSeconds);
  const buckets = boundedCache<string, { left: number; at: number }>(callersMax);

  return {
    take({ actor, address }) {
      const key = actor ?? networkOf(address);
      const time = now();
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        bucket = { left: full, at: time };
        buckets.set(key, bucket);
      }
      const passed = Math.max(0, time - bucket.at);
      bucket.left = Math.min(full, bucket.left + (passed * perSecond) / 1_000);
      bucket.at = time;
      if (bucket.left >= 1) {
        bucket.left--;
        return;
      }
      const seconds = Math.max(1, Math.ceil((1 - bucket.left) / perSecond));
      throw new CatalogError("rate_limited", `more than ${perSecond} requests a second`, {
        hint: `Wait ${seconds} s, and send several proposals or urns in one request`,
        retryAfterSeconds: seconds,
        actor,
      });
    },
  };
}
