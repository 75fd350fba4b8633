import { afterEach, describe, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import { watchReadiness } from "../../src/jobs/status/readiness.ts";

describe("the readiness of a view", () => {
  let close = () => {};
  afterEach(() => close());

  /** Samples the log and a view once a second; returns the views that are stalled at the end. */
  async function stalledAfter(steps: readonly (readonly [head: number, at: number] | "broken")[]) {
    let time = 0;
    let step = steps[0];
    const readiness = watchReadiness({
      now: () => time,
      stalledMs: 5_000,
      async readPositions() {
        if (step === undefined || step === "broken") throw new Error("no log");
        const [head, at] = step;
        return { head: position(head), positions: { a: position(at) as Position } };
      },
    });
    close = readiness.close;
    for (const next of steps) {
      step = next;
      time += 1_000;
      await readiness.sample();
    }
    return readiness.stalled();
  }

  const again = <T>(times: number, step: T): readonly T[] =>
    Array.from({ length: times }, () => step);

  test("a view at the head is ready, however long the log is idle", async () => {
    expect(await stalledAfter(again(60, [7, 7] as const))).toEqual([]);
  });

  test("a view that has just fallen behind is ready, however long it was idle", async () => {
    expect(await stalledAfter([...again(60, [7, 7] as const), [9, 7], [12, 7]])).toEqual([]);
  });

  test("a view that is far behind but progresses is ready", async () => {
    const steps = Array.from({ length: 60 }, (_, n) => [1_000_000, n] as const);
    expect(await stalledAfter(steps)).toEqual([]);
  });

  test("a view that makes no progress towards an earlier head is stalled", async () => {
    const stalled = [{ view: "a", position: 7, head: 9 }];
    expect(await stalledAfter(again(7, [9, 7] as const))).toEqual(stalled);
    const growing = Array.from({ length: 8 }, (_, n) => [9 + n, 7] as const);
    expect(await stalledAfter(growing)).toMatchObject([{ view: "a", position: 7 }]);
    expect(await stalledAfter([...again(20, [9, 7] as const), [9, 9]])).toEqual([]);
  });

  test("a view that goes back after a failure has made no progress", async () => {
    const back = [...again(3, [9, 7] as const), ...again(5, [9, 4] as const)];
    expect(await stalledAfter(back)).toEqual([{ view: "a", position: 4, head: 9 }]);
  });

  test("a view that was emptied and is rebuilt is ready", async () => {
    expect(await stalledAfter([...again(9, [9, 7] as const), [9, 0], [9, 2]])).toEqual([]);
  });

  test("a view is ready before there are enough samples", async () => {
    expect(await stalledAfter(again(4, [9, 7] as const))).toEqual([]);
    expect(await stalledAfter([])).toEqual([]);
  });

  test("a view is stalled by the available samples if the log is sometimes unreadable", async () => {
    const steps = [[9, 7], "broken", "broken", [9, 7], "broken", "broken", [9, 7]] as const;
    expect(await stalledAfter(steps)).toMatchObject([{ view: "a" }]);
  });

  test("a view is ready while the log is unreadable", async () => {
    expect(await stalledAfter([[9, 7], [9, 7], ...again(20, "broken" as const)])).toEqual([]);
  });
});
