/** Operations that record their calls and return constant responses. */
import { position } from "../../src/core/position.ts";
import type { Job, Operations, ServiceStatus } from "../../src/jobs/operations.ts";

export interface OperationCall {
  readonly method: keyof Operations;
  readonly args: readonly unknown[];
}

export const someJob: Job = {
  id: "node:7",
  kind: "truncate",
  state: "done",
  actor: "urn:li:corpuser:ada",
  request: { entityType: "dataset" },
  started: 1,
  ended: 2,
  runNanos: 1_000_000,
  counts: { total: 3, updated: 0, created: 0, deleted: 3, noops: 0, batches: 1 },
  perSecond: 0,
  error: undefined,
};

export const someStatus: ServiceStatus = {
  ok: true,
  version: "0.1.0",
  time: 1_772_409_600_000,
  uptimeSeconds: 86.2,
  log: { position: position(126), bytes: 479_232, recordsPerSecond: 12.5, records: 126 },
  views: {
    aspects: {
      ...{ position: position(120), lagRecords: 6, lagSeconds: 0.25, recordsPerSecond: 1_234 },
      ...{ records: 120, stalled: false, parked: 0, bytes: 1_064_960, generation: 2 },
    },
  },
  jobsRunning: 1,
  jobsEnded: [{ kind: "truncate", state: "done", count: 2 }],
};

export function createRecordingOperations(): Operations & { readonly calls: OperationCall[] } {
  const calls: OperationCall[] = [];
  const answering =
    <T>(method: keyof Operations, reply: T) =>
    async (...args: unknown[]): Promise<T> => {
      calls.push({ method, args });
      return reply;
    };
  return {
    calls,
    getTaskStatus: answering("getTaskStatus", '{"completed":true,"taskId":"node:7"}'),
    listJobs: answering("listJobs", { total: 1, jobs: [someJob] }),
    getJob: answering("getJob", someJob),
    cancelJob: answering("cancelJob", { job: someJob, position: position(9) }),
    truncateTimeseries: answering("truncateTimeseries", { text: "node:7" }),
    scavengeLog: answering("scavengeLog", { text: "node:7", position: position(8) }),
    restoreIndices: answering("restoreIndices", {
      ...{ text: "{args=…}", position: position(8) },
      ...{ id: "node:7", completed: true, batches: [] },
    }),
    rebuildViews: answering("rebuildViews", { text: "node:7", position: position(8) }),
    listParked: answering("listParked", { total: 0, entities: [] }),
    retryParked: answering("retryParked", undefined),
    dropParked: answering("dropParked", undefined),
    listAuditEvents: answering("listAuditEvents", {
      events: [],
      position: position(0),
      end: true,
    }),
    getStatus: answering("getStatus", someStatus),
    verifyViews: answering("verifyViews", { text: "node:9", position: position(8) }),
    listDifferences: answering("listDifferences", { total: 0, differences: [], views: [] }),
    stalledViews: () => [],
    getIndexSizes: answering("getIndexSizes", [
      { entityType: "dataJob", aspect: "datahubIngestionCheckpoint", bytes: 1_500 },
    ]),
  };
}
