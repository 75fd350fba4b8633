/** Views of whole folds (src/projector/folding.ts). */
import { beforeEach, describe, expect, test } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import type { EntityState } from "../../src/core/entity-state.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import { createFoldingView } from "../../src/projector/folding.ts";

interface Write {
  readonly urn: string;
  readonly entityType: string;
  readonly aspects: number;
  readonly position: number;
}

const ada = "urn:li:corpuser:ada";
const otto = "urn:li:corpuser:otto";

describe("a view of whole folds", () => {
  let statesAt: number;
  let asked: string[][];
  let applied: { readonly writes: readonly Write[]; readonly upTo: Position }[];
  let restored: (readonly [urn: string, writes: readonly Write[]])[];
  let failing: boolean;

  beforeEach(() => {
    statesAt = 100;
    asked = [];
    applied = [];
    restored = [];
    failing = false;
  });

  const state = (urn: string): EntityState => ({ urn, revision: revision(0), aspects: new Map() });

  const createView = () =>
    createFoldingView<Write>({
      name: "search",
      states: {
        position: async () => position(statesAt),
        async getEntities(urns) {
          asked.push([...urns]);
          return urns.map(state);
        },
        close: async () => {},
      },
      fold: ({ urn, aspects }, entityType, at) => ({
        ...{ urn, entityType, aspects: aspects.size, position: at },
      }),
      sink: {
        async apply(writes, upTo) {
          if (failing) throw new Error("no room");
          applied.push({ writes, upTo });
        },
        async restore(urn, writes) {
          restored.push([urn, await Array.fromAsync(writes)]);
        },
        position: async () => applied.at(-1)?.upTo ?? position(0),
        reset: async () => void applied.splice(0),
        close: async () => {},
      },
    });

  const touch = (urn: string, at: number) => ({
    ...{ urn, entityType: "corpuser", position: position(at) },
  });
  const write = (urn: string, at: number): Write => ({
    ...{ urn, entityType: "corpuser", aspects: 0, position: at },
  });

  test("is touched by changes of entities, not by events", () => {
    const { project } = createView();
    const change = { urn: ada, entityType: "corpuser", position: position(3), timeseries: false };
    expect(project(change as PlacedChange)).toEqual([touch(ada, 3)]);
    expect(project({ ...change, timeseries: true } as PlacedChange)).toEqual([]);
  });

  test("folds an entity once in a batch", async () => {
    statesAt = 4;
    await createView().sink.apply([touch(ada, 1), touch(otto, 2), touch(ada, 3)], position(4));
    expect(asked).toEqual([[ada, otto]]);
    expect(applied).toEqual([{ writes: [write(ada, 4), write(otto, 4)], upTo: 4 }]);
  });

  test("does not fold again what a newer state has told already", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1)], position(1));
    await sink.apply([touch(ada, 2), touch(otto, 3)], position(3));
    expect(asked).toEqual([[ada], [otto]]);
    statesAt = 101;
    await sink.apply([touch(ada, 101)], position(101));
    expect(asked.at(-1)).toEqual([ada]);
    expect(await sink.position()).toBe(101);
  });

  test("folds all of it again into a store that has lost it", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1), touch(otto, 2)], position(2));
    applied = [];
    expect(await sink.position()).toBe(0);
    await sink.apply([touch(ada, 1), touch(otto, 2)], position(2));
    expect(applied.at(-1)?.writes).toEqual([write(ada, 2), write(otto, 2)]);
  });

  test("goes on past a batch that touches nothing anew, without asking for states", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1)], position(1));
    statesAt = 1;
    await sink.apply([], position(50));
    expect(applied.at(-1)).toEqual({ writes: [], upTo: 50 });
  });

  test("waits for the aspect view", async () => {
    statesAt = 9;
    const { sink } = createView();
    const waiting = expect.objectContaining({
      code: "unavailable",
      message: expect.stringContaining("at position 9 of 10"),
    });
    await expect(sink.apply([touch(ada, 10)], position(10))).rejects.toEqual(waiting);
    statesAt = 10;
    await sink.apply([touch(ada, 10)], position(10));
    expect(applied).toEqual([{ writes: [write(ada, 10)], upTo: 10 }]);
  });

  test("does not wait for an aspect view that keeps its checkpoint over what it ignores", async () => {
    statesAt = 50;
    const { sink } = createView();
    await sink.apply([touch(ada, 50)], position(52));
    expect(applied).toEqual([{ writes: [write(ada, 52)], upTo: 52 }]);
  });

  test("folds again what could not be applied, and everything after a reset", async () => {
    const { sink } = createView();
    failing = true;
    await expect(sink.apply([touch(ada, 1)], position(1))).rejects.toThrow("no room");
    failing = false;
    await sink.apply([touch(ada, 1)], position(1));
    await sink.reset();
    await sink.apply([touch(ada, 1)], position(1));
    expect(asked).toEqual([[ada], [ada], [ada]]);
  });

  test("restores an entity as the aspect view has it then, and forgets how far it was", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1)], position(1));
    await sink.restore(ada, [touch(ada, 1), touch(ada, 7)]);
    expect(restored).toEqual([[ada, [write(ada, 7)]]]);
    await sink.apply([touch(ada, 2)], position(8));
    expect(asked).toEqual([[ada], [ada], [ada]]);
  });

  test("takes away what it has of an entity that the log never told of", async () => {
    await createView().sink.restore(otto, []);
    expect(restored).toEqual([[otto, []]]);
    expect(asked).toEqual([]);
  });

  test("does not restore from an aspect view that is behind", async () => {
    statesAt = 6;
    const restoring = createView().sink.restore(ada, [touch(ada, 7)]);
    await expect(restoring).rejects.toEqual(expect.objectContaining({ code: "unavailable" }));
    expect(restored).toEqual([]);
  });

  test("reads many states in parts", async () => {
    const many = Array.from({ length: 450 }, (_, n) => touch(`urn:li:corpuser:u${n}`, n + 1));
    statesAt = 450;
    await createView().sink.apply(many, position(450));
    expect(asked.map((urns) => urns.length)).toEqual([200, 200, 50]);
    expect(applied[0]?.writes).toHaveLength(450);
  });
});
