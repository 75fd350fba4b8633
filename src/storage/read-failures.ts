/**
 * Recent failures of reads, by view, so that a health check reports an unreadable view without
 * reading it. A failure is reported for half a minute even if other reads succeed: damage affects
 * only some pages of a file.
 */
import { CatalogError } from "../core/errors.ts";

/** Milliseconds for which a failure is reported. */
export const reportedMsMax = 30_000;

/** `now`: epoch milliseconds. */
export function createReadFailures(now: () => number) {
  const failures = new Map<string, { readonly text: string; readonly time: number }>();
  return {
    note(view: string, error: unknown): void {
      if (isDriverError(error)) failures.set(view, { text: error.text, time: now() });
    },
    clear: (view: string): void => void failures.delete(view),
    /** The last failure of each view. */
    recent(): Readonly<Record<string, string>> {
      const recent = [...failures].filter(([, { time }]) => now() - time < reportedMsMax);
      return Object.fromEntries(recent.map(([view, { text }]) => [view, text]));
    },
  };
}

/** An error of the driver; a closed view or an invalid query is no failure. */
const isDriverError = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.code === "unavailable" && error.cause !== undefined;
