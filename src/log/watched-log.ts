/**
 * A log that remembers whether it takes appends: what a health check is told without writing
 * anything itself. A failure counts until an append succeeds, and for half a minute at most: who
 * sends no writes to a sick service would otherwise never learn that it is well again.
 */
import { CatalogError, saidBy } from "../core/errors.ts";
import { type ChangeLog, WrongRevision } from "./change-log.ts";

export interface WatchedLog extends ChangeLog {
  /** What the log says of itself, or why the last append failed; undefined while appends succeed. */
  trouble(): string | undefined;
}

/** How long a failure counts, in milliseconds. */
export const troubleMsMax = 30_000;

/** `now`: epoch milliseconds. */
export function watchLog(log: ChangeLog, now: () => number): WatchedLog {
  let failure: { readonly text: string; readonly time: number } | undefined;

  return {
    ...log,
    /** Returns the log's own promise: the log depends on when the caller gets the result (ChangeLog). */
    append(appends) {
      const appending = log.append(appends);
      appending.then(
        (appended) => {
          if (appended.length > 0) failure = undefined;
        },
        (error) => {
          if (!isCallersOwn(error)) failure = { text: saidBy(error), time: now() };
        },
      );
      return appending;
    },
    trouble() {
      const recent = failure !== undefined && now() - failure.time < troubleMsMax;
      return log.trouble?.() ?? (recent ? failure?.text : undefined);
    },
  };
}

/** A lost race, a tombstoned stream and a record that is too large are not failures of the log. */
const isCallersOwn = (error: unknown): boolean =>
  error instanceof WrongRevision ||
  (error instanceof CatalogError && (error.code === "too_large" || error.code === "gone"));
