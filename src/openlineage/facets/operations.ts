/** Events of the aspect `operation`. */
import type { ContributedEvent } from "../contribution.ts";
import type { EventContext } from "./facet-table.ts";

interface Operation {
  readonly operationType: string;
  readonly customOperationType?: string;
  readonly numAffectedRows?: number;
  readonly customProperties?: Readonly<Record<string, string>>;
}

/** One event for each run, time and type; a repeated event replaces it. */
export function operation(
  urn: string,
  { time, run, job }: EventContext,
  { customProperties, ...operation }: Operation,
): ContributedEvent {
  const cause = { ...(job && { job: job.urn }), ...(run && { runId: run.runId }) };
  const { operationType, customOperationType = "" } = operation;
  return {
    kind: "event",
    urn,
    aspect: "operation",
    value: {
      timestampMillis: time,
      lastUpdatedTimestamp: time,
      messageId: [run?.runId ?? "", operationType, customOperationType].join("/"),
      sourceType: job === undefined ? "DATA_PLATFORM" : "DATA_PROCESS",
      ...operation,
      customProperties: { ...cause, ...customProperties },
    },
  };
}
