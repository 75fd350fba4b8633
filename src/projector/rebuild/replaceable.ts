/**
 * A store that can be replaced while it is used. Pending calls finish on the old store, later calls go
 * to the new one; the old store is closed when its last call ends.
 */
import type { CatalogError } from "../../core/errors.ts";

interface Store {
  close(): Promise<void>;
}

export interface Replaceable<S> {
  /** Has the methods of the store that it was made with. */
  readonly store: S;
  /** Sends further calls to `next`; resolves when the pending ones are done. */
  replace(next: S): Promise<void>;
  /** Rejects all calls with this error; undefined ends that. */
  refuse(error: CatalogError | undefined): void;
  /** Repeats recent reads on another store, to warm its caches. */
  warm(next: S): Promise<void>;
}

interface Generation<S> {
  readonly store: S;
  /** Number of pending calls. */
  asked: number;
  /** Resolves when the store is retired and has no pending calls. */
  readonly idle: PromiseWithResolvers<void>;
  retired: boolean;
}

type Work = (...parameters: unknown[]) => unknown;

/** Number of recent reads to repeat. */
const LATELY_MAX = 16;

/** `remembered`: the method whose recent calls `warm` repeats. */
export function replaceable<S extends Store>(
  first: S,
  remembered?: keyof S & string,
): Replaceable<S> {
  let generation = generationOf(first);
  let refused: CatalogError | undefined;
  let closed = false;
  const lately: (readonly unknown[])[] = [];

  function done(of: Generation<S>): void {
    of.asked--;
    if (!of.retired || of.asked > 0) return;
    of.idle.resolve();
    void of.store.close().catch(() => {});
  }

  async function* all(of: Generation<S>, items: AsyncIterable<unknown>) {
    of.asked++;
    try {
      yield* items;
    } finally {
      done(of);
    }
  }

  function ask(name: string, parameters: unknown[]): unknown {
    if (refused !== undefined) return Promise.reject(refused);
    if (name === remembered && lately.push(parameters) > LATELY_MAX) lately.shift();
    const of = generation;
    const result = methodOf(of.store, name)(...parameters);
    if (result instanceof Promise) {
      of.asked++;
      const end = () => done(of);
      result.then(end, end);
    } else if (isIterable(result)) return all(of, result);
    return result;
  }

  const methods = Object.entries(first).map(([name, member]) => [
    name,
    typeof member === "function" ? (...parameters: unknown[]) => ask(name, parameters) : member,
  ]);
  return {
    store: {
      ...Object.fromEntries(methods),
      async close() {
        closed = true;
        await generation.store.close();
      },
    } as S,
    replace(next) {
      const before = generation;
      generation = generationOf(next);
      before.retired = true;
      before.asked++;
      done(before);
      if (closed) void next.close().catch(() => {});
      return before.idle.promise;
    },
    refuse(error) {
      refused = error;
    },
    async warm(next) {
      if (remembered === undefined) return;
      for (const parameters of [...lately]) {
        try {
          await methodOf(next, remembered)(...parameters);
        } catch {
          // The next call of a client reports the error.
        }
      }
    },
  };
}

const generationOf = <S>(store: S): Generation<S> => ({
  ...{ store, asked: 0, retired: false },
  idle: Promise.withResolvers<void>(),
});

const methodOf = (store: object, name: string): Work =>
  (store as Readonly<Record<string, Work>>)[name] as Work;

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;
