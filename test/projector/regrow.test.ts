import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAspectProjection } from "../../projections/aspects.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import { openSqliteAspectReader } from "../../src/aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteAspectSink } from "../../src/aspects/sqlite/sqlite-aspect-sink.ts";
import type { Change } from "../../src/core/change.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import { decodeRecord, encodeChange } from "../../src/log/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { type Dump, findDifference } from "../../src/projector/compare.ts";
import { startProjector } from "../../src/projector/projector.ts";
import { regrow } from "../../src/projector/regrow.ts";
import type { View } from "../../src/projector/sink.ts";
import { openSqliteTimeseriesReader } from "../../src/timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesSink } from "../../src/timeseries/sqlite/sqlite-timeseries-sink.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createArrayLog, createRecordingView, decode, range } from "./array-log.ts";

describe("regrowing", () => {
  const asViews = (...views: readonly unknown[]): readonly View[] => views as readonly View[];

  test("empties the views, brings them to the head and closes them, telling how far it is", async () => {
    const log = createArrayLog(25);
    const view = createRecordingView("a");
    await view.sink.apply([], (await log.head()) ?? 0);
    const told: (readonly number[])[] = [];
    const head = await regrow({
      log,
      views: asViews(view),
      decode,
      batchMax: 10,
      onProgress: (at, of, perSecond) => told.push([at, of, Math.sign(perSecond)]),
    });
    expect(head).toBe(25);
    expect(view.got).toEqual(range(1, 25));
    expect(view.at).toBe(25);
    expect(view.closed).toBe("keep");
    expect(told).toEqual([
      [10, 25, 1],
      [20, 25, 1],
      [25, 25, 1],
    ]);
  });

  test("of an empty log gives empty views", async () => {
    const view = createRecordingView("a");
    expect(await regrow({ log: createArrayLog(), views: asViews(view), decode })).toBe(0);
    expect(view.closed).toBe("keep");
  });

  test("stops at what cannot be decoded, projected or applied, and discards", async () => {
    const decodeSome = (record: Parameters<typeof decode>[0]) => {
      if (record.position === 7) throw new Error("no such schema");
      return decode(record);
    };
    const undecodable = createRecordingView("a");
    await expect(
      regrow({ log: createArrayLog(9), views: asViews(undecodable), decode: decodeSome }),
    ).rejects.toThrow("record at position 7 could not be decoded: no such schema");
    expect(undecodable.closed).toBe("discard");

    const full = createRecordingView("a");
    full.before = () => Promise.reject(new Error("disk is full"));
    const other = createRecordingView("b");
    await expect(
      regrow({ log: createArrayLog(9), views: asViews(full, other), decode }),
    ).rejects.toThrow("disk is full");
    expect([full.closed, other.closed]).toEqual(["discard", "discard"]);
  });
});

const keyAspectOf = (type: string) => `${type}Key`;

const change = (urn: string, told: Partial<Change>): Change => ({
  urn,
  entityType: "dataset",
  aspect: "status",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1, runId: "run", version: "1" },
  ...told,
});

/** A log in a file, and both views beside it as the projector grows them. */
async function openCatalog() {
  const directory = temporaryDirectory("annals-regrow");
  const file = (name: string) => join(directory.path, `${name}.sqlite`);
  const log = await openSqliteChangeLog({ file: file("log") });
  const views = (bulk: boolean, suffix = "") =>
    [
      {
        name: "aspects",
        project: createAspectProjection(keyAspectOf),
        sink: openSqliteAspectSink({ path: file(`aspects${suffix}`), bulk }),
      },
      {
        name: "timeseries",
        project: createTimeseriesProjection(keyAspectOf),
        sink: openSqliteTimeseriesSink({ path: file(`timeseries${suffix}`), bulk }),
      },
    ] as readonly unknown[] as readonly View[];

  return {
    file,
    log,
    views,
    async append(changes: readonly Change[], timeseries = false) {
      for (const one of changes) {
        const stream = timeseries ? timeseriesStream(one.urn, one.aspect) : entityStream(one.urn);
        await log.append([{ stream, expected: "any", records: [encodeChange(one)] }]);
      }
    },
    /** Lets the projector bring views to the head. */
    async grow(suffix = "") {
      const grown = views(false, suffix);
      const head = await log.head();
      const { promise, resolve } = Promise.withResolvers<void>();
      const projector = await startProjector({
        log,
        views: grown,
        decode: decodeRecord,
        batchMax: 7,
        onProgress: (progress) => {
          if (Object.values(progress).every(({ position }) => position >= head)) resolve();
        },
      });
      if (Object.values(projector.progress()).some(({ position }) => position < head)) {
        await promise;
      }
      await projector.stop();
      for (const { sink } of grown) await sink.close();
    },
    async differences(one: string, two: string) {
      const compare = async <Row>(
        open: (path: string) => Dump<Row> & { close(): Promise<void> },
        view: string,
      ) => {
        const left = open(file(`${view}${one}`));
        const right = open(file(`${view}${two}`));
        try {
          return await findDifference(left, right);
        } finally {
          await left.close();
          await right.close();
        }
      };
      return [
        await compare(openSqliteAspectReader, "aspects"),
        await compare(openSqliteTimeseriesReader, "timeseries"),
      ];
    },
    async [Symbol.asyncDispose]() {
      await log.close();
      directory[Symbol.dispose]();
    },
  };
}

