/**
 * The cache of entity states, case by case: cached, pinned until the view has the state, dropped when
 * an append fails. The view is a map here, so that tests set its position.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createEntityCache, type EntityCache } from "../../../src/catalog/write/entity-cache.ts";
import { type EntityState, unknownEntity } from "../../../src/core/entity-state.ts";
import { CatalogError } from "../../../src/core/errors.ts";
import { type Position, position, revision } from "../../../src/core/position.ts";

const URN = "urn:li:tag:a";
const stateAt = (n: number): EntityState => ({ ...unknownEntity(URN), revision: revision(n) });

let view: Map<string, EntityState>;
let reads: number;
let at: number;
let listener: (position: Position) => void;
let waits: { position: number; resolve: () => void }[];
let states: EntityCache;

beforeEach(() => {
  view = new Map();
  reads = 0;
  at = 0;
  waits = [];
  states = createEntityCache({
    reader: {
      getEntities: async (urns: readonly string[]) => {
        reads++;
        return urns.map((urn) => view.get(urn) ?? unknownEntity(urn));
      },
    },
    reached: (position) =>
      position <= at
        ? Promise.resolve()
        : new Promise((resolve) => waits.push({ position, resolve })),
    onProgress: (one) => {
      listener = one;
    },
    bytesMax: 10_000,
  });
});

/** The view moves to a position and holds the state then. */
function progress(to: number, state: EntityState): void {
  at = to;
  view.set(URN, state);
  listener(position(to));
  for (const wait of waits) if (wait.position <= to) wait.resolve();
}

async function decided(next: EntityState): Promise<PromiseWithResolvers<readonly Position[]>> {
  const [entry] = await states.load([URN]);
  if (entry === undefined) throw new Error("not loaded");
  const appending = Promise.withResolvers<readonly Position[]>();
  states.decided([{ entry, next }], appending.promise);
  return appending;
}

