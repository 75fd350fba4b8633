/** Reading and following changes (src/catalog/changes/changes.ts): limits of a page, unavailable views. */
import { beforeEach, describe, expect, test } from "vitest";
import { createAddresses } from "../../src/catalog/address.ts";
import type { ChangePage, ChangesFilter } from "../../src/catalog/catalog.ts";
import { createChanges } from "../../src/catalog/changes/changes.ts";
import { createPoll } from "../../src/catalog/changes/poll.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { unknownEntity } from "../../src/core/entity-state.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { type Position, position, revision, START } from "../../src/core/position.ts";
import {
  entityStream,
  JOBS,
  parseStream,
  timeseriesStream,
  truncationStream,
} from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import { createChance } from "../fuzz/chance.ts";
import { defaultModel as model } from "../model/default-model.ts";

const TAG = "urn:li:tag:a";
const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";

let records: LogRecord[];
let streams: Map<string, LogRecord[]>;
let changes: Map<Position, Partial<PlacedChange>>;
let decoded: number;
let scanned: number;
let aspectsAt: Position;
let away: boolean;

beforeEach(() => {
  records = [];
  streams = new Map();
  changes = new Map();
  decoded = 0;
  scanned = 0;
  aspectsAt = position(1_000_000);
  away = false;
});

function append(stream: string, change: Partial<PlacedChange> = {}): void {
  const at = position(records.length + 1);
  const own = streams.get(stream) ?? [];
  const record = { position: at, stream, revision: revision(own.length), data: new Uint8Array(1) };
  own.push(record);
  streams.set(stream, own);
  records.push(record);
  changes.set(at, change);
}

/** `onHead` is called before each read of the head of the log. */
const open = (onHead = () => {}) =>
  createChanges({
    model,
    addresses: createAddresses(model, {
      namespace: "li",
      limits: { bytesMax: 1_000, schemaFieldBytesMax: 1_000 },
    }),
    log: {
      async head() {
        onHead();
        return position(records.length);
      },
      async readAll(from, { limit, backward }) {
        const end = from === "end" ? records.length + 1 : Number(from);
        const page = backward
          ? records.slice(Math.max(0, end - 1 - limit), Math.max(0, end - 1)).toReversed()
          : records.slice(Number(from), Number(from) + limit);
        scanned += page.length;
        return page;
      },
      async readStream(stream, from, { limit, backward }) {
        const own = streams.get(stream) ?? [];
        if (backward) return own.toReversed().slice(0, limit);
        return own.slice(Number(from), Number(from) + limit);
      },
      async *tail(after, signal) {
        for (let at: number = after; !signal.aborted && at < records.length; at += 700) {
          yield records.slice(at, at + 700);
        }
      },
    },
    decode(record) {
      decoded++;
      const change = changes.get(record.position);
      if (change?.aspect === "damaged") throw new CatalogError("unreadable", "damaged");
      const urn = record.stream.includes("tag") ? TAG : DATASET;
      return {
        ...{ urn, entityType: urn.split(":")[2] ?? "", aspect: "status", changeType: "UPSERT" },
        ...{ value: "{}", created: { time: 1, actor: "urn:li:corpuser:a" } },
        ...{ system: { lastObserved: 1, runId: "r", lastRunId: "q", version: "2" } },
        ...{ position: record.position, revision: record.revision, timeseries: false },
        ...change,
      };
    },
    history: {
      position: async () => aspectsAt,
      getEntities: async (urns) => urns.map(unknownEntity),
      findValue: async (_urn, _aspect, version) => ({
        ...{ version, value: `{"version":${version}}`, time: 1, actor: "a" },
        system: '{"lastObserved":1,"runId":"q"}',
      }),
    },
    async reached(wanted) {
      if (away || wanted > aspectsAt) throw new CatalogError("unavailable", "it takes too long");
    },
  });

const positionsOf = (page: Pick<ChangePage, "changes">) =>
  page.changes.map(({ change }) => Number(change.position));

