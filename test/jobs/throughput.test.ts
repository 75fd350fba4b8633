import { afterEach, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import { createThroughput } from "../../src/jobs/status/throughput.ts";

let now = 0;
let head = 0;
let views: Record<string, number> = {};
/** The positions that a record takes in the log. */
let bytesEach = 1;
afterEach(() => {
  bytesEach = 1;
});

function watch() {
  const throughput = createThroughput({
    between: (after, upTo) => (upTo - after) / bytesEach,
    now: () => now * 1_000,
  });
  const sample = () => {
    const entries = Object.entries(views).map(([name, at]) => [name, position(at)] as const);
    const positions = Object.fromEntries<Position>(entries);
    throughput.note({ head: position(head), positions });
  };
  sample();
  return {
    ...throughput,
    at(time: number, log: number, positions: Record<string, number>) {
      now = time;
      head = log;
      views = positions;
      sample();
    },
    lag: (view: string) => throughput.lagSeconds(position(views[view] ?? 0), position(head)),
  };
}

const begin = (log: number, positions: Record<string, number>) => {
  now = 100;
  head = log;
  views = positions;
  return watch();
};

test("a view at the head has no lag", () => {
  const throughput = begin(50, { graph: 50 });
  throughput.at(110, 50, { graph: 50 });
  expect(throughput.lag("graph")).toBe(0);
});

test("the lag is the age of the first missing record, interpolated between samples", () => {
  const throughput = begin(0, { graph: 0 });
  throughput.at(101, 100, { graph: 0 });
  throughput.at(102, 200, { graph: 0 });
  now = 105;
  views = { graph: 150 };
  expect(throughput.lag("graph")).toBeCloseTo(3.5);
  views = { graph: 0 };
  expect(throughput.lag("graph")).toBeCloseTo(5);
});

test("time without records is not lag", () => {
  const throughput = begin(10, { graph: 10 });
  for (let at = 101; at < 160; at++) throughput.at(at, 10, { graph: 10 });
  throughput.at(160, 20, { graph: 10 });
  expect(throughput.lag("graph")).toBeLessThanOrEqual(1);
  now = 163;
  expect(throughput.lag("graph")).toBeCloseTo(4);
});

test("records that the view lacked at the start count from the start", () => {
  const throughput = begin(500, { graph: 20 });
  throughput.at(107, 600, { graph: 400 });
  expect(throughput.lag("graph")).toBeCloseTo(7);
});

test("a lag of days is tracked in bounded memory", () => {
  const throughput = begin(0, { graph: 0 });
  for (let second = 1; second <= 5_000; second++) {
    throughput.at(100 + second, second * 10, { graph: 0 });
  }
  expect(throughput.lag("graph")).toBeCloseTo(5_000);
  views = { graph: 40_000 };
  expect(throughput.lag("graph")).toBeCloseTo(1_000, 0);
});

test("rates cover the last ten seconds, and counts the time since the start", () => {
  const throughput = begin(1_000, { graph: 0 });
  expect(throughput.rate("graph")).toBe(0);
  for (let n = 1; n <= 20; n++) throughput.at(100 + n, 1_000, { graph: n <= 5 ? n * 100 : 500 });
  expect(throughput.rate("graph")).toBe(0);
  for (let n = 21; n <= 30; n++) throughput.at(100 + n, 1_000, { graph: 500 + (n - 20) * 50 });
  expect(throughput.rate("graph")).toBeCloseTo(50);
  expect(throughput.records("graph")).toBe(1_000);
  expect([throughput.rate(), throughput.records()]).toEqual([0, 0]);
});

test("a view that is emptied counts the records that it receives again", () => {
  const throughput = begin(100, { graph: 100 });
  throughput.at(101, 100, { graph: 30 });
  throughput.at(102, 100, { graph: 100 });
  expect(throughput.records("graph")).toBe(100);
});

test("the lag grows without samples", () => {
  const throughput = begin(100, { graph: 40 });
  now = 104;
  expect(throughput.lag("graph")).toBeCloseTo(4);
});

test("rates are in records also with byte positions", () => {
  bytesEach = 50;
  const throughput = begin(0, { graph: 0 });
  throughput.at(110, 5_000, { graph: 2_500 });
  expect([throughput.records(), throughput.records("graph")]).toEqual([100, 50]);
  expect([throughput.rate(), throughput.rate("graph")]).toEqual([10, 5]);
});
