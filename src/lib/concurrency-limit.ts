/**
 * A concurrency limit for work that holds much memory: the rest waits, first come, first served.
 * Failed work frees its slot, too. `weight` is the number of slots that work takes, 1 when absent;
 * heavier work than the limit allows runs alone.
 */
import { collectGarbageSoon, GARBAGE_BYTES } from "./collect-garbage.ts";

export type ConcurrencyLimit = <T>(work: () => Promise<T>, weight?: number) => Promise<T>;

export function createConcurrencyLimit(atOnceMax: number): ConcurrencyLimit {
  const waiting: { readonly weight: number; readonly begin: () => void }[] = [];
  let underWay = 0;

  function admit(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (underWay > 0 && underWay + next.weight > atOnceMax) return;
      waiting.shift();
      underWay += next.weight;
      next.begin();
    }
  }

  return async (work, weight = 1) => {
    await new Promise<void>((begin) => {
      waiting.push({ weight, begin });
      admit();
    });
    try {
      return await work();
    } finally {
      underWay -= weight;
      admit();
    }
  };
}

/** One slot, which is acquired at most once and held until `release`. */
export function slotOf(withSlot: ConcurrencyLimit): { acquire(): Promise<void>; release(): void } {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let acquired: Promise<void> | undefined;
  return {
    acquire() {
      acquired ??= new Promise((begin) => {
        void withSlot(() => {
          begin();
          return released;
        });
      });
      return acquired;
    },
    release,
  };
}

/** Work that holds more bytes of values waits for a slot: parsed, they take several times as much. */
export const smallBytesMax = 1024 * 1024;

/** Resolves when there is a slot for work that holds so many bytes of values. */
export type AcquireSlot = (bytes: number) => Promise<void>;

/**
 * Milliseconds before work with much memory begins. Node.js accepts one connection in each iteration of
 * the event loop: without this time, new requests would wait for one large request each.
 */
const PAUSE_MS = 5;

/** A slot for work that holds much memory. Garbage that it may leave is collected after `release`. */
export function memorySlotOf(withSlot: ConcurrencyLimit): {
  acquire: AcquireSlot;
  release(): void;
} {
  const slot = slotOf(withSlot);
  let held = 0;
  let acquired: Promise<void> | undefined;
  return {
    acquire(bytes) {
      held = bytes;
      acquired ??= slot.acquire().then(() => new Promise((begin) => setTimeout(begin, PAUSE_MS)));
      return acquired;
    },
    release() {
      slot.release();
      if (held > GARBAGE_BYTES) collectGarbageSoon();
    },
  };
}