describe("a page of changes", () => {
  test("a page ends after 50,000 scanned records and returns its position", async () => {
    for (let n = 0; n < 60_000; n++) append(JOBS);
    append(entityStream(TAG));
    const { readChanges } = open();
    const first = await readChanges({});
    expect(first).toMatchObject({ changes: [], position: 50_000, end: false });
    const second = await readChanges({ after: first.position });
    expect({ ...second, changes: positionsOf(second) }).toEqual({
      ...{ changes: [60_001], position: 60_001, end: true },
    });
  });

  test("a page has at most some megabytes of values, and at least one change", async () => {
    const value = JSON.stringify("x".repeat(5_000_000));
    for (let n = 0; n < 4; n++) append(entityStream(TAG), { value });
    const { readChanges } = open();
    const page = await readChanges({ limit: 1_000 });
    expect({ ...page, changes: positionsOf(page) }).toEqual({
      ...{ changes: [1, 2], position: 2, end: false },
    });
    changes.set(position(3), { value: JSON.stringify("x".repeat(15_000_000)) });
    expect(positionsOf(await readChanges({ after: position(2) }))).toEqual([3]);
  });

  test("pages before a position return the newest changes first, down to the start of the log", async () => {
    for (let n = 0; n < 3; n++) append(entityStream(TAG));
    append(JOBS);
    const { readChanges } = open();
    const latest = await readChanges({ before: "end", limit: 2, previous: true });
    expect({ ...latest, changes: positionsOf(latest) }).toEqual({
      ...{ changes: [3, 2], position: 2, end: false },
    });
    const earlier = await readChanges({ before: latest.position, limit: 2 });
    expect({ ...earlier, changes: positionsOf(earlier) }).toEqual({
      ...{ changes: [1], position: 0, end: true },
    });
    await expect(readChanges({ before: position(9) })).rejects.toThrow("is not in the log");
  });

  test("a page before a position ends after 50,000 scanned records", async () => {
    append(entityStream(TAG));
    for (let n = 0; n < 60_000; n++) append(JOBS);
    const { readChanges } = open();
    const first = await readChanges({ before: "end" });
    expect(first).toMatchObject({ changes: [], position: 10_002, end: false });
    expect(positionsOf(await readChanges({ before: first.position }))).toEqual([1]);
  });

  test("a page before a position ends at an unreadable record, and names the way past it", async () => {
    append(entityStream(TAG));
    append(entityStream(TAG), { aspect: "damaged" });
    append(entityStream(TAG));
    const { readChanges } = open();
    const latest = await readChanges({ before: "end" });
    expect({ ...latest, changes: positionsOf(latest) }).toEqual({
      ...{ changes: [3], position: 3, end: false },
    });
    await expect(readChanges({ before: position(3) })).rejects.toMatchObject({
      code: "unreadable",
      hint: "To skip it, continue before 2",
    });
    expect(positionsOf(await readChanges({ before: position(2) }))).toEqual([1]);
  });

  test("a page decodes only the records that its filter may select", async () => {
    append(entityStream(TAG));
    append(entityStream(DATASET), { aspect: "datasetProperties" });
    append(timeseriesStream(DATASET, "datasetProfile"), {
      ...{ timeseries: true, aspect: "datasetProfile" },
    });
    append(truncationStream("dataset", "datasetProfile"));
    append(JOBS);
    const { readChanges } = open();
    const asked = async (query: Parameters<typeof readChanges>[0]) => {
      decoded = 0;
      return [positionsOf(await readChanges(query)), decoded];
    };
    expect(await asked({})).toEqual([[1, 2, 3], 3]);
    expect(await asked({ urns: [TAG] })).toEqual([[1], 1]);
    expect(await asked({ entityTypes: ["dataset"] })).toEqual([[2, 3], 2]);
    expect(await asked({ aspects: ["datasetProperties"] })).toEqual([[2], 2]);
    expect(await asked({ aspects: [] })).toEqual([[], 2]);
    expect(await asked({ kind: "versioned" })).toEqual([[1, 2], 3]);
    expect(await asked({ kind: "timeseries" })).toEqual([[3], 3]);
  });

  test("a page with previous values waits for the aspect view, and fails if the view stays unavailable", async () => {
    append(entityStream(TAG));
    const { readChanges } = open();
    const [first] = (await readChanges({ previous: true })).changes;
    expect(first?.previous).toEqual({
      ...{ value: '{"version":1}', system: { lastObserved: 1, runId: "q" } },
    });
    away = true;
    await expect(readChanges({ previous: true })).rejects.toMatchObject({ code: "unavailable" });
    expect(positionsOf(await readChanges({}))).toEqual([1]);
  });

  test("a page never skips an unreadable record", async () => {
    append(entityStream(TAG));
    append(entityStream(TAG), { aspect: "damaged" });
    const { readChanges } = open();
    expect(positionsOf(await readChanges({ limit: 1 }))).toEqual([1]);
    await expect(readChanges({ after: position(1) })).rejects.toThrow("damaged");
  });
});

