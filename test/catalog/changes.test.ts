/** Following the log (src/catalog/changes.ts): bounds of a page, and views that are away. */
import { beforeEach, describe, expect, test } from "vitest";
import { createAddresses } from "../../src/catalog/address.ts";
import type { ToldChanges } from "../../src/catalog/catalog.ts";
import { createChanges } from "../../src/catalog/changes.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import { entityStream, JOBS, timeseriesStream, truncationStream } from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import { defaultModel as model } from "../model/default-model.ts";

const TAG = "urn:li:tag:a";
const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";

let records: LogRecord[];
let changes: Map<Position, Partial<PlacedChange>>;
let decoded: number;
let aspectsAt: Position;
let away: boolean;

beforeEach(() => {
  records = [];
  changes = new Map();
  decoded = 0;
  aspectsAt = position(1_000_000);
  away = false;
});

function append(stream: string, change: Partial<PlacedChange> = {}): void {
  const at = position(records.length + 1);
  records.push({ position: at, stream, revision: revision(at), data: new Uint8Array(1) });
  changes.set(at, change);
}

const open = () =>
  createChanges({
    model,
    addresses: createAddresses(model, {
      namespace: "li",
      limits: { bytesMax: 1_000, schemaFieldBytesMax: 1_000 },
    }),
    log: {
      head: async () => position(records.length),
      readAll: async (from, { limit }) => records.slice(Number(from), Number(from) + limit),
      async *tail(after, signal) {
        for (let at: number = after; !signal.aborted && at < records.length; at += 700) {
          yield records.slice(at, at + 700);
        }
      },
    },
    decode(record) {
      decoded++;
      const told = changes.get(record.position);
      if (told?.aspect === "damaged") throw new CatalogError("unreadable", "damaged");
      const urn = record.stream.includes("tag") ? TAG : DATASET;
      return {
        ...{ urn, entityType: urn.split(":")[2] ?? "", aspect: "status", changeType: "UPSERT" },
        ...{ value: "{}", created: { time: 1, actor: "urn:li:corpuser:a" } },
        ...{ system: { lastObserved: 1, runId: "r", lastRunId: "q", version: "2" } },
        ...{ position: record.position, revision: record.revision, timeseries: false },
        ...told,
      };
    },
    history: {
      position: async () => aspectsAt,
      findValue: async (_urn, _aspect, version) => ({
        ...{ version, value: `{"version":${version}}`, time: 1, actor: "a" },
        system: '{"lastObserved":1,"runId":"q"}',
      }),
    },
    async reached(wanted) {
      if (away || wanted > aspectsAt) throw new CatalogError("unavailable", "it takes too long");
    },
  });

const placesOf = (page: Pick<ToldChanges, "changes">) =>
  page.changes.map(({ change }) => Number(change.position));

describe("a page", () => {
  test("ends after so many records that were looked at, and tells where", async () => {
    for (let n = 0; n < 60_000; n++) append(JOBS);
    append(entityStream(TAG));
    const { readChanges } = open();
    const first = await readChanges({});
    expect(first).toMatchObject({ changes: [], position: 50_000, end: false });
    const second = await readChanges({ after: first.position });
    expect({ ...second, changes: placesOf(second) }).toEqual({
      ...{ changes: [60_001], position: 60_001, end: true },
    });
  });

  test("has some megabytes of values at most, and one change at least", async () => {
    const value = JSON.stringify("x".repeat(5_000_000));
    for (let n = 0; n < 4; n++) append(entityStream(TAG), { value });
    const { readChanges } = open();
    const page = await readChanges({ limit: 1_000 });
    expect({ ...page, changes: placesOf(page) }).toEqual({
      ...{ changes: [1, 2], position: 2, end: false },
    });
    changes.set(position(3), { value: JSON.stringify("x".repeat(15_000_000)) });
    expect(placesOf(await readChanges({ after: position(2) }))).toEqual([3]);
  });

  test("reads no more of records than it must to know that they are not asked for", async () => {
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
      return [placesOf(await readChanges(query)), decoded];
    };
    expect(await asked({})).toEqual([[1, 2, 3], 3]);
    expect(await asked({ urns: [TAG] })).toEqual([[1], 1]);
    expect(await asked({ entityTypes: ["dataset"] })).toEqual([[2, 3], 2]);
    expect(await asked({ aspects: ["datasetProperties"] })).toEqual([[2], 2]);
    expect(await asked({ aspects: [] })).toEqual([[], 2]);
  });

  test("that the values before are wanted in waits for them, and is refused when they stay away", async () => {
    append(entityStream(TAG));
    const { readChanges } = open();
    const [told] = (await readChanges({ previous: true })).changes;
    expect(told?.previous).toEqual({
      ...{ value: '{"version":1}', system: { lastObserved: 1, runId: "q" } },
    });
    away = true;
    await expect(readChanges({ previous: true })).rejects.toMatchObject({ code: "unavailable" });
    expect(placesOf(await readChanges({}))).toEqual([1]);
  });

  test("never passes over what cannot be read", async () => {
    append(entityStream(TAG));
    append(entityStream(TAG), { aspect: "damaged" });
    const { readChanges } = open();
    expect(placesOf(await readChanges({ limit: 1 }))).toEqual([1]);
    await expect(readChanges({ after: position(1) })).rejects.toThrow("damaged");
  });
});

describe("who follows", () => {
  test("is told the place first, and later places where there is nothing", async () => {
    for (let n = 0; n < 1_000; n++) append(JOBS);
    append(entityStream(TAG));
    const pages = await open().followChanges({ after: position(10) }, new AbortController().signal);
    const told: unknown[] = [];
    for await (const page of pages) told.push([placesOf(page), Number(page.position)]);
    expect(told).toEqual([
      [[], 10],
      [[], 510],
      [[], 710],
      [[1_001], 1_001],
    ]);
  });

  test("waits while the aspect view is away, and is told then", async () => {
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

  test("is not held by a view that is away when it leaves", async () => {
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
