/** Creates the operations on a log, its views and its projector. */
import type { AuditEntry, AuditTrail } from "../auth/audit.ts";
import type { Change } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import type { UrnLimits } from "../core/urn.ts";
import { orAborted } from "../lib/or-aborted.ts";
import { promptHead } from "../log/cached-head.ts";
import { type ChangeLog, recordsBetween } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import type { Projection } from "../projector/sink.ts";
import type { Progress, Restoration } from "../projector/thread/progress.ts";
import type { TimeseriesReader, TimeseriesWrite } from "../views/timeseries/timeseries-table.ts";
import { watchOutdated } from "./auto-rebuild.ts";
import {
  dispatchedRebuild,
  dispatchedRestore,
  runDispatchedWork,
} from "./cluster/dispatched-work.ts";
import { openJobQueue } from "./cluster/job-queue.ts";
import { nodeId } from "./cluster/node-id.ts";
import { type Job, type Jobs, type JobsParts, type JobWork, openJobs, unknownJob } from "./jobs.ts";
import type { Operations } from "./operations.ts";
import { createParkedOperations } from "./parked.ts";
import { createRebuilds, type RebuildParts } from "./rebuild.ts";
import { createRestoring } from "./restore/restore.ts";
import { createScavenges } from "./scavenge.ts";
import { createReadiness } from "./status/readiness.ts";
import { findStuckViews } from "./status/stalled-views.ts";
import { createStatus, type JobsEnded, type StatusParts } from "./status/status.ts";
import { createThroughput, type PositionSample } from "./status/throughput.ts";
import { storeTaskStatus, taskIdOf, taskStatus, unknownTask } from "./task-status.ts";
import { createTruncation } from "./truncate.ts";
import { createVerifications, type VerifyParts } from "./verify.ts";

