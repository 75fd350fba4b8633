/** Document views, which fold whole entities (src/projector/documents/document-view.ts). */
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import type { AspectState, EntityState } from "../../src/core/entity-state.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import { createDocumentView } from "../../src/projector/documents/document-view.ts";

interface Write {
  readonly urn: string;
  readonly entityType: string;
  readonly aspects: number;
  readonly position: number;
}

const ada = "urn:li:corpuser:ada";
const otto = "urn:li:corpuser:otto";

describe("a document view", () => {
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

  const createView = (positionOfStates = async () => position(statesAt)) =>
    createDocumentView<Write>({
      name: "search",
      states: {
        position: positionOfStates,
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
        inTransaction: (work) => work(),
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

  test("changes of aspects touch an entity, events do not", () => {
    const { project } = createView();
    const change = { urn: ada, entityType: "corpuser", position: position(3), timeseries: false };
    expect(project(change as PlacedChange)).toEqual([touch(ada, 3)]);
    expect(project({ ...change, timeseries: true } as PlacedChange)).toEqual([]);
  });

  test("a batch folds an entity once", async () => {
    statesAt = 4;
    await createView().sink.apply([touch(ada, 1), touch(otto, 2), touch(ada, 3)], position(4));
    expect(asked).toEqual([[ada, otto]]);
    expect(applied).toEqual([{ writes: [write(ada, 4), write(otto, 4)], upTo: 4 }]);
  });

  test("a touch is skipped if a newer state was folded already", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1)], position(1));
    await sink.apply([touch(ada, 2), touch(otto, 3)], position(3));
    expect(asked).toEqual([[ada], [otto]]);
    statesAt = 101;
    await sink.apply([touch(ada, 101)], position(101));
    expect(asked.at(-1)).toEqual([ada]);
    expect(await sink.position()).toBe(101);
  });

  test("all entities are folded again into a store that has lost its writes", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1), touch(otto, 2)], position(2));
    applied = [];
    expect(await sink.position()).toBe(0);
    await sink.apply([touch(ada, 1), touch(otto, 2)], position(2));
    expect(applied.at(-1)?.writes).toEqual([write(ada, 2), write(otto, 2)]);
  });

  test("a batch without new touches moves the checkpoint without reading states", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1)], position(1));
    statesAt = 1;
    await sink.apply([], position(50));
    expect(applied.at(-1)).toEqual({ writes: [], upTo: 50 });
  });

  test("a batch waits for the aspect view", async () => {
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

  test("a batch does not wait for an aspect view that ignores the last records", async () => {
    statesAt = 50;
    const { sink } = createView();
    await sink.apply([touch(ada, 50)], position(52));
    expect(applied).toEqual([{ writes: [write(ada, 52)], upTo: 52 }]);
  });

  test("a failed batch is folded again, and all entities after a reset", async () => {
    const { sink } = createView();
    failing = true;
    await expect(sink.apply([touch(ada, 1)], position(1))).rejects.toThrow("no room");
    failing = false;
    await sink.apply([touch(ada, 1)], position(1));
    await sink.reset();
    await sink.apply([touch(ada, 1)], position(1));
    expect(asked).toEqual([[ada], [ada], [ada]]);
  });

  test("a restore uses the current state, and the entity is folded again at the next touch", async () => {
    const { sink } = createView();
    await sink.apply([touch(ada, 1)], position(1));
    await sink.restore(ada, [touch(ada, 1), touch(ada, 7)]);
    expect(restored).toEqual([[ada, [write(ada, 7)]]]);
    await sink.apply([touch(ada, 2)], position(8));
    expect(asked).toEqual([[ada], [ada], [ada]]);
  });

  test("entities restored together read the position of states once", async () => {
    const positionOfStates = vi.fn(async () => position(statesAt));
    const { sink } = createView(positionOfStates);
    await sink.inTransaction?.(async () => {
      await sink.restore(ada, [touch(ada, 7)]);
      await sink.restore(otto, [touch(otto, 100)]);
      expect(positionOfStates).toHaveBeenCalledTimes(1);
      statesAt = 101;
      await sink.restore(ada, [touch(ada, 101)]);
    });
    expect(positionOfStates).toHaveBeenCalledTimes(2);
    expect(restored.map(([urn]) => urn)).toEqual([ada, otto, ada]);
    // Alone again, each restore reads the position.
    await sink.restore(otto, [touch(otto, 7)]);
    expect(positionOfStates).toHaveBeenCalledTimes(3);
  });

  test("a restore without records deletes the entity", async () => {
    await createView().sink.restore(otto, []);
    expect(restored).toEqual([[otto, []]]);
    expect(asked).toEqual([]);
  });

  test("a restore fails while the aspect view is behind", async () => {
    statesAt = 6;
    const restoring = createView().sink.restore(ada, [touch(ada, 7)]);
    await expect(restoring).rejects.toEqual(expect.objectContaining({ code: "unavailable" }));
    expect(restored).toEqual([]);
  });

  test("many states are read in several requests", async () => {
    const many = Array.from({ length: 450 }, (_, n) => touch(`urn:li:corpuser:u${n}`, n + 1));
    statesAt = 450;
    await createView().sink.apply(many, position(450));
    expect(asked.map((urns) => urns.length)).toEqual([200, 200, 50]);
    expect(applied[0]?.writes).toHaveLength(450);
  });
});

