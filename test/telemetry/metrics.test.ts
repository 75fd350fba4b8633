import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Figures } from "../../src/telemetry/figure-gauges.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const figures: Figures = {
  version: "1.2.3",
  log: { position: 126, records: 26, bytes: 4_096 },
  views: {
    aspects: {
      ...{ position: 120, lagRecords: 6, lagSeconds: 1.5, records: 20, stalled: false, parked: 2 },
      ...{ bytes: 8_192, generation: 3, verifiedPosition: 100, differences: 1 },
      verifiedAt: 1_500,
    },
    search: {
      ...{ position: 126, lagRecords: 0, lagSeconds: 0, records: 26, stalled: true, parked: 0 },
      error: "no room",
    },
  },
  jobsRunning: 1,
  jobsEnded: [{ kind: "restore", state: "failed", count: 4 }],
};

const valueIn = (text: string, series: string): number => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length));
};

test("metrics include the log, its views and its jobs", async () => {
  const metrics = createMetrics(async () => figures);
  await metrics.text();
  const text = await metrics.text();
  const values = {
    'annals_build_info{version="1.2.3"}': 1,
    annals_log_position: 126,
    annals_log_size_bytes: 4_096,
    annals_log_failing: 0,
    annals_log_records_total: 26,
    'annals_view_position{view="aspects"}': 120,
    'annals_view_lag_records{view="aspects"}': 6,
    'annals_view_lag_seconds{view="aspects"}': 1.5,
    'annals_view_records_total{view="aspects"}': 20,
    'annals_view_parked_entities{view="aspects"}': 2,
    'annals_view_failing{view="aspects"}': 0,
    'annals_view_failing{view="search"}': 1,
    'annals_view_stalled{view="search"}': 1,
    'annals_view_generation{view="aspects"}': 3,
    'annals_view_size_bytes{view="aspects"}': 8_192,
    'annals_view_verified_position{view="aspects"}': 100,
    'annals_view_verified_timestamp_seconds{view="aspects"}': 1.5,
    'annals_view_differences{view="aspects"}': 1,
    annals_jobs_running: 1,
    'annals_jobs_ended_total{kind="restore",state="failed"}': 4,
  };
  const found = Object.keys(values).map((series) => [series, valueIn(text, series)]);
  expect(Object.fromEntries(found)).toEqual(values);
  // Unknown values are omitted, not 0.
  expect(text).not.toContain('annals_view_generation{view="search"}');
});

test("request durations are counted by route, method and status", async () => {
  const metrics = createMetrics(async () => figures);
  const read = { route: "/aspects/{urn}", method: "GET", status: 200 };
  for (const seconds of [0.0005, 0.25, 16]) metrics.observe({ ...read, seconds });
  metrics.observe({ ...read, status: 404, seconds: 0.001 });
  const text = await metrics.text();
  const name = "annals_http_request_duration_seconds";
  const found = 'route="/aspects/{urn}",method="GET",status="200"';
  const counts = [...text.matchAll(/_bucket\{le="([^"]+)",.*status="200"\} (\d+)/g)].map(
    ([, most, count]) => `${most} ${count}`,
  );
  expect(counts).toEqual([
    ...["0.0005 1", "0.001 1", "0.0025 1", "0.005 1", "0.01 1", "0.025 1", "0.05 1", "0.1 1"],
    ...["0.25 2", "0.5 2", "1 2", "2.5 2", "10 2", "+Inf 3"],
  ]);
  expect(valueIn(text, `${name}_sum{${found}}`)).toBe(16.2505);
  expect(valueIn(text, `${name}_count{${found}}`)).toBe(3);
  expect(valueIn(text, `${name}_count{${found.replace("200", "404")}}`)).toBe(1);
  expect(text).toMatch(/[^\n]\n$/);
});

test("names follow the conventions of Prometheus", async () => {
  const metrics = createMetrics(async () => figures);
  const types = [...(await metrics.text()).matchAll(/^# TYPE (annals_\w+) (\w+)$/gm)];
  expect(types.length).toBeGreaterThan(15);
  for (const [, name = "", type] of types) {
    expect(name).toMatch(/^annals_[a-z]+(_[a-z]+)*$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    expect(name).not.toMatch(/_(ms|millis|milliseconds|kb|mb)$/);
  }
});

test("docs/operations.md lists all metrics, and no others", async () => {
  const metrics = createMetrics(async () => figures);
  const served = [...(await metrics.text()).matchAll(/^# TYPE (annals_\w+) (\w+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const [, table = ""] = /<!-- metrics -->(.*)<!-- \/metrics -->/s.exec(page) ?? [];
  const documented = [...table.matchAll(/^\| `(annals_\w+)[^|]*\| (\w+) \|/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  expect(documented.sort()).toEqual(served.sort());
});
