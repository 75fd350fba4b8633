/** Finding the position of the log at a time. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { positionBefore } from "../../src/web/api/changes.ts";

afterEach(() => vi.unstubAllGlobals());

/** A feed with a change at each position of the map, which holds their times. */
function feedOf(times: ReadonlyMap<number, number>): void {
  vi.stubGlobal("fetch", async (path: string) => {
    const after = Number(new URLSearchParams(path.split("?")[1]).get("after"));
    const position = [...times.keys()].find((one) => one > after);
    const changes =
      position === undefined ? [] : [{ position, created: { time: times.get(position) } }];
    return Response.json({ changes, position: position ?? after, end: position === undefined });
  });
}

describe("the position before a time", () => {
  // The feed leaves out records that are no changes, such as 3 and 4.
  const times = new Map([
    [1, 100],
    [2, 200],
    [5, 300],
    [6, 400],
  ]);

  test.each([
    [50, 0],
    [100, 0],
    [150, 1],
    [250, 2],
    [350, 5],
    [500, 6],
  ])("time %i", async (time, position) => {
    feedOf(times);
    const found = await positionBefore(time, 6);
    // A position within a gap leads to the same changes.
    const next = (from: number) => [...times.keys()].find((one) => one > from);
    expect(next(found)).toBe(next(position));
  });

  test("an empty log has the position 0", async () => {
    feedOf(new Map());
    expect(await positionBefore(100, 0)).toBe(0);
  });
});