describe("a document view of timeseries", () => {
  interface EventWrite {
    readonly urn: string;
    readonly position: number;
    readonly latest: readonly string[];
  }
  let at: { states: number; events: number };
  /** Values by urn and aspect. */
  let events: Map<string, Map<string, string>>;
  let applied: { readonly writes: readonly EventWrite[]; readonly upTo: Position }[];
  let amended: EventWrite[];
  let asked: string[][];
  /** Characters of each state. */
  let size: number;

  beforeEach(() => {
    size = 0;
    at = { states: 100, events: 100 };
    events = new Map();
    applied = [];
    amended = [];
    asked = [];
  });

  const createView = (coversIgnored = false) =>
    createDocumentView<EventWrite>({
      name: "search",
      states: {
        position: async () => position(at.states),
        async getEntities(urns) {
          asked.push([...urns]);
          const aspects = new Map([["note", { value: "x".repeat(size) } as AspectState]]);
          return urns.map((urn) => ({ urn, revision: revision(0), aspects }));
        },
        close: async () => {},
      },
      events: {
        aspectsOf: (entityType) => (entityType === "dataset" ? ["operation", "profile"] : []),
        position: async () => position(at.events),
        latest: async (urns, aspects) =>
          urns.map((urn) => {
            const all = [...(events.get(urn) ?? [])].filter(([aspect]) => aspects.includes(aspect));
            return new Map(
              all.map(([aspect, value]) => [aspect, { time: 1, position: position(1), value }]),
            );
          }),
        // Two pages of the entities that were written with an event of the aspect.
        async holding(_type, aspect, from) {
          const written = [...applied.flatMap(({ writes }) => writes), ...amended];
          const all = written.filter(({ latest }) => latest.some((one) => one.startsWith(aspect)));
          const urns = [...new Set(all.map(({ urn }) => urn))].sort();
          const middle = urns.length >> 1;
          return from === undefined
            ? { urns: urns.slice(0, middle), next: "2" }
            : { urns: urns.slice(middle) };
        },
        amend: async (writes) => void amended.push(...writes),
        close: async () => {},
        coversIgnored,
      },
      fold: ({ urn }, _type, upTo, latest) => ({
        ...{ urn, position: upTo },
        latest: [...latest].map(([aspect, { value }]) => `${aspect}=${value}`),
      }),
      sink: {
        apply: async (writes, upTo) => void applied.push({ writes, upTo }),
        restore: async (_urn, writes) => void amended.push(...(await Array.fromAsync(writes))),
        position: async () => applied.at(-1)?.upTo ?? position(0),
        reset: async () => void applied.splice(0),
        close: async () => {},
      },
    });

  const a = "urn:li:dataset:a";
  const b = "urn:li:dataset:b";
  const own = (urn: string, place: number) => ({
    ...{ urn, entityType: "dataset", position: position(place) },
  });
  const event = (urn: string, place: number, series = "operation") => ({
    ...own(urn, place),
    series,
  });

  test("events and truncations of folded aspects touch an entity, others do not", () => {
    const { project, builtFrom } = createView();
    const change = { urn: a, entityType: "dataset", position: position(3), timeseries: true };
    const touch = (more: object) => project({ ...change, ...more } as PlacedChange);
    expect(touch({ aspect: "operation" })).toEqual([event(a, 3)]);
    expect(touch({ aspect: "operation", urn: "" })).toEqual([event("", 3)]);
    expect(touch({ aspect: "usage" })).toEqual([]);
    expect(touch({ aspect: "operation", entityType: "chart" })).toEqual([]);
    expect(touch({ aspect: "status", timeseries: false })).toEqual([own(a, 3)]);
    expect(builtFrom).toEqual(["aspects", "timeseries"]);
  });

  test("an entity is folded once, with its latest events", async () => {
    events.set(a, new Map([...Object.entries({ operation: "x", usage: "y" })]));
    await createView().sink.apply([own(a, 1), event(a, 2), own(b, 3)], position(4));
    expect(applied).toEqual([
      {
        writes: [
          { urn: a, position: 4, latest: ["operation=x"] },
          { urn: b, position: 4, latest: [] },
        ],
        upTo: 4,
      },
    ]);
  });

  test("progress of an entity's aspects and of its events is tracked separately", async () => {
    at = { states: 9, events: 2 };
    const { sink } = createView();
    await sink.apply([own(a, 1)], position(2));
    await sink.apply([own(a, 9)], position(9));
    expect(asked).toEqual([[a]]);
    at.events = 10;
    await sink.apply([event(a, 10)], position(10));
    expect(asked).toEqual([[a], [a]]);
    await sink.apply([event(a, 10, "profile")], position(11));
    expect(asked).toEqual([[a], [a]]);
  });

  test("a batch waits for the view that holds its records", async () => {
    at = { states: 5, events: 9 };
    const { sink } = createView();
    await sink.apply([own(a, 5), event(b, 9)], position(12));
    const waiting = (view: string) => ({ message: expect.stringContaining(`the ${view} view`) });
    await expect(sink.apply([own(a, 13)], position(13))).rejects.toMatchObject(waiting("aspect"));
    at.states = 13;
    await sink.apply([own(a, 13)], position(13));
    const applying = sink.apply([event(a, 14)], position(14));
    await expect(applying).rejects.toMatchObject(waiting("timeseries"));
    at.events = 14;
    await sink.apply([event(a, 14)], position(14));
    expect(applied.map(({ upTo }) => upTo)).toEqual([12, 13, 14]);
  });

  test("each batch waits for a timeseries view whose position moves over ignored records", async () => {
    at = { states: 20, events: 11 };
    const { sink } = createView(true);
    const early = sink.apply([own(a, 10)], position(12));
    await expect(early).rejects.toMatchObject({ code: "unavailable" });
    at.events = 12;
    await sink.apply([own(a, 10)], position(12));
    expect(applied.map(({ upTo }) => upTo)).toEqual([12]);
  });

  test("a truncation folds the entities again whose events it removed, and no others", async () => {
    const { sink } = createView();
    const urns = ["a", "b", "c", "d", "e"].map((name) => `urn:li:dataset:${name}`);
    for (const urn of urns) events.set(urn, new Map([["operation", "x"]]));
    events.set("urn:li:dataset:e", new Map([["profile", "p"]]));
    at = { states: 5, events: 5 };
    await sink.apply(
      urns.map((urn, n) => event(urn, n + 1)),
      position(5),
    );
    for (const lost of ["urn:li:dataset:b", "urn:li:dataset:d"]) events.delete(lost);
    at = { states: 6, events: 6 };
    await sink.apply([event("", 6)], position(7));
    expect(amended).toEqual([
      { urn: "urn:li:dataset:b", position: 7, latest: [] },
      { urn: "urn:li:dataset:d", position: 7, latest: [] },
    ]);
    expect(applied.at(-1)).toEqual({ writes: [], upTo: 7 });
  });

  test("a batch of large states is written in several parts", async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => own(`urn:li:dataset:${n}`, n + 1));
    const urns = many.map(({ urn }) => urn);
    const urnsOf = (some: readonly EventWrite[] = []) => some.map(({ urn }) => urn);
    at = { states: 1_000, events: 1_000 };
    size = 100_000;
    await createView().sink.apply(many, position(1_000));
    expect(urnsOf(amended)).toEqual(urns.slice(0, 800));
    expect(urnsOf(applied[0]?.writes)).toEqual(urns.slice(800));
    expect(new Set(amended.map(({ position: place }) => place))).toEqual(new Set([1_000]));
    size = 10_000;
    await createView().sink.apply(many, position(1_000));
    expect(urnsOf(applied[1]?.writes)).toEqual(urns);
  });

  test("a restore of an entity whose last record is an event has its latest events, despite truncations", async () => {
    events.set(a, new Map([["operation", "x"]]));
    await createView().sink.restore(a, [event(a, 1), event(a, 4), own(a, 2), event("", 3)]);
    expect(amended).toEqual([{ urn: a, position: 4, latest: ["operation=x"] }]);
  });
});
