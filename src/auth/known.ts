/**
 * What is found out for a key. It is believed for a while, reckoned from when looking it up began, unless
 * somebody tells that it may have changed. Who asks while it is looked up waits for the same.
 */
import { LRUCache } from "lru-cache";

interface Known<T> {
  /** At once while it is known. Rejects with what finding it rejects with, and asks again then. */
  get(key: string): T | Promise<T>;
  /** All is found out again; what is on the way is not believed. */
  forget(): void;
}

interface Entry<T> {
  readonly finding: Promise<T>;
  readonly edition: number;
  /** Of what was found here, or before. */
  readonly found: { readonly value: T } | undefined;
  /** Undefined while it is on the way. */
  readonly until: number | undefined;
}

interface Options<T> {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** How long it is believed, in milliseconds; or twice as long as finding it takes. */
  readonly believedMs: number;
  /** Of all together; what was asked for longest ago goes first. */
  readonly sizeMax: number;
  /** 1 each when absent. */
  readonly sizeOf?: ((found: T) => number) | undefined;
}

/** `before`: what was found for the key last, also if that was forgotten. */
export function createKnown<T>(
  find: (key: string, before: T | undefined) => Promise<T>,
  { now, believedMs, sizeMax, sizeOf = () => 1 }: Options<T>,
): Known<T> {
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: sizeMax,
    sizeCalculation: ({ found }) => (found === undefined ? 1 : Math.max(1, sizeOf(found.value))),
  });
  let edition = 0;

  function begin(key: string, before: Entry<T> | undefined): Promise<T> {
    const begun = now();
    const finding = find(key, before?.found?.value);
    const entry: Entry<T> = { finding, edition, found: before?.found, until: undefined };
    entries.set(key, entry);
    finding.then(
      (value) => {
        if (entries.peek(key) !== entry) return;
        const until = begun + Math.max(believedMs, 2 * (now() - begun));
        entries.set(key, { ...entry, found: { value }, until });
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
      if (entry === undefined || entry.edition !== edition) return begin(key, entry);
      if (entry.until === undefined) return entry.finding;
      if (entry.until <= now() || entry.found === undefined) return begin(key, entry);
      return entry.found.value;
    },
    forget() {
      edition++;
    },
  };
}
