/** A seeded generator of random choices: the same seed gives the same run. */

export interface Chance {
  /** A whole number from 0 up to, but not including, `below`. */
  int(below: number): number;
  pick<T>(all: readonly T[]): T;
  /** True in `part` of all calls. */
  yes(part: number): boolean;
  list<T>(most: number, make: () => T): readonly T[];
}

/** Mulberry32: small and good enough to choose inputs. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    pick: <T>(all: readonly T[]): T => {
      const found = all[int(all.length)];
      if (found === undefined) throw new Error("there is nothing to choose from");
      return found;
    },
    yes: (part) => next() < part,
    list: (most, make) => Array.from({ length: int(most + 1) }, make),
  };
}
