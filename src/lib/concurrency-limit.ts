/**
 * A concurrency limit for work that holds much memory: the rest waits, first come, first served.
 * Failed work frees its slot, too.
 */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit(atOnceMax: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  return async (work) => {
    // Finished work passes its slot to the next one waiting, so that newcomers cannot overtake.
    if (underWay >= atOnceMax) await new Promise<void>((begin) => waiting.push(begin));
    else underWay++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) underWay--;
      else next();
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