/** Changes of one entity and its events in some order, with gaps that no view has a write for. */
const histories = fc.array(
  fc.record({
    urn: fc.constantFrom("urn:li:dataset:a", "urn:li:dataset:b", "urn:li:dataset:ć"),
    kind: fc.constantFrom("value", "value", "confirm", "remove", "remove entity", "event", "trim"),
    aspect: fc.constantFrom("status", "datasetKey"),
    time: fc.integer({ min: 0, max: 5 }),
  }),
  { minLength: 1, maxLength: 60, size: "max" },
);

describe("views of a real log", () => {
  test("that were regrown equal those that grew", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        await using catalog = await openCatalog();
        const versions = new Map<string, number>();
        for (const { urn, kind, aspect, time } of history) {
          const name = `${urn} ${aspect}`;
          if (kind === "value") versions.set(name, (versions.get(name) ?? 0) + 1);
          const system = { lastObserved: time, runId: "r", version: `${versions.get(name) ?? 1}` };
          const value = JSON.stringify({ timestampMillis: time, text: "☃" });
          if (kind === "value") await catalog.append([change(urn, { aspect, value, system })]);
          if (kind === "confirm") {
            await catalog.append([change(urn, { aspect, changeType: "RESTATE", system })]);
          }
          if (kind === "remove") await catalog.append([change(urn, { changeType: "DELETE" })]);
          if (kind === "remove entity") {
            await catalog.append([change(urn, { aspect: "datasetKey", changeType: "DELETE" })]);
          }
          const event = { aspect: "datasetProfile", value };
          if (kind === "event") await catalog.append([change(urn, event)], true);
          if (kind === "trim") {
            const headers = { "annals-to": String(time) };
            const aspect = "datasetProfile";
            await catalog.append([change(urn, { aspect, changeType: "DELETE", headers })], true);
          }
        }
        await catalog.grow();
        await regrow({ log: catalog.log, views: catalog.views(true, "2"), decode: decodeRecord });
        expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);
      }),
      { numRuns: 6 },
    );
  });

  test("that differ are told apart by their first row", async () => {
    await using catalog = await openCatalog();
    const values = [1, 2].map((n) => change(`urn:li:dataset:${n}`, { value: `{"n":${n}}` }));
    await catalog.append(values);
    await catalog.grow();
    await catalog.append([change("urn:li:dataset:3", { value: "{}" })]);
    await catalog.grow("2");
    const [aspects] = await catalog.differences("", "2");
    expect(aspects).toMatchObject({
      index: 2,
      left: undefined,
      right: { urn: "urn:li:dataset:3", aspect: "status", version: 1, position: 3 },
    });
    const [turned] = await catalog.differences("2", "");
    expect(turned).toMatchObject({ index: 2, right: undefined });
    const [same] = await catalog.differences("", "");
    expect(same).toBeUndefined();
  });

  test("that are regrown beside those in place take their place, of the next generation", async () => {
    await using catalog = await openCatalog();
    await catalog.append([change("urn:li:dataset:a", { value: '{"n":1}' })]);
    await catalog.grow();
    const generation = () => {
      const db = new DatabaseSync(catalog.file("aspects"), { readOnly: true });
      try {
        return db.prepare("SELECT generation FROM view").get()?.generation;
      } finally {
        db.close();
      }
    };
    expect(generation()).toBe(1);
    await regrow({ log: catalog.log, views: catalog.views(true), decode: decodeRecord });
    expect(generation()).toBe(2);
    expect(
      readdirSync(join(catalog.file("x"), "..")).filter((name) => name.includes("regrown")),
    ).toEqual([]);
    await catalog.append([change("urn:li:dataset:b", { value: '{"n":2}' })]);
    await catalog.grow();
    await catalog.grow("2");
    expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);
  });

  test("stay as they are when regrowing fails, or is killed", async () => {
    await using catalog = await openCatalog();
    await catalog.append([change("urn:li:dataset:a", { value: '{"n":1}' })]);
    await catalog.grow();
    await catalog.grow("2");
    const unreadable = () => {
      throw new Error("no such schema");
    };
    await expect(
      regrow({ log: catalog.log, views: catalog.views(true), decode: unreadable }),
    ).rejects.toThrow("no such schema");
    expect(existsSync(`${catalog.file("aspects")}.regrown`)).toBe(false);
    expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);

    // What a kill leaves behind: a file that nobody vouches for.
    writeFileSync(`${catalog.file("aspects")}.regrown`, "half a view");
    await catalog.grow();
    expect(existsSync(`${catalog.file("aspects")}.regrown`)).toBe(false);
    expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);
  });
});
