/**
 * The views' read sides, watched: a health check learns of a view that cannot be read without
 * reading it itself. A failure counts for half a minute, though other reads succeed meanwhile:
 * damage is in some pages of a file and not in others.
 */
import { CatalogError } from "../core/errors.ts";

export interface WatchedReaders<R> {
  readonly readers: R;
  /** The last failure of each view whose reads fail, by its name. */
  errors(): Readonly<Record<string, string>>;
  /** The view is another one now. */
  forget(view: string): void;
}

/** How long a failure counts, in milliseconds. */
export const troubleMsMax = 30_000;

/** `now`: epoch milliseconds. */
export function watchReaders<R extends Readonly<Record<string, object>>>(
  readers: R,
  now: () => number,
): WatchedReaders<R> {
  const failures = new Map<string, { readonly text: string; readonly time: number }>();

  function watched(view: string, reader: object): object {
    const note = (error: unknown): void => {
      if (isFaultOfFile(error)) failures.set(view, { text: error.text, time: now() });
    };
    return Object.fromEntries(
      Object.entries(reader).map(([name, member]) => [
        name,
        typeof member === "function" ? noting(member, note) : member,
      ]),
    );
  }

  return {
    readers: Object.fromEntries(
      Object.entries(readers).map(([view, reader]) => [view, watched(view, reader)]),
    ) as R,
    forget: (view) => void failures.delete(view),
    errors() {
      const recent = [...failures].filter(([, { time }]) => now() - time < troubleMsMax);
      return Object.fromEntries(recent.map(([view, { text }]) => [view, text]));
    },
  };
}

type Work = (...parameters: unknown[]) => unknown;

const noting =
  (work: Work, note: (error: unknown) => void): Work =>
  (...parameters) => {
    const result = work(...parameters);
    if (result instanceof Promise) result.catch(note);
    return result;
  };

/** What a driver failed of; a view that is closed or not asked rightly is well. */
const isFaultOfFile = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.code === "unavailable" && error.cause !== undefined;
