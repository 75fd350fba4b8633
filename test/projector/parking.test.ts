/** A view parks records that it cannot apply and continues with all others (src/projector/parking/parking.ts). */
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import { unknownEntity } from "../../src/core/entity-state.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import { entityStream } from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import type { ParkingRecord } from "../../src/log/codecs/parking-codec.ts";
import { createDocumentView } from "../../src/projector/documents/document-view.ts";
import type { ParkingStore } from "../../src/projector/parking/parking.ts";
import { startProjector } from "../../src/projector/projector.ts";
import type { Projector } from "../../src/projector/projector-parts.ts";
import type { View } from "../../src/projector/sink.ts";
import type { SearchDocument, SearchWrite } from "../../src/views/search/search.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import { buildViews } from "../support/build-views.ts";
import { openDumpedSearchReader } from "../support/dumped-readers.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const urns = ["urn:li:tag:a", "urn:li:tag:b", "urn:li:tag:c"];

/** Records of entities in rotation; defects of records are given by position. */
function createLog(count: number, urnOf = (n: number) => urns[n % urns.length] ?? "") {
  const records: LogRecord[] = [];
  const revisions = new Map<string, number>();
  const extend = (more: number) => {
    for (let n = 0; n < more; n++) {
      const urn = urnOf(records.length);
      const at = (revisions.get(urn) ?? -1) + 1;
      revisions.set(urn, at);
      const location = { position: position(records.length + 1), revision: revision(at) };
      records.push({ ...location, stream: entityStream(urn), data: new Uint8Array(4) });
    }
  };
  extend(count);
  return {
    extend,
    readAll: async (from: Position | "end", { limit }: { limit: number }) =>
      records.slice(Number(from), Number(from) + limit),
    head: async () => position(records.length),
    readStream: async (stream: string, from: number | "end", { limit }: { limit: number }) =>
      records.filter((one) => one.stream === stream).slice(Number(from), Number(from) + limit),
    listStreams: async () => [],
  };
}

function createNotes() {
  const kept = new Map<string, ParkingRecord[]>();
  const notes: ParkingStore = {
    load: async (view) => [...(kept.get(view) ?? [])],
    async write(view, record) {
      kept.set(view, [...(kept.get(view) ?? []), record]);
    },
  };
  return { ...notes, kinds: (view: string) => (kept.get(view) ?? []).map(({ kind }) => kind) };
}

interface Defects {
  readonly undecodable: Set<number>;
  readonly unprojectable: Set<number>;
  readonly unfit: Set<number>;
}

const noDefects = (): Defects => ({
  undecodable: new Set(),
  unprojectable: new Set(),
  unfit: new Set(),
});

const decodeWith =
  ({ undecodable }: Defects) =>
  (record: LogRecord): PlacedChange => {
    if (undecodable.has(record.position)) throw new Error("no such schema");
    const { position: at, revision: location, stream } = record;
    return {
      urn: stream.slice("entity-".length),
      ...{ entityType: "tag", aspect: "status", changeType: "UPSERT", value: "{}" },
      created: { time: 0, actor: "urn:li:corpuser:ada" },
      system: { lastObserved: 0, runId: "r", version: "1" },
      ...{ position: at, revision: location, timeseries: false },
    };
  };

type Row = readonly [urn: string, position: number];

/** Positions by entity; a batch is stored as a whole or not at all. */
function createView(name: string, defects: Defects) {
  const rows = new Map<string, Row>();
  let at = position(0);
  const keep = (writes: readonly Row[]) => {
    for (const [, location] of writes)
      if (defects.unfit.has(location)) throw new Error("does not fit");
    for (const row of writes) if (row[1] > at) rows.set(String(row[1]), row);
  };
  const view: View<Row> = {
    name,
    project: (change) => {
      if (defects.unprojectable.has(change.position)) throw new Error("no version");
      return [[change.urn, change.position]];
    },
    sink: {
      async apply(writes, upTo) {
        keep(writes);
        if (upTo > at) at = upTo;
      },
      async restore(urn, writes) {
        const all: Row[] = [];
        for await (const write of writes) all.push(write);
        for (const [, location] of all)
          if (defects.unfit.has(location)) throw new Error("does not fit");
        for (const [key, row] of rows) if (row[0] === urn) rows.delete(key);
        for (const row of all) rows.set(String(row[1]), row);
      },
      position: async () => at,
      async reset() {
        rows.clear();
        at = position(0);
      },
      async close() {},
    },
  };
  const positions = () => [...rows.values()].map(([, location]) => location).sort((a, b) => a - b);
  return { view: view as unknown as View, positions, at: () => at };
}

