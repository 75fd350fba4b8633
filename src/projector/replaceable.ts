/**
 * A store that another one can take the place of while it is used. What was begun with the first is
 * finished with it, and what begins after that is asked of the other; the first is closed when all
 * of its work is done.
 */
import type { CatalogError } from "../core/errors.ts";

interface Store {
  close(): Promise<void>;
}

export interface Replaceable<S> {
  /** Has the methods of the store that it was made with. */
  readonly store: S;
  /** From now on `next` is asked; resolves when what was asked of the other is answered. */
  replace(next: S): Promise<void>;
  /** Every question is answered with this error until it is lifted, by undefined. */
  refuse(error: CatalogError | undefined): void;
  /** Asks another store what this one was asked lately, so that it has it at hand. */
  warm(next: S): Promise<void>;
}

interface Edition<S> {
  readonly store: S;
  /** Questions that are under way. */
  asked: number;
  /** Resolved when it is retired and all is answered. */
  readonly idle: PromiseWithResolvers<void>;
  retired: boolean;
}

type Work = (...parameters: unknown[]) => unknown;

/** Questions that are remembered. */
const LATELY_MAX = 16;

/** `remembered`: a method whose questions are worth asking beforehand. */
export function replaceable<S extends Store>(
  first: S,
  remembered?: keyof S & string,
): Replaceable<S> {
  let edition = editionOf(first);
  let refused: CatalogError | undefined;
  let closed = false;
  const lately: (readonly unknown[])[] = [];

  function done(of: Edition<S>): void {
    of.asked--;
    if (!of.retired || of.asked > 0) return;
    of.idle.resolve();
    void of.store.close().catch(() => {});
  }

  async function* all(of: Edition<S>, items: AsyncIterable<unknown>) {
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
    const of = edition;
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
        await edition.store.close();
      },
    } as S,
    replace(next) {
      const before = edition;
      edition = editionOf(next);
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
          // Whoever asks it again is told.
        }
      }
    },
  };
}

const editionOf = <S>(store: S): Edition<S> => ({
  ...{ store, asked: 0, retired: false },
  idle: Promise.withResolvers<void>(),
});

const methodOf = (store: object, name: string): Work =>
  (store as Readonly<Record<string, Work>>)[name] as Work;

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;
