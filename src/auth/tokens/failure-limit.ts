/**
 * Limits failed authentications per address, in windows of fixed length. Beyond the limit requests are
 * rejected without verifying a signature until the window ends.
 */
import { isIPv6 } from "node:net";
import { CatalogError } from "../../core/errors.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";

export interface FailureLimit {
  /** Throws `rate_limited` for an address with too many failures. */
  check(address: string): void;
  count(address: string): void;
}

const failuresMax = 30;
const windowMs = 60_000;
/** A client with more addresses than this is not slowed down, because the oldest are evicted. */
const addressesMax = 10_000;

export function createFailureLimit(now: () => number): FailureLimit {
  const windows = boundedCache<string, { count: number; readonly endsAt: number }>(addressesMax);
  const windowOf = (address: string) => {
    const window = windows.get(networkOf(address));
    return window !== undefined && window.endsAt > now() ? window : undefined;
  };

  return {
    check(address) {
      const window = windowOf(address);
      if (window === undefined || window.count < failuresMax) return;
      const seconds = Math.max(1, Math.ceil((window.endsAt - now()) / 1000));
      throw new CatalogError("rate_limited", "too many tokens from this address were refused", {
        hint: `Try again in ${seconds} seconds`,
        retryAfterSeconds: seconds,
      });
    },

    count(address) {
      const window = windowOf(address);
      if (window === undefined)
        windows.set(networkOf(address), { count: 1, endsAt: now() + windowMs });
      else window.count++;
    },
  };
}

/** An IPv6 host can choose its address within a /64. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes(".")) return address;
  const [head = "", tail = ""] = address.split("::");
  const heads = head.split(":").filter((group) => group !== "");
  const tails = tail.split(":").filter((group) => group !== "");
  const groups = [...heads, ...Array<string>(8 - heads.length - tails.length).fill("0"), ...tails];
  return groups.slice(0, 4).join(":");
}