test("a poll of timeseries events reads each record of the log once", async () => {
  for (let n = 0; n < 60_000; n++) append(entityStream(TAG));
  append(timeseriesStream(DATASET, "datasetProfile"), { timeseries: true });
  const poll = createPoll({ changes: open() } as Parameters<typeof createPoll>[0]);
  const query = { kind: "timeseries", after: START, limit: 10, waitMs: 0 } as const;
  const page = await poll(query, {});
  expect([positionsOf(page), Number(page.position)]).toEqual([[60_001], 60_001]);
  expect([scanned, decoded]).toEqual([60_001, 60_001]);
});

describe("a page of changes of some entities", () => {
  const datasetStreams = [
    entityStream(DATASET),
    timeseriesStream(DATASET, "datasetProfile"),
    timeseriesStream(DATASET, "operation"),
  ];

  /** A log with changes of two entities among other records, in random order. */
  function appendRandomly(): void {
    const chance = createChance(36);
    for (let n = 0; n < 600; n++) {
      const stream = [...datasetStreams, entityStream(TAG), JOBS, JOBS][chance.int(6)] ?? JOBS;
      const aspect = parseStream(stream);
      if (aspect?.kind === "timeseries") {
        append(stream, { aspect: aspect.aspect, timeseries: true });
      } else {
        const changeType = chance.int(4) === 0 ? "RESTATE" : "UPSERT";
        append(stream, { aspect: ["status", "ownership"][chance.int(2)] ?? "", changeType });
      }
    }
  }

  const filters: readonly Partial<ChangesFilter>[] = [
    { urns: [DATASET] },
    { urns: [TAG] },
    { urns: [TAG, DATASET] },
    { urns: [DATASET], aspects: ["ownership"] },
    { urns: [DATASET], aspects: ["operation", "status"] },
    { urns: [DATASET], aspects: ["datasetProfile"] },
    { urns: [DATASET], entityTypes: ["tag"] },
    { urns: [] },
  ];
  /** More urns than are read from their streams: the same entities, and some without changes. */
  const scanning = ({ urns = [], ...filter }: Partial<ChangesFilter>): ChangesFilter => ({
    ...filter,
    urns: [...urns, ...Array.from({ length: 11 }, (_, n) => `urn:li:tag:none${n}`)],
  });

  test.each(filters)(
    "a page of %j equals the page of a scan, from any position",
    async (filter) => {
      appendRandomly();
      const { readChanges } = open();
      for (const after of [0, 1, 7, 250, 251, 599, 600].map(position)) {
        for (const limit of [1, 13, 1_000]) {
          const page = await readChanges({ ...filter, after, limit });
          expect(page).toEqual(await readChanges({ ...scanning(filter), after, limit }));
        }
      }
    },
  );

  test.each(filters)("the pages of %j have the same changes as a scan", async (filter) => {
    appendRandomly();
    const { readChanges } = open();
    const found: number[] = [];
    for (let page = await readChanges({ ...filter, limit: 7 }); ; ) {
      found.push(...positionsOf(page));
      if (page.end) break;
      page = await readChanges({ ...filter, limit: 7, after: page.position });
    }
    expect(found).toEqual(positionsOf(await readChanges({ ...scanning(filter), limit: 1_000 })));
  });

  test("a page of some entities does not scan the log", async () => {
    append(entityStream(TAG));
    for (let n = 0; n < 5_000; n++) append(JOBS);
    append(entityStream(TAG));
    const { readChanges, followChanges } = open();
    expect(positionsOf(await readChanges({ urns: [TAG] }))).toEqual([1, 5_002]);
    expect(positionsOf(await readChanges({ urns: [TAG], after: position(9) }))).toEqual([5_002]);
    const query = { urns: [TAG], after: position(0) };
    const followed: unknown[] = [];
    for await (const page of await followChanges(query, new AbortController().signal)) {
      followed.push([positionsOf(page), Number(page.position)]);
    }
    expect(followed).toEqual([
      [[], 0],
      [[1, 5_002], 5_002],
    ]);
    expect(scanned).toBeLessThan(5);
  });

  test("a page of some entities ends before an unreadable record, and the next page fails", async () => {
    append(entityStream(TAG));
    append(JOBS);
    append(entityStream(DATASET), { aspect: "damaged" });
    append(entityStream(TAG), { aspect: "damaged" });
    append(entityStream(TAG));
    const { readChanges } = open();
    const page = await readChanges({ urns: [TAG] });
    expect([positionsOf(page), page.end]).toEqual([[1], false]);
    const next = readChanges({ urns: [TAG], after: page.position });
    await expect(next).rejects.toThrow("damaged");
    const rest = await readChanges({ urns: [TAG], after: position(4) });
    expect(positionsOf(rest)).toEqual([5]);
  });
});

