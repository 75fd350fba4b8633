/** How the service is, in one answer: for the status page, the command and the metrics. */
import type { Position } from "../core/position.ts";
import type { RegrowProgress } from "../projector/regrow-beside.ts";
import type { Job } from "./jobs.ts";
import type { Pace } from "./pace.ts";
import type { Stalled } from "./readiness.ts";

export interface LogStatus {
  /** Of its last record. */
  readonly position: Position;
  /** On disk; undefined where a server keeps it. */
  readonly bytes?: number | undefined;
  readonly recordsPerSecond: number;
  /** Records that came since the process began. */
  readonly records: number;
  /** Why it cannot be read or written. */
  readonly error?: string | undefined;
}

export interface ViewStatus {
  readonly position: Position;
  /** About, where positions are none of records (ChangeLog.countBetween). */
  readonly lagRecords: number;
  /** How long it has lacked what the log has. */
  readonly lagSeconds: number;
  readonly recordsPerSecond: number;
  /** Records that it was brought since the process began. */
  readonly records: number;
  /** It stands still behind the log (readiness.ts). */
  readonly stalled: boolean;
  /** Entities that it passes over. */
  readonly parked: number;
  readonly bytes?: number | undefined;
  readonly generation?: number | undefined;
  /** Up to where it was compared with the log, and how much differed. */
  readonly verifiedPosition?: Position | undefined;
  readonly differences?: number | undefined;
  /** When that was; epoch milliseconds. */
  readonly verifiedAt?: number | undefined;
  /** Another model made it, and it is to be rebuilt: it may not tell what this one would. */
  readonly stale?: boolean | undefined;
  /** How often it began anew since the process began, because what was there was not to be used. */
  readonly emptied?: number | undefined;
  /** How far its next edition has been grown, while there is one. */
  readonly rebuild?: RegrowProgress | undefined;
  /** Why it does not follow or cannot be read. */
  readonly error?: string | undefined;
}

export type JobState = Job["state"];

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
  /** Jobs that ended since the process began, by kind and state. */
  readonly jobsEnded: readonly JobsEnded[];
}

export interface JobsEnded {
  readonly kind: string;
  readonly state: Exclude<JobState, "running">;
  readonly count: number;
}

/** What stores say of themselves; undefined where they do not. */
export interface StoreFigures {
  readonly bytes?: number | undefined;
  readonly generation?: number | undefined;
}

export interface Verified {
  readonly position: Position;
  readonly differences: number;
  readonly time: number;
}

export interface StatusParts {
  readonly version: string;
  /** Whether reads and writes work (Catalog.health). */
  readonly health: () => Promise<{
    readonly log: Position;
    readonly logError?: string | undefined;
    readonly views: Readonly<Record<string, { position: Position; error?: string }>>;
  }>;
  /** Of the log, or of a view. */
  readonly figures: (store: string) => StoreFigures;
  readonly parked: () => Readonly<Record<string, number>>;
  readonly stale: () => readonly string[];
  readonly emptied: () => Readonly<Record<string, number>>;
  /** Views that are being rebuilt. */
  readonly rebuilds: () => Readonly<Record<string, RegrowProgress>>;
  /** What is known of a view that was compared with the log. */
  readonly verified?: ((view: string) => Verified | undefined) | undefined;
  /** How many records lie after a position, up to another. */
  readonly between: (after: Position, upTo: Position) => number;
  readonly pace: Pick<Pace, "lagSeconds" | "rate" | "records">;
  readonly stalled: () => readonly Stalled[];
  readonly jobsRunning: () => number;
  readonly jobsEnded: () => readonly JobsEnded[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Since the process began. */
  readonly uptimeSeconds: () => number;
}

export function createStatus(parts: StatusParts): () => Promise<ServiceStatus> {
  const { pace } = parts;
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
        lagSeconds: pace.lagSeconds(position, health.log),
        recordsPerSecond: pace.rate(name),
        records: pace.records(name),
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
        recordsPerSecond: pace.rate(),
        records: pace.records(),
        ...(health.logError !== undefined && { error: health.logError }),
      },
      views: Object.fromEntries(views),
      jobsRunning: parts.jobsRunning(),
      jobsEnded: parts.jobsEnded(),
    };
  };
}
