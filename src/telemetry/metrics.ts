/**
 * The service's metrics in the text format of Prometheus. Requests are counted as they are
 * answered; all other numbers are read on request. docs/operations.md lists every name.
 */

import { createDurations } from "./durations.ts";
import type { FigureGauges, Figures } from "./figure-gauges.ts";

interface Metrics {
  text(): Promise<string>;
  /** Counts an answered request; `route` is a path of the route table. */
  observe(request: { route: string; method: string; status: number; seconds: number }): void;
}

/** Reads of a cached entity take fractions of a millisecond, long lists seconds. */
const secondsBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** Prometheus' library is loaded at the first read, so it does not delay the start. */
export function createMetrics(figures: () => Promise<Figures>): Metrics {
  const requests = createDurations("annals_http_request_duration_seconds", {
    help: "Time from a request's head to the end of its response",
    buckets: secondsBuckets,
  });
  let opening: Promise<FigureGauges> | undefined;
  const open = async (): Promise<FigureGauges> =>
    (await import("./figure-gauges.ts")).createFigureGauges();
  return {
    async text() {
      opening ??= open();
      const gauges = await opening;
      return `${await gauges.text(await figures())}\n${requests.text()}\n`;
    },
    observe: requests.observe,
  };
}
