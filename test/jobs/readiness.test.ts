import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { createReadiness } from "../../src/jobs/status/readiness.ts";

describe("the readiness of a view", () => {
  /** Samples the log and a view once a second; returns the views that are stalled at the end. */
  function stalledAfter(steps: readonly (readonly [head: number, at: number] | "broken")[]) {
    let time = 0;
    const readiness = createReadiness({ now: () => time, stalledMs: 5_000 });
    for (const step of steps) {
      time += 1_000;
      if (step === "broken") continue;
      const [head, at] = step;
      readiness.note({ head: position(head), positions: { a: position(at) } });
    }
    return readiness.stalled();
  }

  const again = <T>(times: number, step: T): readonly T[] =>
    Array.from({ length: times }, () => step);

  test("a view at the head is ready, however long the log is idle", () => {
    expect(stalledAfter(again(60, [7, 7] as const))).toEqual([]);
  });

  test("a view that has just fallen behind is ready, however long it was idle", () => {
    expect(stalledAfter([...again(60, [7, 7] as const), [9, 7], [12, 7]])).toEqual([]);
  });

  test("a view that is far behind but progresses is ready", () => {
    const steps = Array.from({ length: 60 }, (_, n) => [1_000_000, n] as const);
    expect(stalledAfter(steps)).toEqual([]);
  });

  test("a view that makes no progress towards an earlier head is stalled", () => {
    const stalled = [{ view: "a", position: 7, head: 9 }];
    expect(stalledAfter(again(7, [9, 7] as const))).toEqual(stalled);
    const growing = Array.from({ length: 8 }, (_, n) => [9 + n, 7] as const);
    expect(stalledAfter(growing)).toMatchObject([{ view: "a", position: 7 }]);
    expect(stalledAfter([...again(20, [9, 7] as const), [9, 9]])).toEqual([]);
  });

  test("a view that goes back after a failure has made no progress", () => {
    const back = [...again(3, [9, 7] as const), ...again(5, [9, 4] as const)];
    expect(stalledAfter(back)).toEqual([{ view: "a", position: 4, head: 9 }]);
  });

  test("a view that was emptied and is rebuilt is ready", () => {
    expect(stalledAfter([...again(9, [9, 7] as const), [9, 0], [9, 2]])).toEqual([]);
  });

  test("a view is ready before there are enough samples", () => {
    expect(stalledAfter(again(4, [9, 7] as const))).toEqual([]);
    expect(stalledAfter([])).toEqual([]);
  });

  test("a view is stalled by the available samples if the log is sometimes unreadable", () => {
    const steps = [[9, 7], "broken", "broken", [9, 7], "broken", "broken", [9, 7]] as const;
    expect(stalledAfter(steps)).toMatchObject([{ view: "a" }]);
  });

  test("a view is ready while the log is unreadable", () => {
    expect(stalledAfter([[9, 7], [9, 7], ...again(20, "broken" as const)])).toEqual([]);
  });
});