test("a cache without space reads each entity from the view", async () => {
  const empty = createEntityCache({
    reader: {
      getEntities: async (urns) => {
        reads++;
        return urns.map(unknownEntity);
      },
    },
    reached: async () => {},
    onProgress: () => {},
    bytesMax: 0,
  });
  expect(await empty.read([URN])).toEqual([unknownEntity(URN)]);
  const before = reads;
  expect(await empty.read([URN])).toEqual([unknownEntity(URN)]);
  expect(reads).toBeGreaterThan(before);
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("an entity's state", () => {
  test("a state is read from the view once and cached", async () => {
    view.set(URN, stateAt(3));
    expect(await states.read([URN])).toEqual([stateAt(3)]);
    expect(await states.read([URN, URN])).toEqual([stateAt(3), stateAt(3)]);
    expect(reads).toBe(1);
    expect(states.peek(URN)).toEqual(stateAt(3));
  });

  test("concurrent reads load a state once", async () => {
    await Promise.all(Array.from({ length: 10 }, () => states.load([URN])));
    expect(reads).toBe(1);
  });

  test("a decision uses a state before its append is durable, and a read only after", async () => {
    const appending = await decided(stateAt(0));
    expect((await states.load([URN]))[0]?.state).toEqual(stateAt(0));
    expect(states.peek(URN)).toBeUndefined();
    let seen: unknown;
    const reading = states.read([URN]).then((found) => {
      seen = found;
    });
    await settled();
    expect(seen).toBeUndefined();
    appending.resolve([position(1)]);
    await reading;
    expect(seen).toEqual([stateAt(0)]);
  });

  test("a state stays pinned until the view has its last position", async () => {
    const first = await decided(stateAt(0));
    first.resolve([position(1)]);
    await settled();
    const second = await decided(stateAt(1));
    second.resolve([position(2)]);
    await settled();
    progress(1, stateAt(0));
    expect(states.dirty()).toBe(1);
    expect(await states.read([URN])).toEqual([stateAt(1)]);
    progress(2, stateAt(1));
    expect(states.dirty()).toBe(0);
    expect(await states.read([URN])).toEqual([stateAt(1)]);
  });

  test("a state is read from the view again after a failed append", async () => {
    view.set(URN, stateAt(4));
    const appending = await decided(stateAt(5));
    const reading = states.read([URN]);
    appending.reject(new Error("disk full"));
    expect(await reading).toEqual([stateAt(4)]);
    expect((await states.load([URN]))[0]?.state).toEqual(stateAt(4));
  });

  test("a dropped state is read again when the view has all appended records", async () => {
    const kept = await decided(stateAt(0));
    kept.resolve([position(7)]);
    await settled();
    const failed = await decided(stateAt(1));
    failed.reject(new Error("disk full"));
    await settled();
    let seen: unknown;
    const reading = states.load([URN]).then(([entry]) => {
      seen = entry?.state;
    });
    await settled();
    expect(seen).toBeUndefined();
    progress(7, stateAt(0));
    await reading;
    expect(seen).toEqual(stateAt(0));
  });

  test("an entity without a state is folded from its stream while the view is behind", async () => {
    const behind = createEntityCache({
      reader: { getEntities: () => Promise.reject(new Error("the view is behind")) },
      fold: async () => stateAt(7),
      reached: () => Promise.reject(new Error("the disk is full")),
      onProgress: (one) => {
        listener = one;
      },
      behind: new Map([[URN, position(9)]]),
      bytesMax: 10_000,
    });
    expect(await behind.read([URN])).toEqual([stateAt(7)]);
    expect(behind.positionOf(URN)).toBe(9);
    listener(position(9));
    expect(behind.dirty()).toBe(0);
    expect(await behind.read([URN])).toEqual([stateAt(7)]);
  });

  test("a dropped state that is not read again is not pinned forever", async () => {
    const failed = await decided(stateAt(0));
    failed.reject(new Error("disk full"));
    await settled();
    progress(1, stateAt(0));
    expect(states.dirty()).toBe(0);
  });
});

describe("on a log with other writers", () => {
  let fromLog: string[];
  let log: EntityState;
  let broken: boolean;

  beforeEach(() => {
    fromLog = [];
    log = stateAt(7);
    broken = false;
    states = createEntityCache({
      reader: {
        getEntities: async (urns: readonly string[]) => {
          if (broken) throw new CatalogError("unavailable", "the store is down");
          reads++;
          return urns.map((urn) => view.get(urn) ?? unknownEntity(urn));
        },
      },
      fromLog: async (urn) => {
        fromLog.push(urn);
        return log;
      },
      reached: () => Promise.reject(new Error("nobody waits for the view")),
      onProgress: (one) => {
        listener = one;
      },
      bytesMax: 10_000,
    });
  });

  test("each read queries the view once", async () => {
    view.set(URN, stateAt(3));
    expect(await states.read([URN])).toEqual([stateAt(3)]);
    view.set(URN, stateAt(4));
    expect(await states.read([URN, URN])).toEqual([stateAt(4), stateAt(4)]);
    expect(reads).toBe(2);
    expect(fromLog).toEqual([]);
  });

  test("a decision after a lost race uses the state of the stream", async () => {
    view.set(URN, stateAt(3));
    const appending = await decided(stateAt(4));
    appending.reject(new Error("wrong revision"));
    await settled();
    const [entry] = await states.load([URN]);
    expect(entry?.state).toEqual(stateAt(7));
  });

  test("reads use the stream while the view is slow, and avoid the view for a while", async () => {
    let asked = 0;
    const slow = createEntityCache({
      reader: {
        getEntities: () => {
          asked++;
          return new Promise<never>(() => {});
        },
      },
      fromLog: async () => log,
      reached: async () => {},
      onProgress: () => {},
      bytesMax: 0,
      slowMs: { max: 10, avoided: 200 },
    });
    for (let n = 0; n < 5; n++) expect(await slow.read([URN])).toEqual([stateAt(7)]);
    expect(asked).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(await slow.read([URN])).toEqual([stateAt(7)]);
    expect(asked).toBe(2);
  });

  test("a read after a lost race has own writes that the view lacks", async () => {
    const written = await decided(stateAt(4));
    written.resolve([position(9)]);
    await settled();
    const raced = await decided(stateAt(5));
    raced.reject(new Error("wrong revision"));
    await settled();
    await states.load([URN]);
    expect(await states.read([URN])).toEqual([stateAt(7)]);
    expect(fromLog).toEqual([URN]);
    listener(position(9));
    expect(states.dirty()).toBe(0);
  });

  test("a decision on an invalidated state uses the stream", async () => {
    view.set(URN, stateAt(3));
    states.invalidate([URN]);
    const [entry] = await states.load([URN]);
    expect(entry?.state).toEqual(stateAt(7));
    expect(states.dirty()).toBe(0);
  });

  test("an invalidated state keeps its append in flight", async () => {
    const appending = await decided(stateAt(4));
    states.invalidate([URN]);
    const loading = states.load([URN]);
    await settled();
    expect(fromLog).toEqual([]);
    appending.resolve([position(9)]);
    expect((await loading)[0]?.state).toEqual(stateAt(7));
    expect(states.positionOf(URN)).toBe(9);
  });

  test("positions that complete out of order release states that the view has", async () => {
    const other = { ...unknownEntity("urn:li:tag:b"), revision: revision(0) };
    const first = await decided(stateAt(4));
    const [entry] = await states.load([other.urn]);
    if (entry === undefined) throw new Error("not loaded");
    states.decided([{ entry, next: other }], Promise.resolve([position(12)]));
    await settled();
    first.resolve([position(10)]);
    await settled();
    listener(position(11));
    expect(states.dirty()).toBe(1);
    expect(states.positionOf(URN)).toBe(0);
  });

  test("reads use the stream while the view is unavailable", async () => {
    broken = true;
    expect(await states.read([URN])).toEqual([stateAt(7)]);
    broken = false;
    expect(await states.read([URN])).toEqual([unknownEntity(URN)]);
  });
});
