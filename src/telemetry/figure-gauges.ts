/** Gauges and counters of the process, the log, its views and its jobs, with Prometheus' library. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** Undefined if a number is unknown: the store is in a server, or no verification has run. */
interface ViewFigures {
  readonly position: number;
  readonly lagRecords: number;
  readonly lagSeconds: number;
  /** Records applied since the process began. */
  readonly records: number;
  readonly stalled: boolean;
  /** Rebuilds since the process began. */
  readonly emptied?: number | undefined;
  /** Parked entities. */
  readonly parked: number;
  readonly bytes?: number | undefined;
  readonly generation?: number | undefined;
  readonly verifiedPosition?: number | undefined;
  readonly differences?: number | undefined;
  /** Epoch milliseconds. */
  readonly verifiedAt?: number | undefined;
  /** True if another model built it. */
  readonly stale?: boolean | undefined;
  /** While it is rebuilt. */
  readonly rebuild?: { readonly position: number } | undefined;
  readonly error?: string | undefined;
}

export interface Figures {
  readonly version: string;
  readonly log: {
    /** Position of the last record of the log. */
    readonly position: number;
    /** Records appended since the process began. */
    readonly records: number;
    readonly bytes?: number | undefined;
    readonly error?: string | undefined;
  };
  readonly views: Readonly<Record<string, ViewFigures>>;
  readonly jobsRunning: number;
  /** Since the process began. */
  readonly jobsEnded: readonly {
    readonly kind: string;
    readonly state: string;
    readonly count: number;
  }[];
}

export interface FigureGauges {
  /** All metrics in the text format. */
  text(figures: Figures): Promise<string>;
}

/** A gauge per view; views with an unknown number are omitted. */
const viewGauges: readonly (readonly [
  name: string,
  help: string,
  of: (view: ViewFigures) => number | undefined,
])[] = [
  ["position", "Position that a view has reached", (view) => view.position],
  ["lag_records", "Records that a view is behind the log", (view) => view.lagRecords],
  ["lag_seconds", "How long a view has lacked what the log has", (view) => view.lagSeconds],
  [
    "failing",
    "1 while a view cannot follow the log or be read",
    (view) => Number(view.error !== undefined),
  ],
  [
    "stalled",
    "1 while a view is stalled behind the log (/health/ready)",
    (view) => Number(view.stalled),
  ],
  [
    "stale",
    "1 while a view that another model made waits to be rebuilt",
    (view) => Number(view.stale === true),
  ],
  [
    "rebuild_position",
    "Position of the staging generation of a view, while it is built",
    (view) => view.rebuild?.position,
  ],
  [
    "parked_entities",
    "Entities that a view passes over because it could not take a record",
    (view) => view.parked,
  ],
  ["generation", "Generation of a view; increases with each rebuild", (view) => view.generation],
  ["size_bytes", "What a view takes on disk", (view) => view.bytes],
  [
    "verified_position",
    "Position up to which a view was last compared with the log",
    (view) => view.verifiedPosition,
  ],
  [
    "verified_timestamp_seconds",
    "When a view was last compared with the log",
    (view) => (view.verifiedAt === undefined ? undefined : view.verifiedAt / 1_000),
  ],
  [
    "differences",
    "Differences from the log that the last verification found and that were not repaired",
    (view) => view.differences,
  ],
];

export function createFigureGauges(): FigureGauges {
  const registry = new Registry();
  // The default of 10 milliseconds would wake an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const registers = [registry];
  const build = new Gauge({
    name: "annals_build_info",
    help: "1, for the version that runs",
    labelNames: ["version"] as const,
    registers,
  });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const head = gauge("annals_log_position", "Position of the last record of the log");
  const bytes = gauge("annals_log_size_bytes", "What the log takes on disk");
  const logFailing = gauge(
    "annals_log_failing",
    "1 while the log cannot be read, or takes no writes",
  );
  const appended = new Counter({
    name: "annals_log_records_total",
    help: "Records appended to the log",
    registers,
  });
  const views = viewGauges.map(([name, help, of]) => ({
    of,
    gauge: new Gauge({
      name: `annals_view_${name}`,
      help,
      registers,
      labelNames: ["view"] as const,
    }),
  }));
  const applied = new Counter({
    name: "annals_view_records_total",
    help: "Records applied to a view",
    registers,
    labelNames: ["view"] as const,
  });
  const emptied = new Counter({
    name: "annals_view_emptied_total",
    help: "Times that a view was emptied, because it could not be read or was made of another log or model",
    labelNames: ["view"] as const,
    registers,
  });
  const jobs = gauge("annals_jobs_running", "Jobs that are running");
  const ended = new Counter({
    name: "annals_jobs_ended_total",
    help: "Jobs that ended, by kind and state",
    registers,
    labelNames: ["kind", "state"] as const,
  });

  /** Counters of other modules: each is set to its current value. */
  function setCounters({ log, views: byName, jobsEnded }: Figures): void {
    appended.reset();
    appended.inc(log.records);
    applied.reset();
    emptied.reset();
    for (const [view, figure] of Object.entries(byName)) {
      applied.inc({ view }, figure.records);
      emptied.inc({ view }, figure.emptied ?? 0);
    }
    ended.reset();
    for (const { kind, state, count } of jobsEnded) ended.inc({ kind, state }, count);
  }

  return {
    async text(now) {
      build.set({ version: now.version }, 1);
      head.set(now.log.position);
      if (now.log.bytes === undefined) bytes.remove();
      else bytes.set(now.log.bytes);
      logFailing.set(Number(now.log.error !== undefined));
      jobs.set(now.jobsRunning);
      for (const { gauge, of } of views) {
        gauge.reset();
        for (const [view, figure] of Object.entries(now.views)) {
          const value = of(figure);
          if (value !== undefined) gauge.set({ view }, value);
        }
      }
      setCounters(now);
      return registry.metrics();
    },
  };
}
