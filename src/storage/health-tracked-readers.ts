/**
 * Readers that record failures, so that a health check reports an unreadable view without reading
 * it. A failure is reported for half a minute even if other reads succeed: damage affects only some
 * pages of a file.
 */
import { CatalogError } from "../core/errors.ts";

interface HealthTrackedReaders<R> {
  readonly readers: R;
  /** The last recent failure of a read, by view. */
  errors(): Readonly<Record<string, string>>;
  /** Clears the failure of a view that was replaced. */
  clearError(view: string): void;
}

/** Milliseconds for which a failure is reported. */
export const reportedMsMax = 30_000;

/** `now`: epoch milliseconds. */
export function trackReaderHealth<R extends Readonly<Record<string, object>>>(
  readers: R,
  now: () => number,
): HealthTrackedReaders<R> {
  const failures = new Map<string, { readonly text: string; readonly time: number }>();

  function tracked(view: string, reader: object): object {
    const note = (error: unknown): void => {
      if (isDriverError(error)) failures.set(view, { text: error.text, time: now() });
    };
    return Object.fromEntries(
      Object.entries(reader).map(([name, member]) => [
        name,
        typeof member === "function" ? recordingErrors(member, note) : member,
      ]),
    );
  }

  return {
    readers: Object.fromEntries(
      Object.entries(readers).map(([view, reader]) => [view, tracked(view, reader)]),
    ) as R,
    clearError: (view) => void failures.delete(view),
    errors() {
      const recent = [...failures].filter(([, { time }]) => now() - time < reportedMsMax);
      return Object.fromEntries(recent.map(([view, { text }]) => [view, text]));
    },
  };
}

type Work = (...parameters: unknown[]) => unknown;

const recordingErrors =
  (work: Work, note: (error: unknown) => void): Work =>
  (...parameters) => {
    const result = work(...parameters);
    if (result instanceof Promise) result.catch(note);
    return result;
  };

/** An error of the driver; a closed view or an invalid query is no failure. */
const isDriverError = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.code === "unavailable" && error.cause !== undefined;
