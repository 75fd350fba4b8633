/** The page of benchmarks: its tables and its plot, from figures. */
import { expect, test } from "vitest";
import type { Figure } from "./figures.ts";
import { type Run, renderCosts, renderPage } from "./page/render-page.ts";

const run: Run = {
  ...{ date: "2026-11-28", commit: "abc1234", seconds: 540 },
  machine: [["CPU", "Example, 2 cores"]],
};

const writes: readonly Figure[] = [
  { name: "bare echo", value: 20_123.4, unit: "/s" },
  {
    ...{ name: "proposals", value: 5_030, unit: "/s", goal: 0.35, note: "p99 5 ms" },
    ratio: { value: 0.25, of: "the echo" },
  },
  { name: "a write | in feeds", value: 41.26, unit: "ms", goal: 1_000 },
];

const growth: readonly Figure[] = [10_000, 100_000, 1_000_000].flatMap(
  (size): readonly Figure[] => [
    { name: "write", value: size / 100, unit: "us", size },
    { name: "read", value: 50, unit: "us", size },
    { name: "start", value: 300, unit: "ms", goal: 1_000, size },
  ],
);

const sections = [
  { title: "Writes", method: "64 connections.", figures: writes },
  { title: "Size", method: "Five records for each entity.", figures: growth },
];

const rendered = renderPage(run, sections, [
  { what: "Other: proposals", theirs: "72 /s", figure: "proposals" },
  { what: "Other: costs", theirs: "9 µs", figure: "write" },
]);

test("the page has a row for each figure with its ratio and goal", () => {
  expect(rendered).toContain("| bare echo | 20,123 /s |  |  |  |");
  expect(rendered).toContain(
    "| proposals | 5,030 /s | 0.25 of the echo | at least 0.35 | p99 5 ms |",
  );
  expect(rendered).toContain("| a write \\| in feeds | 41.3 ms |  | at most 1,000 ms |  |");
});

test("figures of several sizes are one table with a column for each size", () => {
  expect(rendered).toContain("| Records in the log | 10,000 | 100,000 | 1,000,000 | Goal |");
  expect(rendered).toContain("| write | 100 µs | 1,000 µs | 10,000 µs |  |");
  expect(rendered).toContain("| start | 300 ms | 300 ms | 300 ms | at most 1,000 ms |");
});

test("the page names the machine, the date and figures of other catalogs", () => {
  expect(rendered).toContain("| Date | 2026-11-28 |");
  expect(rendered).toContain("| CPU | Example, 2 cores |");
  expect(rendered).toContain("| Other: proposals | 72 /s | 5,030 /s | proposals |");
  expect(rendered).toContain("| Other: costs | 9 µs | 1,000 µs | write |");
});

test("the plot has one line for each figure in microseconds", () => {
  const plot = renderCosts([...writes, ...growth]) ?? "";
  expect(plot.match(/stroke-width="2"/g)).toHaveLength(2);
  expect(plot).toContain(">write</text>");
  expect(plot).not.toContain(">start</text>");
  // Ten times the size and the cost: the line of writes ends above its start, to the right.
  const [, points = ""] =
    /<polyline points="([^"]+)" fill="none" stroke="#2563eb"/.exec(plot) ?? [];
  const [[x1, y1], [x2, y2]] = points.split(" ").map((at) => at.split(",").map(Number)) as [
    [number, number],
    [number, number],
  ];
  expect(x2).toBeGreaterThan(x1);
  expect(y2).toBeLessThan(y1);
});

test("a single size has no plot", () => {
  expect(renderCosts(growth.filter(({ size }) => size === 10_000))).toBeUndefined();
});
