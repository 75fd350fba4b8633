/**
 * Wraps a log and records whether appends succeed, so that health checks need no writes of their own.
 * A failure counts until an append succeeds, and for at most half a minute. Otherwise a service that a
 * load balancer sends no writes to would stay unhealthy.
 */
import { CatalogError, messageOf } from "../core/errors.ts";
import { type ChangeLog, WrongRevision } from "./change-log.ts";

export interface WatchedLog extends ChangeLog {
  /** The log's own trouble, or why the last append failed; undefined while appends succeed. */
  trouble(): string | undefined;
}

/** Maximum time that a failure counts, in milliseconds. */
export const troubleMsMax = 30_000;

/** `now`: epoch milliseconds. */
export function watchLog(log: ChangeLog, now: () => number): WatchedLog {
  let failure: { readonly text: string; readonly time: number } | undefined;

  return {
    ...log,
    /** Returns the log's own promise, because the log depends on when the caller gets the result. */
    append(appends) {
      const appending = log.append(appends);
      appending.then(
        (appended) => {
          if (appended.length > 0) failure = undefined;
        },
        (error) => {
          if (!isCallersOwn(error)) failure = { text: messageOf(error), time: now() };
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