export interface OperationsParts {
  readonly model: Model;
  readonly log: ChangeLog;
  readonly encode: (change: Change) => Uint8Array;
  readonly timeseries: TimeseriesReader;
  readonly projectTimeseries: Projection<TimeseriesWrite>;
  readonly projector: Progress &
    Restoration & {
      stale(): readonly string[];
      damaged(): readonly string[];
      projected(): readonly string[];
      emptied(): Readonly<Record<string, number>>;
    };
  readonly audit: Pick<AuditTrail, "list" | "record">;
  readonly status: Pick<StatusParts, "version" | "health" | "figures">;
  readonly rebuilds: RebuildParts & {
    /** Rebuild views of another model automatically. */
    readonly ofAnotherModel: boolean;
    /** Called when a view is found to be of another model, and after its rebuild. */
    readonly onStale: (view: string, stale: boolean) => void;
  };
  /** In a cluster; absent: the projector of this process applies all views. */
  readonly handing?:
    | {
        /** True for a view in a server. */
        readonly isShared: (view: string) => boolean;
        /** True when this process runs a projector for such views. */
        readonly leads: boolean;
      }
    | undefined;
  readonly verifying: Omit<
    VerifyParts,
    | "restoration"
    | "rebuild"
    | "checkIndexes"
    | "findStuckViews"
    | "logger"
    | "namespace"
    | "urnLimits"
  >;
  /** Writes missing default aspects of the entities; returns their number. */
  readonly writeDefaults: (urns: readonly string[]) => Promise<number>;
  /** Restores removed edges that the entities' aspects state; returns the number of aspects. */
  readonly restoreEdges: (aspects: ReadonlyMap<string, ReadonlySet<string>>) => Promise<number>;
  readonly aroundJob?: JobsParts["around"];
  /** The data directory, which holds the node's id. */
  readonly data: string;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  /** Milliseconds that an operation waits for a view. */
  readonly waitMsMax: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

const TIMESERIES = "timeseries";
/**
 * Maximum age of the check of the log's indexes before a job, in milliseconds. The service checks
 * once a day.
 */
const RECENT_CHECK_MS = 25 * 60 * 60 * 1_000;

/** Resumes the jobs that the last process left unfinished. */
export async function openOperations(
  parts: OperationsParts,
): Promise<Operations & { close(): Promise<void> }> {
  const { model, log, timeseries, projector, now, logger } = parts;
  const systemActor = `urn:${parts.namespace}:corpuser:__datahub_system`;
  const onAppended = projector.notifyAppended;
  const caughtUp = async () =>
    projector.reached(TIMESERIES, await log.head(), { timeoutMs: parts.waitMsMax });

  const truncation = createTruncation({
    model,
    log,
    encode: parts.encode,
    reader: timeseries,
    systemActor,
    now,
    caughtUp,
    onAppended,
  });
  const { rebuilding, views } = parts.rebuilds;
  const node = nodeId(parts.data);
  const own = { restoration: projector, rebuilding, views, projected: projector.projected };
  const { handing } = parts;
  const others =
    handing &&
    (await openJobQueue({
      log,
      node,
      now,
      logger,
      onAppended,
      work: runDispatchedWork(own),
      projects: (view) =>
        handing.leads && handing.isShared(view) && projector.projected().includes(view),
      onAppend: (listener) => projector.onProgress(listener),
    }));
  const restoration = others === undefined ? projector : dispatchedRestore(own, others);
  const names = { namespace: parts.namespace, urnLimits: parts.urnLimits };
  const restoring = createRestoring({
    model,
    log,
    restoration,
    writeDefaults: parts.writeDefaults,
    restoreEdges: parts.restoreEdges,
    ...names,
    now,
    logger,
  });
  const rebuilds = createRebuilds({
    ...parts.rebuilds,
    rebuilding: others === undefined ? rebuilding : dispatchedRebuild(own, others),
    onRebuilt(views) {
      parts.rebuilds.onRebuilt(views);
      verifications.loadResults();
    },
  });
  /** Fails if the log's indexes are damaged. */
  const checkIndexes = async (maxAgeMs: number, signal: AbortSignal): Promise<void> =>
    orAborted(log.checkIndexes?.({ maxAgeMs }) ?? Promise.resolve(), signal);
  const verifications = createVerifications({
    ...{ ...parts.verifying, ...names, restoration, logger },
    checkIndexes: (signal) => checkIndexes(0, signal),
    rebuild: rebuilds.rebuildWithin,
    findStuckViews: async (names) => findStuckViews(projector, await log.head(), names),
  });
  let shared: Jobs | undefined;
  const scavenges = createScavenges({
    log,
    project: parts.projectTimeseries,
    caughtUp,
    logger,
    rebuilding: async () => rebuilds.underWay() || (shared !== undefined && isRebuilt(shared)),
  });
  /** Runs the work after a check of the log's indexes. */
  const onChecked =
    (work: JobWork): JobWork =>
    async (run) => {
      await checkIndexes(RECENT_CHECK_MS, run.signal);
      return work(run);
    };
  const ended = countEnded();
  const jobs = await openJobs({
    log,
    onEnded: ended.note,
    around: parts.aroundJob,
    nodeId: node,
    kinds: {
      truncate: truncation.work,
      restore: onChecked(restoring.work),
      rebuild: onChecked(rebuilds.work),
      verify: verifications.work,
      scavenge: onChecked(scavenges.work),
    },
    systemActor,
    now,
    onAppended,
    logger,
  });

  if (handing !== undefined) shared = jobs;

  const endVerifying = verifications.watch();
  const outdated = await watchOutdated({
    stale: projector.stale,
    damaged: projector.damaged,
    rebuilt: rebuilds.count,
    projected: projector.projected,
    isRebuilding: rebuilds.underWay,
    logger,
    onStale(view, stale) {
      parts.rebuilds.onStale(view, stale);
      // The view's progress past this record shows that a projector applies it.
      if (stale) parts.audit.record(madeElsewhere(view, systemActor));
    },
    ofAnotherModel: parts.rebuilds.ofAnotherModel,
    rebuild: (views) => rebuilds.rebuild({ views }, { actor: systemActor }, jobs),
  });

  const clock = () => performance.now();
  const readiness = createReadiness({ now: clock });
  const between = (after: Position, upTo: Position) => recordsBetween(log, after, upTo);
  const throughput = createThroughput({ between, now: clock });
  const endSamples = samplePositions(
    async () => ({ head: await promptHead(log), positions: projector.positions() }),
    [readiness, throughput],
  );
  const getStatus = createStatus({
    ...parts.status,
    verified: verifications.verified,
    throughput,
    between,
    parked: projector.parked,
    stalled: readiness.stalled,
    now,
    stale: projector.stale,
    emptied: projector.emptied,
    rebuilds: parts.rebuilds.rebuilding.progress,
    jobsRunning: jobs.running,
    jobsEnded: ended.counts,
    uptimeSeconds: () => process.uptime(),
  });

  return {
    async getTaskStatus(query) {
      const id = taskIdOf(query);
      const job = await jobs.find(id);
      if (job !== undefined) return taskStatus(job);
      // The id may name a task of the store, such as one of a truncation.
      const task = await timeseries.findTask?.(id);
      return task === undefined ? unknownTask(id) : storeTaskStatus(task);
    },
    listJobs: (page) => jobs.list(page),
    async getJob(id) {
      const job = await jobs.find(id);
      if (job === undefined) throw unknownJob(id);
      return job;
    },
    cancelJob: (id) => jobs.cancel(id),
    truncateTimeseries: (request, caller) => truncation.truncate(request, caller, jobs),
    scavengeLog: (request, caller) => scavenges.scavenge(request, caller, jobs),
    restoreIndices: (request, caller) => restoring.restore(request, caller, jobs),
    rebuildViews: (request, caller) => rebuilds.rebuild(request, caller, jobs),
    async getIndexSizes() {
      await caughtUp();
      const indexes = [...model.entities.values()].flatMap(({ name: entityType, aspects }) =>
        aspects
          .filter((aspect) => model.aspects.get(aspect)?.timeseries)
          .map((aspect) => ({ entityType, aspect })),
      );
      const sizes = await timeseries.weigh(indexes);
      return indexes.map((index, n) => ({ ...index, bytes: sizes[n] ?? 0 }));
    },
    ...createParkedOperations({
      log,
      projector: { ...projector, ...restoration },
      names,
      maxCheckAgeMs: RECENT_CHECK_MS,
    }),
    verifyViews: (request, caller) => verifications.verify(request, caller, jobs),
    listDifferences: verifications.listDifferences,
    listAuditEvents: parts.audit.list,
    getStatus,
    stalledViews: readiness.stalled,
    async close() {
      outdated.close();
      await endVerifying();
      endSamples();
      await jobs.close();
      await others?.close();
    },
  };
}

const SAMPLE_MS = 1_000;

/** Samples positions; returns a function that ends it. */
function samplePositions(
  read: () => Promise<PositionSample>,
  receivers: readonly { note(sample: PositionSample): void }[],
): () => void {
  async function sample(): Promise<void> {
    try {
      const found = await read();
      for (const receiver of receivers) receiver.note(found);
    } catch {
      // /health reports an unreadable log; earlier samples stay valid.
    }
  }
  void sample();
  const timer = setInterval(() => void sample(), SAMPLE_MS).unref();
  return () => clearInterval(timer);
}

/** Newest jobs that are searched for rebuilds of other nodes. */
const JOBS_MAX = 100;

/** True while any node that shares the log rebuilds views. */
async function isRebuilt({ list }: Jobs): Promise<boolean> {
  const { jobs } = await list({ start: 0, count: JOBS_MAX });
  return jobs.some(({ kind, state }) => kind === "rebuild" && state === "running");
}

const madeElsewhere = (view: string, actor: string): AuditEntry => ({
  action: "modelChange",
  outcome: "allowed",
  actor,
  detail: `the view "${view}" was built with a model other than this node's`,
});

/** Counts jobs as they end, by kind and state. */
function countEnded() {
  const counts = new Map<string, JobsEnded>();
  return {
    note({ kind, state }: Job): void {
      if (state === "running") return;
      const key = `${kind} ${state}`;
      counts.set(key, { kind, state, count: (counts.get(key)?.count ?? 0) + 1 });
    },
    counts: (): readonly JobsEnded[] => [...counts.values()],
  };
}
