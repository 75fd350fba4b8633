/**
 * A store that can be swapped during use. Pending calls finish on the old store, later calls go to
 * the new one. The old store is closed after its last call.
 */
import type { CatalogError } from "../../core/errors.ts";

interface Store {
  close(): Promise<void>;
}

interface SwappableStore<S> {
  /** A proxy with the methods of the first store; forwards calls to the current one. */
  readonly store: S;
  /** Sends further calls to `next`; resolves when the pending ones are done. */
  swap(next: S): Promise<void>;
  /** Rejects all calls with this error; undefined ends the rejection. */
  rejectReads(error: CatalogError | undefined): void;
  /** Repeats recent reads on another store, to warm its caches. */
  warm(next: S): Promise<void>;
}

interface Generation<S> {
  readonly store: S;
  /** Number of pending calls. */
  pending: number;
  /** Resolves when the store is retired and has no pending calls. */
  readonly idle: PromiseWithResolvers<void>;
  retired: boolean;
}

type Work = (...parameters: unknown[]) => unknown;

/** Number of recent reads to repeat. */
const RECENT_READS_MAX = 16;

/** `repeatedMethod`: the method whose recent calls `warm` repeats. */
export function createSwappableStore<S extends Store>(
  first: S,
  {
    repeatedMethod,
    onError,
  }: {
    readonly repeatedMethod?: (keyof S & string) | undefined;
    /** Called with each error of a store. */
    readonly onError?: (error: unknown) => void;
  } = {},
): SwappableStore<S> {
  let generation = generationOf(first);
  let rejection: CatalogError | undefined;
  let closed = false;
  const recentReads: (readonly unknown[])[] = [];

  function onDone(of: Generation<S>): void {
    of.pending--;
    if (!of.retired || of.pending > 0) return;
    of.idle.resolve();
    void of.store.close().catch(() => {});
  }

  function call(name: string, parameters: unknown[]): unknown {
    if (rejection !== undefined) return Promise.reject(rejection);
    if (name === repeatedMethod && recentReads.push(parameters) > RECENT_READS_MAX)
      recentReads.shift();
    const of = generation;
    const result = methodOf(of.store, name)(...parameters);
    if (result instanceof Promise) {
      of.pending++;
      result.then(
        () => onDone(of),
        (error: unknown) => {
          onError?.(error);
          onDone(of);
        },
      );
    }
    return result;
  }

  const methods = Object.entries(first).map(([name, member]) => [
    name,
    typeof member === "function" ? (...parameters: unknown[]) => call(name, parameters) : member,
  ]);
  return {
    store: {
      ...Object.fromEntries(methods),
      async close() {
        closed = true;
        await generation.store.close();
      },
    } as S,
    swap(next) {
      const before = generation;
      generation = generationOf(next);
      before.retired = true;
      before.pending++;
      onDone(before);
      if (closed) void next.close().catch(() => {});
      return before.idle.promise;
    },
    rejectReads(error) {
      rejection = error;
    },
    async warm(next) {
      if (repeatedMethod === undefined) return;
      for (const parameters of [...recentReads]) {
        try {
          await methodOf(next, repeatedMethod)(...parameters);
        } catch {
          // The next call of a client reports the error.
        }
      }
    },
  };
}

const generationOf = <S>(store: S): Generation<S> => ({
  ...{ store, pending: 0, retired: false },
  idle: Promise.withResolvers<void>(),
});

const methodOf = (store: object, name: string): Work =>
  (store as Readonly<Record<string, Work>>)[name] as Work;