const running: Projector[] = [];
afterEach(async () => {
  for (const projector of running.splice(0)) await projector.stop();
});

async function start(
  log: ReturnType<typeof createLog>,
  views: readonly View[],
  {
    notes: parkingStore,
    defects,
    batchMax = 7,
  }: { notes: ParkingStore; defects: Defects; batchMax?: number },
): Promise<Projector> {
  const projector = await startProjector({
    ...{ log, views, parkingStore, decode: decodeWith(defects), onProgress: () => {}, batchMax },
    ...{ retryMs: { first: 1, max: 4 }, idleMs: 2 },
  });
  running.push(projector);
  return projector;
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 2 });
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
/** The records of the entity at a position, from that position on. */
const behind = (first: number, count: number) =>
  upTo(count).filter((n) => n >= first && (n - first) % urns.length === 0);

describe.each(["undecodable", "unprojectable", "unfit"] as const)("a record that is %s", (kind) => {
  test("the record is parked with later records of its entity, and all others are applied", async () => {
    const [log, notes, defects] = [createLog(40), createNotes(), noDefects()];
    defects[kind].add(11);
    const one = createView("one", defects);
    const projector = await start(log, [one.view], { notes, defects });
    await soon(() => expect(one.at()).toBe(40));
    expect(one.positions()).toEqual(upTo(40).filter((n) => !behind(11, 40).includes(n)));
    expect(notes.kinds("one")).toEqual(["parked"]);
    expect(projector.progress()).toEqual({ one: { position: 40, parked: 1 } });
  });

  test("a projector that starts later skips the parked records, too", async () => {
    const [log, notes, defects] = [createLog(12), createNotes(), noDefects()];
    defects[kind].add(11);
    const one = createView("one", defects);
    await (await start(log, [one.view], { notes, defects })).stop();
    log.extend(28);
    await start(log, [one.view], { notes, defects });
    await soon(() => expect(one.at()).toBe(40));
    expect(one.positions()).toEqual(upTo(40).filter((n) => !behind(11, 40).includes(n)));
  });

  test("a successful retry applies the record and all later records of its entity", async () => {
    const [log, notes, defects] = [createLog(40), createNotes(), noDefects()];
    defects[kind].add(11);
    const one = createView("one", defects);
    const projector = await start(log, [one.view], { notes, defects });
    await soon(() => expect(one.at()).toBe(40));
    const urn = urns[10 % 3] ?? "";
    expect(await projector.restore([urn], "one")).toHaveLength(1);
    defects[kind].clear();
    expect(await projector.restore([urn], "one")).toEqual([]);
    expect(one.positions()).toEqual(upTo(40));
    expect(notes.kinds("one")).toEqual(["parked", "released"]);
    log.extend(5);
    await soon(() => expect(one.positions()).toEqual(upTo(45)));
  });

  test("a dropped record is skipped alone, also by a rebuilt view", async () => {
    const [log, notes, defects] = [createLog(40), createNotes(), noDefects()];
    defects[kind].add(11);
    const one = createView("one", defects);
    const projector = await start(log, [one.view], { notes, defects });
    await soon(() => expect(one.at()).toBe(40));
    expect(await projector.drop(urns[10 % 3] ?? "", "one")).toEqual([]);
    expect(one.positions()).toEqual(upTo(40).filter((n) => n !== 11));
    const again = createView("one", defects);
    await buildViews({
      log,
      views: [again.view],
      decode: decodeWith(defects),
      parkingStore: notes,
      batchMax: 6,
    });
    expect(again.positions()).toEqual(one.positions());
    await expect(projector.drop("urn:li:tag:z", "one")).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

test("a view is not affected by the parked records of another view", async () => {
  const [log, notes, defects] = [createLog(20), createNotes(), noDefects()];
  defects.unfit.add(4);
  const [other, failing] = [createView("other", noDefects()), createView("failing", defects)];
  await start(log, [other.view, failing.view], { notes, defects: noDefects() });
  await soon(() => expect(other.positions()).toEqual(upTo(20)));
  await soon(() => expect(failing.at()).toBe(20));
  expect(failing.positions()).toEqual(upTo(20).filter((n) => !behind(4, 20).includes(n)));
  expect(notes.kinds("other")).toEqual([]);
});

test("an unavailable store parks nothing", async () => {
  const [log, notes, defects] = [createLog(20), createNotes(), noDefects()];
  const one = createView("one", defects);
  let down = true;
  const { apply } = one.view.sink;
  Object.assign(one.view.sink, {
    apply: (...all: Parameters<typeof apply>) =>
      down ? Promise.reject(new CatalogError("unavailable", "it is down")) : apply(...all),
  });
  const projector = await start(log, [one.view], { notes, defects });
  await soon(() => expect(projector.progress().one?.error).toBe("it is down"));
  down = false;
  await soon(() => expect(one.positions()).toEqual(upTo(20)));
  expect(notes.kinds("one")).toEqual([]);
});

test("a view that cannot apply a thousand entities parks them all and continues", async () => {
  const many = 1_100;
  const [log, notes, defects] = [
    createLog(many, (n) => `urn:li:tag:${n}`),
    createNotes(),
    noDefects(),
  ];
  for (const at of upTo(many - 1)) defects.unfit.add(at);
  const one = createView("one", defects);
  const projector = await start(log, [one.view], { notes, defects, batchMax: 500 });
  await soon(() => expect(one.positions()).toEqual([many]));
  expect(notes.kinds("one")).toHaveLength(many - 1);
  expect(projector.progress().one).toMatchObject({ parked: many - 1 });
});

test("an entity that a view cannot fold is parked and omitted, and the view continues", async () => {
  using directory = temporaryDirectory("annals-parking");
  const path = join(directory.path, "search.sqlite");
  const [log, notes] = [createLog(12), createNotes()];
  const [unfoldable = "", ...others] = urns;
  const view = createDocumentView<SearchWrite>({
    name: "one",
    states: {
      position: log.head,
      getEntities: async (all) => all.map(unknownEntity),
      close: async () => {},
    },
    sink: openSqliteSearchSink({ path }),
    fold({ urn }, _type, at) {
      if (urn === unfoldable) throw new TypeError("function is not iterable");
      const document = { urn, entityType: "tag", values: { name: [urn] }, texts: [] };
      return { op: "put", position: at, urn, document };
    },
  }) as View;
  const parts = { notes, defects: noDefects(), batchMax: 5 };
  const projector = await start(log, [view], parts);
  await soon(() => expect(projector.progress()).toEqual({ one: { position: 12, parked: 1 } }));
  const whole = { kind: "parked", urn: unfoldable, aspect: "" };
  expect((await notes.load("one")).at(-1)).toMatchObject(whole);
  expect(await projector.restore([unfoldable], "one")).toHaveLength(1);
  expect(await projector.drop(unfoldable, "one")).toEqual([]);
  expect(projector.progress()).toEqual({ one: { position: 12 } });
  await projector.stop();
  const later = await start(log, [view], parts);
  log.extend(3);
  await soon(() => expect(later.progress()).toEqual({ one: { position: 15, parked: 1 } }));
  await later.stop();
  await view.sink.close();
  const reader = openDumpedSearchReader(path);
  const found = (await Array.fromAsync(reader.dump())).flat();
  await reader.close();
  for (const urn of others) expect(JSON.stringify(found)).toContain(urn);
  expect(JSON.stringify(found)).not.toContain(unfoldable);
});

test("a document without a failing value is stored after the value is listed as parked, until it is dropped", async () => {
  using directory = temporaryDirectory("annals-parking");
  const path = join(directory.path, "search.sqlite");
  const [log, notes] = [createLog(12), createNotes()];
  const [unfoldable = ""] = urns;
  const failed = { aspect: "status", version: 3, error: new Error("no such value") };
  let down = true;
  const write: ParkingStore["write"] = (view, record) =>
    down
      ? Promise.reject(new CatalogError("unavailable", "it is down"))
      : notes.write(view, record);
  const view = createDocumentView<SearchWrite>({
    name: "one",
    states: {
      position: log.head,
      getEntities: async (all) => all.map(unknownEntity),
      close: async () => {},
    },
    sink: openSqliteSearchSink({ path }),
    make: (write) => write.op === "put" && write.document,
    fold({ urn }, _type, at, _latest, policy) {
      const document = { urn, entityType: "tag", values: { name: [urn] }, texts: [] };
      return {
        ...{ op: "put", position: at, urn },
        get document() {
          const fails = urn === unfoldable && policy?.omits("status", 3) === false;
          policy?.reportFailed(fails ? [failed] : []);
          return document;
        },
      };
    },
  }) as View;
  const parts = { notes: { ...notes, write }, defects: noDefects(), batchMax: 5 };
  const projector = await start(log, [view], parts);
  await soon(() => expect(projector.progress().one?.error).toBe("it is down"));
  expect(await view.sink.position()).toBe(0);
  down = false;
  await soon(() => expect(projector.progress()).toEqual({ one: { position: 12, parked: 1 } }));
  const listed = { kind: "parked", urn: unfoldable, aspect: "status", version: 3 };
  expect(await notes.load("one")).toMatchObject([listed]);
  expect(await projector.restore([unfoldable], "one")).toEqual([]);
  expect(projector.progress()).toEqual({ one: { position: 12, parked: 1 } });
  expect(await projector.drop(unfoldable, "one")).toEqual([]);
  expect(projector.progress()).toEqual({ one: { position: 12 } });
  expect(notes.kinds("one")).toEqual(["parked", "dropped", "released"]);
  await projector.stop();
  await view.sink.close();
});

test("documents that are created lazily are parked like those of a batch", async () => {
  const parkedBy = async (later: boolean, unfit: ReadonlySet<string>, batchMax: number) => {
    using directory = temporaryDirectory("annals-parking");
    const path = join(directory.path, "search.sqlite");
    const [log, notes] = [createLog(60, (n) => `urn:li:tag:${(n * n) % 23}`), createNotes()];
    const documentOf = (urn: string): SearchDocument => {
      if (unfit.has(urn)) throw new Error("no such value");
      return { urn, entityType: "tag", values: { name: [urn] }, texts: [] };
    };
    const view = createDocumentView<SearchWrite>({
      name: "one",
      states: {
        position: log.head,
        getEntities: async (urns) => urns.map(unknownEntity),
        close: async () => {},
      },
      sink: openSqliteSearchSink({ path }),
      fold({ urn }, _type, at) {
        const put = { op: "put", position: at, urn } as const;
        if (!later) return { ...put, document: documentOf(urn) };
        return {
          ...put,
          get document() {
            return documentOf(urn);
          },
        };
      },
    }) as View;
    const projector = await start(log, [view], { notes, defects: noDefects(), batchMax });
    await soon(() => expect(projector.progress().one?.position).toBe(60));
    const retried = await projector.restore([...unfit], "one");
    await projector.stop();
    await view.sink.close();
    const reader = openDumpedSearchReader(path);
    const rows = await Array.fromAsync(reader.dump());
    await reader.close();
    const parked = (await notes.load("one")).map(({ time: _, ...record }) => record);
    return { rows, parked, retried };
  };
  const some = fc.uniqueArray(fc.integer({ min: 0, max: 22 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(some, fc.integer({ min: 1, max: 60 }), async (numbers, batchMax) => {
      const unfit = new Set(numbers.map((n) => `urn:li:tag:${n}`));
      const later = await parkedBy(true, unfit, batchMax);
      expect(later).toEqual(await parkedBy(false, unfit, batchMax));
      const all = new Set(upTo(60).map((n) => `urn:li:tag:${((n - 1) * (n - 1)) % 23}`));
      expect(new Set(later.parked.map(({ urn }) => urn))).toEqual(unfit.intersection(all));
    }),
    { numRuns: 10 },
  );
});

test("a view that followed the log and a rebuilt view are equal, whatever records are parked", async () => {
  const some = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      some,
      some,
      some,
      fc.integer({ min: 1, max: 25 }),
      async (a, b, c, batchMax) => {
        const [log, notes] = [createLog(60), createNotes()];
        const defects = { undecodable: new Set(a), unprojectable: new Set(b), unfit: new Set(c) };
        const one = createView("one", defects);
        const projector = await start(log, [one.view], { notes, defects, batchMax });
        await soon(() => expect(projector.progress().one?.position).toBe(60));
        await projector.stop();
        const again = createView("one", defects);
        await buildViews({
          log,
          views: [again.view],
          decode: decodeWith(defects),
          parkingStore: notes,
          batchMax: 9,
        });
        expect(again.positions()).toEqual(one.positions());
        // A view built without earlier parking records is equal, too.
        const alone = createView("one", defects);
        const parts = {
          log,
          views: [alone.view],
          decode: decodeWith(defects),
          notes: createNotes(),
        };
        await buildViews({ ...parts, batchMax: 13 });
        expect(alone.positions()).toEqual(one.positions());
      },
    ),
    { numRuns: 25 },
  );
});
