/**
 * The service's numbers in the text format of Prometheus. What there is to know of the log and its
 * views is asked for when somebody reads; of requests, each is counted as it is answered.
 */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface ViewFigures {
  readonly position: number;
  readonly failing: boolean;
  /** Entities that it passes over. */
  readonly parked: number;
}

export interface Figures {
  /** Position of the last record of the log. */
  readonly head: number;
  readonly views: Readonly<Record<string, ViewFigures>>;
  readonly jobsRunning: number;
}

export interface Metrics {
  /** Media type of the text. */
  readonly contentType: string;
  text(): Promise<string>;
  /** A request was answered; `route` is one of the route table's. */
  observe(request: { route: string; method: string; status: number; seconds: number }): void;
}

/** Reads of a cached entity take parts of a millisecond, long lists seconds. */
const secondsBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

export function createMetrics(figures: () => Promise<Figures>): Metrics {
  const registry = new Registry();
  // The usual 10 milliseconds would wake an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: readonly "view"[] = []) =>
    new Gauge({ name, help, labelNames, registers });

  const head = gauge("annals_log_position", "Position of the last record of the log");
  const views = ["view"] as const;
  const position = gauge("annals_view_position", "Position that a view has reached", views);
  const lag = gauge("annals_view_lag_records", "Records that a view is behind the log", views);
  const failing = gauge("annals_view_failing", "1 while a view cannot follow the log", views);
  const parked = gauge(
    "annals_view_parked_entities",
    "Entities that a view passes over because it could not take a record",
    views,
  );
  const jobs = gauge("annals_jobs_running", "Jobs that are running");
  const requests = new Histogram({
    name: "annals_http_request_duration_seconds",
    help: "Time from a request's head to the end of its answer",
    labelNames: ["route", "method", "status"] as const,
    buckets: secondsBuckets,
    registers,
  });

  return {
    contentType: registry.contentType.replace(/; charset=.*/, ""),
    async text() {
      const now = await figures();
      head.set(now.head);
      jobs.set(now.jobsRunning);
      for (const [view, figure] of Object.entries(now.views)) {
        position.set({ view }, figure.position);
        lag.set({ view }, Math.max(0, now.head - figure.position));
        failing.set({ view }, figure.failing ? 1 : 0);
        parked.set({ view }, figure.parked);
      }
      return registry.metrics();
    },
    observe({ route, method, status, seconds }) {
      requests.observe({ route, method, status: String(status) }, seconds);
    },
  };
}
