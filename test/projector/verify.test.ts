/** The parts of verification that need no service (src/projector/verify/). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import type { HistoryLog } from "../../src/projector/history.ts";
import { areEqual, differencesOf, inOrder } from "../../src/projector/verify/differences.ts";
import { comesBefore, entitiesOf } from "../../src/projector/verify/entities/log-entities.ts";
import { differencesMax, type Verified } from "../../src/projector/verify/verified-state.ts";
import type { Row, RowShape } from "../../src/projector/verify/view-rows.ts";
import { openSqliteVerifiedState } from "../../src/storage/sqlite/sqlite-verified-state.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe("the entities of a log", () => {
  test("entities are in the order of the bytes of their urns, each once with its streams", async () => {
    const [astral, high] = ["urn:li:tag:\u{1f41f}", "urn:li:tag:\uffee"];
    const streams = [
      ...[entityStream("urn:li:tag:b"), entityStream(astral), entityStream(high)],
      ...[timeseriesStream("urn:li:tag:a", "use"), timeseriesStream("urn:li:tag:b", "use")],
      ...[timeseriesStream(astral, "visits"), timeseriesStream(high, "visits"), "jobs"],
    ].sort(byBytes);
    const log: HistoryLog = {
      readStream: async () => [],
      listStreams: async (prefix, { after = "", limit }) =>
        streams
          .filter((name) => name.startsWith(prefix) && byBytes(name, after) > 0)
          .slice(0, limit),
    };
    expect((await Array.fromAsync(entitiesOf(log, 3))).flat()).toEqual([
      { urn: "urn:li:tag:a", streams: ["timeseries-use-urn:li:tag:a"] },
      {
        urn: "urn:li:tag:b",
        streams: ["entity-urn:li:tag:b", "timeseries-use-urn:li:tag:b"],
      },
      { urn: high, streams: [entityStream(high), timeseriesStream(high, "visits")] },
      { urn: astral, streams: [entityStream(astral), timeseriesStream(astral, "visits")] },
    ]);
  });

  test("urns are ordered as their UTF-8 bytes", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 6 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(comesBefore(a, b)).toBe(byBytes(a, b) < 0);
      }),
    );
  });
});

const shape: RowShape = { names: ["aspect", "version", "place", "text"], keys: 2, order: [2] };
const of = { view: "aspects", urn: "urn:li:tag:a", shape };

describe("rows", () => {
  const first: Row = ["status", 1, 10, "x"];
  const second: Row = ["status", 2, 20, "y"];

  test("rows in any order of a store are equal", () => {
    expect(areEqual(inOrder([second, first], shape), [first, second])).toBe(true);
    expect(areEqual([first], [first, second])).toBe(false);
    expect(areEqual([first], [["status", 1, 10, "z"]])).toBe(false);
  });

  test("missing, unexpected and different rows are reported with their differing values", () => {
    const changed: Row = ["status", 2, 20, "other"];
    const added: Row = ["status", 3, 30, null];
    expect(differencesOf(of, [changed, added], [first, second])).toEqual([
      { ...own("missing"), should: "version 1, place 10, text x" },
      { ...own("different"), there: "version 2, text other", should: "version 2, text y" },
      { ...own("unexpected"), there: "version 3, place 30" },
    ]);
  });

  test("long rows are abbreviated", () => {
    const [difference] = differencesOf(of, [], [["status", 1, 10, "x".repeat(10_000)]]);
    expect(difference?.should?.length).toBeLessThan(300);
  });

  test("long values are shown where they differ", () => {
    const long = (text: string): Row => [
      "status",
      1,
      10,
      `${"x".repeat(500)}${text}${"y".repeat(500)}`,
    ];
    const [difference] = differencesOf(of, [long("WRONG")], [long("RIGHT")]);
    const x = "x".repeat(30);
    expect(difference?.there).toMatch(new RegExp(`^version 1, text …${x}WRONGy{65}…$`));
    expect(difference?.should).toMatch(new RegExp(`^version 1, text …${x}RIGHTy{65}…$`));
    const [cut] = differencesOf(of, [["status", 1, 10, "x".repeat(500)]], [long("")]);
    expect([cut?.there, cut?.should]).toEqual([
      `version 1, text …${x}`,
      expect.stringMatching(`^version 1, text …${x}y{70}…$`),
    ]);
  });

  test("a row with an unpaired surrogate equals the row that a store makes of it", () => {
    const half: Row = ["status", 1, 10, "\ud83d"];
    expect(differencesOf(of, [["status", 1, 10, "\ufffd"]], [half])).toEqual([]);
  });
});

const own = (kind: string) => ({ view: "aspects", urn: "urn:li:tag:a", aspect: "status", kind });

describe("the stored results of verifications", () => {
  const made = { log: "one", model: "m" };
  const verified = (over: Partial<Verified> = {}): Verified => ({
    ...{ view: "graph", position: position(7), rows: 5, time: 1_000, full: undefined },
    whole: undefined,
    ...{ count: 0, differences: [], ...over },
  });

  test("results belong to one log and one model", () => {
    const state = openSqliteVerifiedState(":memory:", made);
    expect(state.load()).toEqual({});
    state.save([verified({ full: { position: position(3), time: 900 } })]);
    expect(state.load()).toEqual({
      graph: {
        ...{ view: "graph", position: 7, rows: 5, time: 1_000, count: 0 },
        ...{ full: { position: 3, time: 900 }, whole: undefined },
      },
    });
    state.close();
  });

  test("a file of an earlier release is read and written", () => {
    using directory = temporaryDirectory("annals-verify");
    const path = join(directory.path, "verify.sqlite");
    const database = new DatabaseSync(path);
    database.exec(`
      CREATE TABLE verified (
        view TEXT PRIMARY KEY, log TEXT NOT NULL, model TEXT NOT NULL, position INTEGER NOT NULL,
        rows INTEGER NOT NULL, time INTEGER NOT NULL, full_position INTEGER, full_time INTEGER,
        differences INTEGER NOT NULL
      ) STRICT;
      INSERT INTO verified VALUES ('graph', 'one', 'm', 7, 5, 1000, NULL, NULL, 0)`);
    database.close();
    const state = openSqliteVerifiedState(path, made);
    expect(state.load().graph).toMatchObject({ position: 7, whole: undefined });
    state.save([verified({ rows: 6 })]);
    expect(state.load().graph).toMatchObject({ rows: 6 });
    state.close();
  });

  test("a damaged page is reported with the file and a remedy", () => {
    using directory = temporaryDirectory("annals-verify");
    const path = join(directory.path, "verify.sqlite");
    const state = openSqliteVerifiedState(path, made);
    state.save([verified()]);
    state.close();
    damageTables(path);
    const damaged = openSqliteVerifiedState(path, made);
    const error = expect.objectContaining({
      code: "unavailable",
      message: expect.stringMatching(/verify\.sqlite" cannot be used: .*malformed/),
      hint: "Delete the file: the next verification creates it again",
    });
    expect(() => damaged.load()).toThrow(error);
    expect(() => damaged.list({ start: 0, count: 5 })).toThrow(error);
    expect(() => damaged.save([verified()])).toThrow(error);
    damaged.close();
  });

  test("all differences are counted, and the first ones listed", () => {
    const state = openSqliteVerifiedState(":memory:", made);
    const one = { view: "graph", urn: "urn:li:tag:a", aspect: "", kind: "missing" } as const;
    state.save([verified({ count: 1, differences: [one] })]);
    expect(state.load().graph).toMatchObject({ count: 1 });
    const many = Array.from({ length: differencesMax + 5 }, () => one);
    state.save([verified({ count: many.length, differences: many })]);
    expect(state.load().graph).toMatchObject({ count: differencesMax + 5 });
    expect(state.list({ start: 9_999, count: 20 })).toEqual({
      total: differencesMax + 5,
      differences: [one],
    });
    state.save([verified({ count: 1, differences: [{ ...one, urn: "", there: "nothing" }] })]);
    expect(state.list({ view: "graph", start: 0, count: 5 }).differences).toEqual([
      { ...one, urn: "", there: "nothing" },
    ]);
    expect(state.list({ view: "search", start: 0, count: 5 })).toEqual({
      ...{ total: 0, differences: [] },
    });
    state.close();
  });
});

/** Overwrites the first page of each table and index; the schema stays readable. */
function damageTables(path: string): void {
  const database = new DatabaseSync(path);
  const roots = database.prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0").all();
  const size = Number(database.prepare("PRAGMA page_size").get()?.page_size);
  database.close();
  const bytes = readFileSync(path);
  for (const { rootpage } of roots)
    bytes.fill(0xff, (Number(rootpage) - 1) * size, Number(rootpage) * size);
  writeFileSync(path, bytes);
}
