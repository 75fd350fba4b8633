/**
 * A promise cache: one lookup per key at a time, kept for a fixed TTL that starts with the lookup.
 * `invalidate` drops all entries early.
 */
import { LRUCache } from "lru-cache";

interface TtlCache<T> {
  /** Synchronous while cached. Rejects like the lookup; the next call looks up again. */
  get(key: string): T | Promise<T>;
  /** Invalidates all entries; lookups in flight are not cached. */
  invalidate(): void;
}

interface Entry<T> {
  readonly finding: Promise<T>;
  readonly version: number;
  /** The last value of this entry or an earlier one. */
  readonly last: { readonly value: T } | undefined;
  /** Undefined while the lookup runs. */
  readonly until: number | undefined;
}

interface Options<T> {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** TTL in milliseconds; at least twice the duration of the lookup. */
  readonly ttlMs: number;
  /** Maximum total size; evicts the least recently used entries. */
  readonly sizeMax: number;
  /** Size of an entry; 1 when absent. */
  readonly sizeOf?: ((found: T) => number) | undefined;
}

/** `before`: the previous value of the key, also after `invalidate`. */
export function createTtlCache<T>(
  find: (key: string, before: T | undefined) => Promise<T>,
  { now, ttlMs, sizeMax, sizeOf = () => 1 }: Options<T>,
): TtlCache<T> {
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: sizeMax,
    sizeCalculation: ({ last }) => (last === undefined ? 1 : Math.max(1, sizeOf(last.value))),
  });
  let version = 0;

  function begin(key: string, before: Entry<T> | undefined): Promise<T> {
    const begun = now();
    const finding = find(key, before?.last?.value);
    const entry: Entry<T> = { finding, version, last: before?.last, until: undefined };
    entries.set(key, entry);
    finding.then(
      (value) => {
        if (entries.peek(key) !== entry) return;
        const until = begun + Math.max(ttlMs, 2 * (now() - begun));
        entries.set(key, { ...entry, last: { value }, until });
      },
      () => {
        if (entries.peek(key) === entry) entries.delete(key);
      },
    );
    return finding;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined || entry.version !== version) return begin(key, entry);
      if (entry.until === undefined) return entry.finding;
      if (entry.until <= now() || entry.last === undefined) return begin(key, entry);
      return entry.last.value;
    },
    invalidate() {
      version++;
    },
  };
}
