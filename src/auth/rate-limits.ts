/**
 * Limits on requests, failed tokens and attempts to sign in. Each limit counts for at most 10,000 users
 * or addresses, and the one used longest ago is evicted: a client that changes between more of them is
 * not limited. Rejections are `rate_limited`, with the seconds to wait.
 */
import { isIPv6 } from "node:net";
import { CatalogError } from "../core/errors.ts";
import { boundedCache } from "../lib/bounded-cache.ts";

const keysMax = 10_000;

/** A count per key in windows of fixed length, which begin with the first event. */
function createWindows(windowMs: number, now: () => number) {
  const windows = boundedCache<string, { count: number; readonly endsAt: number }>(keysMax);
  const find = (key: string) => {
    const window = windows.get(key);
    return window !== undefined && window.endsAt > now() ? window : undefined;
  };
  return {
    find,
    findOrBegin(key: string) {
      const found = find(key);
      if (found !== undefined) return found;
      const window = { count: 0, endsAt: now() + windowMs };
      windows.set(key, window);
      return window;
    },
  };
}

function rateLimited(text: string, waitMs: number): CatalogError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const hint = `Try again in ${seconds} seconds`;
  return new CatalogError("rate_limited", text, { hint, retryAfterSeconds: seconds });
}

/** Failed authentications per address. Once it is exceeded, tokens are rejected unverified. */
export interface FailureLimit {
  /** Throws `rate_limited` for an address with too many failures. */
  check(address: string): void;
  count(address: string): void;
}

const failuresMax = 30;
const failureWindowMs = 60_000;

export function createFailureLimit(now: () => number): FailureLimit {
  const windows = createWindows(failureWindowMs, now);
  return {
    check(address) {
      const window = windows.find(networkOf(address));
      if (window === undefined || window.count < failuresMax) return;
      throw rateLimited("too many tokens from this address were rejected", window.endsAt - now());
    },
    count(address) {
      windows.findOrBegin(networkOf(address)).count++;
    },
  };
}

/**
 * Failed attempts to sign in, per user and per address. An attempt counts before its password is checked,
 * so that parallel attempts cannot exceed the limit; a successful attempt is subtracted again.
 */
export interface AttemptLimit {
  /**
   * Counts an attempt. Returns a function that subtracts it again. Throws `rate_limited` beyond the limit,
   * whether the user exists or not.
   */
  take(attempt: { readonly user: string; readonly address: string }): () => void;
}

const attemptWindowMs = 10 * 60_000;
const perUserMax = 10;
/** Several users may share an address. */
const perAddressMax = 50;

export function createAttemptLimit(now: () => number): AttemptLimit {
  const users = createWindows(attemptWindowMs, now);
  const addresses = createWindows(attemptWindowMs, now);
  return {
    take({ user, address }) {
      const ofUser = users.findOrBegin(user);
      const ofAddress = addresses.findOrBegin(networkOf(address));
      for (const [window, max] of [
        [ofUser, perUserMax],
        [ofAddress, perAddressMax],
      ] as const) {
        if (window.count < max) continue;
        throw rateLimited("too many attempts to sign in have failed", window.endsAt - now());
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

/** Requests per second of each user, or of each address without a user. */
export interface RequestLimit {
  /** Counts a request. Throws `rate_limited` for one too many. */
  take(caller: { readonly actor: string | undefined; readonly address: string }): void;
}

/** A token bucket holds this many seconds of requests, which admits bursts. */
const heldSeconds = 2;

/** Undefined for no limit. */
export function createRequestLimit(perSecond: number, now: () => number): RequestLimit | undefined {
  if (perSecond === 0) return undefined;
  const full = Math.max(1, perSecond * heldSeconds);
  const buckets = boundedCache<string, { left: number; at: number }>(keysMax);

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

/** The address for limits per client. An IPv6 host can choose its address within a /64. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes(".")) return address;
  const [head = "", tail = ""] = address.split("::");
  const heads = head.split(":").filter((group) => group !== "");
  const tails = tail.split(":").filter((group) => group !== "");
  const groups = [...heads, ...Array<string>(8 - heads.length - tails.length).fill("0"), ...tails];
  return groups.slice(0, 4).join(":");
}
