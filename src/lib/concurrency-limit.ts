/**
 * A concurrency limit for work that holds much memory: the rest waits, first come, first served.
 * Failed work frees its slot, too. `weight` is the number of slots that work takes, 1 when absent;
 * heavier work than the limit allows runs alone.
 */
import { collectGarbage, GARBAGE_BYTES } from "./collect-garbage.ts";

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

/** One place in the turn, which is taken at most once and kept until `end`. */
export function turnOf(inTurn: ConcurrencyLimit): { take(): Promise<void>; end(): void } {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let taken: Promise<void> | undefined;
  return {
    take() {
      taken ??= new Promise((begin) => {
        void inTurn(() => {
          begin();
          return ended;
        });
      });
      return taken;
    },
    end,
  };
}

/** Work that holds more bytes of values waits for its turn: parsed, they take several times as much. */
export const smallBytesMax = 1024 * 1024;

/** Resolves when it is the turn of work that holds so many bytes of values. */
export type TakeTurn = (bytes: number) => Promise<void>;

/** The same for work that may leave much garbage, which its end collects. */
export function memoryTurnOf(inTurn: ConcurrencyLimit): { take: TakeTurn; end(): void } {
  const turn = turnOf(inTurn);
  let held = 0;
  return {
    take(bytes) {
      held = bytes;
      return turn.take();
    },
    end() {
      turn.end();
      if (held > GARBAGE_BYTES) collectGarbage("regular");
    },
  };
}
