/**
 * Limits failed attempts to sign in, per user and per address. An attempt counts before its password is
 * checked, so that parallel attempts cannot exceed the limit; a successful attempt is subtracted again.
 */
import type { LRUCache } from "lru-cache";
import { CatalogError } from "../../core/errors.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import { networkOf } from "../tokens/failure-limit.ts";

export interface AttemptLimit {
  /**
   * Counts an attempt. Returns a function that subtracts it again. Throws `rate_limited` beyond the limit,
   * whether the user exists or not.
   */
  take(attempt: { readonly user: string; readonly address: string }): () => void;
}

interface Window {
  count: number;
  readonly endsAt: number;
}

const windowMs = 10 * 60_000;
const perUserMax = 10;
/** Several users may share an address. */
const perAddressMax = 50;
/** Maximum number of users, and of addresses, that are counted; the least recently used are evicted. */
const windowsMax = 10_000;

export function createAttemptLimit(now: () => number): AttemptLimit {
  const users = boundedCache<string, Window>(windowsMax);
  const addresses = boundedCache<string, Window>(windowsMax);

  function windowOf(windows: LRUCache<string, Window>, key: string): Window {
    const found = windows.get(key);
    if (found !== undefined && found.endsAt > now()) return found;
    const window = { count: 0, endsAt: now() + windowMs };
    windows.set(key, window);
    return window;
  }

  return {
    take({ user, address }) {
      const ofUser = windowOf(users, user);
      const ofAddress = windowOf(addresses, networkOf(address));
      for (const [window, max] of [
        [ofUser, perUserMax],
        [ofAddress, perAddressMax],
      ] as const) {
        if (window.count < max) continue;
        const seconds = Math.max(1, Math.ceil((window.endsAt - now()) / 1_000));
        throw new CatalogError("rate_limited", "too many attempts to sign in have failed", {
          hint: `Try again in ${seconds} seconds`,
          retryAfterSeconds: seconds,
        });
      }
      ofUser.count++;
      ofAddress.count++;
      return () => {
        ofUser.count--;
        ofAddress.count--;
      };
    },
  };
}