test.each([{ urns: [TAG] }, {}])(
  "the pages of %j end although others write during each page",
  async (filter) => {
    for (let n = 0; n < 30; n++) append(entityStream(TAG));
    const { readChanges } = open(() => append(JOBS));
    let page = await readChanges({ ...filter, limit: 20 });
    expect([page.changes.length, page.end]).toEqual([20, false]);
    page = await readChanges({ ...filter, limit: 20, after: page.position });
    expect([page.changes.length, page.end]).toEqual([10, true]);
  },
);

describe("a subscriber to changes", () => {
  test("a subscriber gets the start position first, and later positions without changes", async () => {
    for (let n = 0; n < 1_000; n++) append(JOBS);
    append(entityStream(TAG));
    const pages = await open().followChanges({ after: position(10) }, new AbortController().signal);
    const pagesSeen: unknown[] = [];
    for await (const page of pages) pagesSeen.push([positionsOf(page), Number(page.position)]);
    expect(pagesSeen).toEqual([
      [[], 10],
      [[], 510],
      [[], 710],
      [[1_001], 1_001],
    ]);
  });

  test("a subscriber waits while the aspect view is unavailable, and then gets the change", async () => {
    append(entityStream(TAG));
    away = true;
    const ending = new AbortController();
    const query = { after: position(0), previous: true };
    const pages = (await open().followChanges(query, ending.signal))[Symbol.asyncIterator]();
    await pages.next();
    const next = pages.next();
    setTimeout(() => {
      away = false;
    }, 300);
    expect((await next).value.changes[0].previous.value).toBe('{"version":1}');
  });

  test("a subscriber that disconnects does not wait for an unavailable view", async () => {
    append(entityStream(TAG));
    away = true;
    const ending = new AbortController();
    const query = { after: position(0), previous: true };
    const pages = (await open().followChanges(query, ending.signal))[Symbol.asyncIterator]();
    await pages.next();
    const next = pages.next();
    setTimeout(() => ending.abort(), 50);
    await expect(next).rejects.toThrow();
  });
});
