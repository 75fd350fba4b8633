/** Which views are not what the log says because of what was found in files. */
import { expect, test } from "vitest";
import { createChangedViews } from "../../src/projector/changed-views.ts";

function watched(first: readonly string[] = []) {
  const told: string[] = [];
  const views = createChangedViews(first, () => told.push("more"));
  views.onChanged((view, isChanged) => told.push(`${isChanged ? "+" : "-"}${view}`));
  return { ...views, told };
}

test("a view and what is made of it are changed until both are grown anew", () => {
  const { add, remove, names, told } = watched();
  add("aspects", ["aspects", "search"]);
  expect(names()).toEqual(["aspects", "search"]);
  // Found again.
  add("aspects", ["aspects", "search"]);
  remove(["aspects", "search"]);
  expect(names()).toEqual([]);
  expect(told).toEqual(["more", "+aspects", "+search", "-aspects", "-search"]);
});

test("what is grown anew of a view that is changed still is, and after that is grown anew, too", () => {
  const { add, remove, names } = watched();
  add("aspects", ["aspects", "search"]);
  remove(["search"]);
  expect(names()).toEqual(["aspects", "search"]);
  remove(["aspects"]);
  expect(names()).toEqual(["search"]);
  remove(["search"]);
  expect(names()).toEqual([]);
});

test("a view is changed for each reason", () => {
  const { add, remove, names } = watched(["search"]);
  add("aspects", ["aspects", "search"]);
  add("timeseries", ["timeseries", "search"]);
  remove(["aspects", "search"]);
  expect(names()).toEqual(["search", "timeseries"]);
  remove(["graph"]);
  remove(["timeseries", "search"]);
  expect(names()).toEqual([]);
});
