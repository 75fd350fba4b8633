/** The state of the service: for the status page, the command and the metrics. */
import type { Position } from "../../core/position.ts";
import type { RebuildProgress } from "../../projector/rebuild/staging.ts";
import type { Job } from "../jobs.ts";
import type { Stalled } from "./readiness.ts";
import type { Throughput } from "./throughput.ts";

interface LogStatus {
  /** Of its last record. */
  readonly position: Position;
  /** Size on disk; undefined for a log in a server. */
  readonly bytes?: number | undefined;
  readonly recordsPerSecond: number;
  /** Records appended since the start of the process. */
  readonly records: number;
  /** The reason why it cannot be read or written. */
  readonly error?: string | undefined;
}

export interface ViewStatus {
  readonly position: Position;
  /** An estimate where positions do not number records (ChangeLog.countBetween). */
  readonly lagRecords: number;
  /** Age of the oldest record that it lacks. */
  readonly lagSeconds: number;
  readonly recordsPerSecond: number;
  /** Records applied since the start of the process. */
  readonly records: number;
  /** It lags and makes no progress (readiness.ts). */
  readonly stalled: boolean;
  /** Number of parked entities. */
  readonly parked: number;
  readonly bytes?: number | undefined;
  readonly generation?: number | undefined;
  /** Position and number of differences of the last verification. */
  readonly verifiedPosition?: Position | undefined;
  readonly differences?: number | undefined;
  /** Time of the last verification; epoch milliseconds. */
  readonly verifiedAt?: number | undefined;
  /** It was built with another model and needs a rebuild. */
  readonly stale?: boolean | undefined;
  /** Number of times that an unusable store was emptied since the start of the process. */
  readonly emptied?: number | undefined;
  /** Progress of its staging generation during a rebuild. */
  readonly rebuild?: RebuildProgress | undefined;
  /** The reason why it does not follow the log or cannot be read. */
  readonly error?: string | undefined;
}

type JobState = Job["state"];

export interface ServiceStatus {
  /** Reads and writes work, and every view makes progress. */
  readonly ok: boolean;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly uptimeSeconds: number;
  readonly log: LogStatus;
  readonly views: Readonly<Record<string, ViewStatus>>;
  readonly jobsRunning: number;
  /** Jobs that ended since the start of the process, by kind and state. */
  readonly jobsEnded: readonly JobsEnded[];
}

export interface JobsEnded {
  readonly kind: string;
  readonly state: Exclude<JobState, "running">;
  readonly count: number;
}

/** Figures of a store; undefined for stores without them. */
export interface StoreFigures {
  readonly bytes?: number | undefined;
  readonly generation?: number | undefined;
}

interface Verified {
  readonly position: Position;
  readonly differences: number;
  readonly time: number;
}

export interface StatusParts {
  readonly version: string;
  /** Health of reads and writes (Catalog.health). */
  readonly health: () => Promise<{
    readonly log: Position;
    readonly logError?: string | undefined;
    readonly views: Readonly<Record<string, { position: Position; error?: string }>>;
  }>;
  /** Figures of the log or of a view. */
  readonly figures: (store: string) => StoreFigures;
  readonly parked: () => Readonly<Record<string, number>>;
  readonly stale: () => readonly string[];
  readonly emptied: () => Readonly<Record<string, number>>;
  /** Views that are being rebuilt. */
  readonly rebuilds: () => Readonly<Record<string, RebuildProgress>>;
  /** Result of the last verification of a view. */
  readonly verified?: ((view: string) => Verified | undefined) | undefined;
  /** Number of records after a position, up to another. */
  readonly between: (after: Position, upTo: Position) => number;
  readonly throughput: Pick<Throughput, "lagSeconds" | "rate" | "records">;
  readonly stalled: () => readonly Stalled[];
  readonly jobsRunning: () => number;
  readonly jobsEnded: () => readonly JobsEnded[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Since the start of the process. */
  readonly uptimeSeconds: () => number;
}

export function createStatus(parts: StatusParts): () => Promise<ServiceStatus> {
  const { throughput } = parts;
  return async () => {
    const health = await parts.health();
    const stalled = new Set(parts.stalled().map(({ view }) => view));
    const parked = parts.parked();
    const stale = new Set(parts.stale());
    const emptied = parts.emptied();
    const rebuilds = parts.rebuilds();
    const views = Object.entries(health.views).map(([name, { position, error }]) => {
      const verified = parts.verified?.(name);
      const view: ViewStatus = {
        position,
        lagRecords: parts.between(position, health.log),
        lagSeconds: throughput.lagSeconds(position, health.log),
        recordsPerSecond: throughput.rate(name),
        records: throughput.records(name),
        stalled: stalled.has(name),
        parked: parked[name] ?? 0,
        emptied: emptied[name] ?? 0,
        ...parts.figures(name),
        ...(verified && {
          verifiedPosition: verified.position,
          differences: verified.differences,
          verifiedAt: verified.time,
        }),
        ...(stale.has(name) && { stale: true }),
        ...(rebuilds[name] !== undefined && { rebuild: rebuilds[name] }),
        ...(error !== undefined && { error }),
      };
      return [name, view] as const;
    });
    const well = views.every(([, { error, stalled }]) => error === undefined && !stalled);
    return {
      ok: well && health.logError === undefined,
      version: parts.version,
      time: parts.now(),
      uptimeSeconds: parts.uptimeSeconds(),
      log: {
        position: health.log,
        bytes: parts.figures("log").bytes,
        recordsPerSecond: throughput.rate(),
        records: throughput.records(),
        ...(health.logError !== undefined && { error: health.logError }),
      },
      views: Object.fromEntries(views),
      jobsRunning: parts.jobsRunning(),
      jobsEnded: parts.jobsEnded(),
    };
  };
}
