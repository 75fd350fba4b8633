/**
 * Lazy stores: the first call opens the store; after a failure, the next call tries again. So the
 * service starts while a server is down, and uses the server when it is available again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../core/errors.ts";

interface Store {
  close(...outcome: never[]): Promise<void>;
}

/** `names`: the methods of the store; all of them return promises. `what`: for errors. */
export function openLazily<T extends Store>(
  what: string,
  open: () => Promise<T>,
  names: readonly (keyof T & string)[],
): T {
  let opening: Promise<T> | undefined;
  let closed = false;

  function opened(): Promise<T> {
    if (closed) return Promise.reject(new CatalogError("unavailable", `${what} is closed`));
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  const methods = names.map((name) => [
    name,
    async (...parameters: unknown[]) => {
      const store = await opened();
      const method = store[name] as ((...parameters: unknown[]) => unknown) | undefined;
      return method?.apply(store, parameters);
    },
  ]);
  return {
    ...Object.fromEntries(methods),
    async close(...outcome: never[]) {
      closed = true;
      // A call that is still opening the store cannot use it any more.
      const store = await opening?.catch(() => undefined);
      await store?.close(...outcome);
    },
  } as T;
}

/** Opens a store in the background, with retries until it succeeds or is closed. */
export function keepOpening<T extends Store>(parts: {
  readonly open: () => Promise<T>;
  readonly pauseMs: number;
  /** Called for each failure. */
  readonly onFailure: (error: unknown) => void;
}): { opened(): T | undefined; close(): Promise<void> } {
  const closing = new AbortController();
  let opened: T | undefined;
  async function attempt(): Promise<T | undefined> {
    while (!closing.signal.aborted) {
      try {
        opened = await parts.open();
        return opened;
      } catch (error) {
        parts.onFailure(error);
      }
      await delay(parts.pauseMs, undefined, { signal: closing.signal }).catch(() => {});
    }
    return undefined;
  }
  const opening = attempt();
  return {
    /** Undefined until it is open. */
    opened: () => opened,
    async close() {
      closing.abort();
      await (await opening)?.close();
    },
  };
}
