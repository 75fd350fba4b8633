/** The count of rows without an entity (src/projector/verify/orphan-rows.ts). */
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { orphanRows } from "../../src/projector/verify/orphan-rows.ts";

type Log = Parameters<typeof orphanRows>[0]["log"];

/** A log whose records belong to these entities, from position 1. */
const logOf = (...names: readonly string[]) =>
  ({
    head: async () => names.length,
    readAll: async (from: number) =>
      names
        .map((name, n) => ({ stream: `entity-urn:li:tag:${name}`, position: n + 1 }))
        .slice(from),
  }) as unknown as Log;

const folded = { foldedFrom: "aspects" };
const early = { early: true } as const;
const found = (
  log: Log,
  { foldedFrom, ...rows }: { foldedFrom?: string; early?: true },
  count: number,
  at: number,
) => orphanRows({ log }, { foldedFrom, rows }, { count, position: position(at) });

describe("in a view that is projected from the log", () => {
  test("orphan rows are a difference", async () => {
    const log = logOf("a", "b", "c");
    expect(await found(log, {}, 0, 3)).toEqual([]);
    expect(await found(log, {}, 1, 1)).toEqual(["1 rows belong to no entity"]);
    expect(await found(log, {}, -2, 1)).toEqual([
      "the view counts 2 rows fewer than its entities have",
    ]);
  });
});

describe("in a view whose batches are visible before its position", () => {
  test("as many orphan rows as later records are no difference, and fewer rows neither", async () => {
    const log = logOf("a", "b", "c", "c");
    expect(await found(log, early, 3, 1)).toEqual([]);
    expect(await found(log, early, -7, 3)).toEqual([]);
  });

  test("more orphan rows than later records are a difference, and any without later records", async () => {
    const log = logOf("a", "b", "c", "c");
    expect(await found(log, early, 4, 1)).toEqual(["4 rows belong to no entity"]);
    expect(await found(log, early, 1, 4)).toEqual(["1 rows belong to no entity"]);
    expect(await found(log, early, -1, 4)).toEqual([
      "the view counts 1 rows fewer than its entities have",
    ]);
  });
});

describe("in a view that is projected from another view", () => {
  test("as many orphan rows as later written entities are no difference", async () => {
    const log = logOf("a", "b", "c", "c");
    expect(await found(log, folded, 2, 1)).toEqual([]);
    expect(await found(log, folded, -2, 1)).toEqual([]);
  });

  test("more orphan rows than later written entities are a difference, and any without them", async () => {
    const log = logOf("a", "b", "c", "c");
    expect(await found(log, folded, 3, 1)).toEqual(["3 rows belong to no entity"]);
    expect(await found(log, folded, 1, 4)).toEqual(["1 rows belong to no entity"]);
  });
});
