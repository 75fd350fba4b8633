/** The parts of verification that no service is needed for (src/projector/verify/). */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import type { HistoryLog } from "../../src/projector/history.ts";
import { openSqliteVerifiedState } from "../../src/projector/sqlite/sqlite-verified-state.ts";
import { bearsOnMany } from "../../src/projector/verify/bearings.ts";
import { areEqual, differencesOf, inOrder } from "../../src/projector/verify/differences.ts";
import { comesBefore, entitiesOf } from "../../src/projector/verify/log-entities.ts";
import {
  addRows,
  addSums,
  bucketOf,
  createRowHash,
  hashed,
  hashText,
  noSums,
  subtractSums,
  unlikeBuckets,
} from "../../src/projector/verify/row-sums.ts";
import { differencesMax, type Verified } from "../../src/projector/verify/verified-state.ts";
import type { Row, RowShape } from "../../src/projector/verify/view-rows.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe("the entities of a log", () => {
  test("come in the order of the bytes of their urns, each once with its streams", async () => {
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

  test("are ordered as UTF-8 is", () => {
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

  test("are the same in whatever order a store gives them", () => {
    expect(areEqual(inOrder([second, first], shape), [first, second])).toBe(true);
    expect(areEqual([first], [first, second])).toBe(false);
    expect(areEqual([first], [["status", 1, 10, "z"]])).toBe(false);
  });

  test("that are missing, unexpected or different are told with what differs", () => {
    const changed: Row = ["status", 2, 20, "other"];
    const added: Row = ["status", 3, 30, null];
    expect(differencesOf(of, [changed, added], [first, second])).toEqual([
      { ...own("missing"), should: "version 1, place 10, text x" },
      { ...own("different"), there: "version 2, text other", should: "version 2, text y" },
      { ...own("unexpected"), there: "version 3, place 30" },
    ]);
  });

  test("are told in few words, however long they are", () => {
    const [told] = differencesOf(of, [], [["status", 1, 10, "x".repeat(10_000)]]);
    expect(told?.should?.length).toBeLessThan(300);
  });

  test("show the place where long values differ", () => {
    const long = (text: string): Row => [
      "status",
      1,
      10,
      `${"x".repeat(500)}${text}${"y".repeat(500)}`,
    ];
    const [told] = differencesOf(of, [long("WRONG")], [long("RIGHT")]);
    const x = "x".repeat(30);
    expect(told?.there).toMatch(new RegExp(`^version 1, text …${x}WRONGy{65}…$`));
    expect(told?.should).toMatch(new RegExp(`^version 1, text …${x}RIGHTy{65}…$`));
    const [cut] = differencesOf(of, [["status", 1, 10, "x".repeat(500)]], [long("")]);
    expect([cut?.there, cut?.should]).toEqual([
      `version 1, text …${x}`,
      expect.stringMatching(`^version 1, text …${x}y{70}…$`),
    ]);
  });

  test("with half a character are what a store makes of them", () => {
    const half: Row = ["status", 1, 10, "\ud83d"];
    expect(differencesOf(of, [["status", 1, 10, "\ufffd"]], [half])).toEqual([]);
  });
});

const own = (kind: string) => ({ view: "aspects", urn: "urn:li:tag:a", aspect: "status", kind });

test("what bears on many entities is known by its stream", () => {
  // Documents are folded from what the views of aspects and timeseries have.
  expect(bearsOnMany("truncation-dataset-datasetProfile")).toEqual(["timeseries", "search"]);
  expect(bearsOnMany("timeseries-$relationships-urn:li:tag:a")).toEqual(["graph"]);
  expect(bearsOnMany("parking-graph")).toEqual(["graph"]);
  expect(bearsOnMany("parking-aspects")).toEqual(["aspects", "search"]);
  expect(bearsOnMany("entity-urn:li:tag:a")).toEqual([]);
});

describe("sums over rows", () => {
  const hash = createRowHash();
  const sumOf = (entities: readonly (readonly [urn: string, rows: readonly Row[]])[]) => {
    const sums = noSums();
    for (const [urn, rows] of entities) addRows(hash, urn, rows, sums);
    return sums;
  };
  const first: Row = ["status", 1, 10, "x", null];
  const second: Row = ["status", 2, 20, "yy", 0.5];
  const whole = sumOf([
    ["urn:li:tag:a", [first, second]],
    ["urn:li:tag:b", [first]],
  ]);

  test("are the same in whatever order rows come", () => {
    expect(
      sumOf([
        ["urn:li:tag:b", [first]],
        ["urn:li:tag:a", [second, first]],
      ]),
    ).toEqual(whole);
  });

  test.each<[string, readonly (readonly [string, readonly Row[]])[]]>([
    ["a row less", [["urn:li:tag:a", [second]]]],
    ["a row twice", [["urn:li:tag:a", [first, second, second]]]],
    ["another number", [["urn:li:tag:a", [first, ["status", 2, 20, "yy", 0.25]]]]],
    ["another text", [["urn:li:tag:a", [first, ["status", 2, 20, "yz", 0.5]]]]],
    ["nothing for a text", [["urn:li:tag:a", [first, ["status", 2, 20, null, 0.5]]]]],
    ["a text for nothing", [["urn:li:tag:a", [["status", 1, 10, "x", ""], second]]]],
    ["cells in each other's place", [["urn:li:tag:a", [["x", 1, 10, "status", null], second]]]],
    [
      "values in each other's rows",
      [
        [
          "urn:li:tag:a",
          [
            ["status", 1, 10, "yy", null],
            ["status", 2, 20, "x", 0.5],
          ],
        ],
      ],
    ],
  ])("tell %s, in the bucket of the entity", (_what, changed) => {
    const other = sumOf([...changed, ["urn:li:tag:b", [first]]]);
    expect([...unlikeBuckets(whole, other)]).toEqual([bucketOf("urn:li:tag:a")]);
  });

  test("tell rows of one entity from those of another", () => {
    const [a, b] = ["urn:li:tag:a", "urn:li:tag:b"];
    const other = sumOf([
      [b, [first, second]],
      [a, [first]],
    ]);
    expect(unlikeBuckets(whole, other)).toEqual(new Set([bucketOf(a), bucketOf(b)]));
  });

  test("can be added and taken away again", () => {
    const sums = whole.slice();
    addSums(sums, whole);
    subtractSums(sums, whole);
    expect(sums).toEqual(whole);
  });

  test("are those of what a store makes of half a character", () => {
    expect(sumOf([["urn:li:tag:a", [["status", 1, "\ud83d"]]]])).toEqual(
      sumOf([["urn:li:tag:a", [["status", 1, "\ufffd"]]]]),
    );
  });

  test("hash texts so that no two of many are alike", () => {
    const seen = new Set<string>();
    for (let n = 0; n < 50_000; n++) {
      hashText(`urn:li:dataset:(urn:li:dataPlatform:hive,t${n},PROD)`);
      seen.add(`${hashed[0]} ${hashed[1]}`);
    }
    expect(seen.size).toBe(50_000);
  });
});

describe("what is remembered", () => {
  const made = { log: "one", model: "m", release: "1" };
  const verified = (over: Partial<Verified> = {}): Verified => ({
    ...{ view: "graph", position: position(7), rows: 5, time: 1_000, full: undefined },
    ...{ whole: undefined, sums: undefined },
    ...{ count: 0, differences: [], ...over },
  });

  test("is of one log and one model", () => {
    const state = openSqliteVerifiedState(":memory:", made);
    expect(state.load()).toEqual({});
    state.save([verified({ full: { position: position(3), time: 900 } })]);
    expect(state.load()).toEqual({
      graph: {
        ...{ view: "graph", position: 7, rows: 5, time: 1_000, count: 0, urns: [] },
        ...{ full: { position: 3, time: 900 }, complete: true },
        ...{ whole: undefined, sums: undefined },
      },
    });
    state.close();
  });

  test("sums are of one release", () => {
    using directory = temporaryDirectory("annals-verify");
    const path = join(directory.path, "verify.sqlite");
    const sums = noSums();
    sums[7] = 0xffff_fffe;
    const before = openSqliteVerifiedState(path, made);
    before.save([verified({ sums, whole: { position: position(7), time: 1_000 } })]);
    before.close();
    const same = openSqliteVerifiedState(path, made);
    expect(same.load().graph).toMatchObject({ sums, whole: { position: 7, time: 1_000 } });
    same.close();
    const next = openSqliteVerifiedState(path, { ...made, release: "2" });
    expect(next.load().graph).toMatchObject({ sums: undefined, position: 7 });
    next.close();
  });

  test("a file of an earlier release is read, and has no sums", () => {
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
    expect(state.load().graph).toMatchObject({ position: 7, sums: undefined, whole: undefined });
    state.save([verified({ sums: noSums() })]);
    expect(state.load().graph).toMatchObject({ sums: noSums() });
    state.close();
  });

  test("is complete unless more was found than is kept, or what is of no entity", () => {
    const state = openSqliteVerifiedState(":memory:", made);
    const one = { view: "graph", urn: "urn:li:tag:a", aspect: "", kind: "missing" } as const;
    state.save([verified({ count: 1, differences: [one] })]);
    expect(state.load().graph).toMatchObject({ complete: true, urns: [one.urn] });
    const many = Array.from({ length: differencesMax + 5 }, () => one);
    state.save([verified({ count: many.length, differences: many })]);
    expect(state.load().graph).toMatchObject({ complete: false, count: differencesMax + 5 });
    expect(state.list({ start: 9_999, count: 20 })).toEqual({
      total: differencesMax + 5,
      differences: [one],
    });
    state.save([verified({ count: 1, differences: [{ ...one, urn: "", there: "nothing" }] })]);
    expect(state.load().graph).toMatchObject({ complete: false });
    expect(state.list({ view: "graph", start: 0, count: 5 }).differences).toEqual([
      { ...one, urn: "", there: "nothing" },
    ]);
    expect(state.list({ view: "search", start: 0, count: 5 })).toEqual({
      ...{ total: 0, differences: [] },
    });
    state.close();
  });
});
