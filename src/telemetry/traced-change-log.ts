/** A log whose appends are spans. Reads are part of the spans of their callers. */
import type { ChangeLog } from "../log/change-log.ts";
import type { Traces } from "./traces.ts";

export function traceChangeLog<Log extends ChangeLog>(log: Log, traces: Pick<Traces, "span">): Log {
  return {
    ...log,
    append(appends) {
      const records = appends.reduce((sum, append) => sum + append.records.length, 0);
      const attributes = { "annals.records": records, "annals.streams": appends.length };
      let appending: ReturnType<Log["append"]> | undefined;
      const span = traces.span("log.append", attributes, () => {
        appending = log.append(appends) as ReturnType<Log["append"]>;
        return appending;
      });
      // Returns the log's own promise: the log depends on when the caller gets the result.
      if (appending === undefined) return span;
      span.catch(() => {});
      return appending;
    },
  };
}
