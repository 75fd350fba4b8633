import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAspectProjection } from "../../projections/aspects.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { Change } from "../../src/core/change.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import { decodeRecord, encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { startProjector } from "../../src/projector/projector.ts";
import type { View } from "../../src/projector/sink.ts";
import { openSqliteAspectSink } from "../../src/views/aspects/sqlite/sqlite-aspect-sink.ts";
import { openSqliteTimeseriesSink } from "../../src/views/timeseries/sqlite/sqlite-timeseries-sink.ts";
import { buildViews } from "../support/build-views.ts";
import {
  type Dump,
  openDumpedAspectReader,
  openDumpedTimeseriesReader,
} from "../support/dumped-readers.ts";
import { findDifference } from "../support/find-difference.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createArrayLog, createRecordingView, decode, range } from "./array-log.ts";

describe("a build of views", () => {
  const asViews = (...views: readonly unknown[]): readonly View[] => views as readonly View[];

  test("a build empties the views, brings them to the head, closes them and reports progress", async () => {
    const log = createArrayLog(25);
    const view = createRecordingView("a");
    await view.sink.apply([], (await log.head()) ?? 0);
    const reports: (readonly number[])[] = [];
    await buildViews({
      log,
      views: asViews(view),
      decode,
      batchMax: 10,
      onProgress: ({ position, head, recordsPerSecond, records }) =>
        reports.push([position, head, Math.sign(recordsPerSecond), records]),
    });
    expect(view.got).toEqual(range(1, 25));
    expect(view.at).toBe(25);
    expect(view.closed).toBe("keep");
    expect(reports).toEqual([
      [10, 25, 1, 10],
      [20, 25, 1, 20],
      [25, 25, 1, 25],
    ]);
  });

  test("a build of an empty log produces empty views", async () => {
    const view = createRecordingView("a");
    expect(await buildViews({ log: createArrayLog(), views: asViews(view), decode })).toEqual([]);
    expect(view.closed).toBe("keep");
  });

  test("a build returns the record that cannot be decoded as parked", async () => {
    const decodeSome = (record: Parameters<typeof decode>[0]) => {
      if (record.position === 7) throw new Error("no such schema");
      return decode(record);
    };
    const view = createRecordingView("a");
    const log = createArrayLog(9);
    const parked = await buildViews({ log, views: asViews(view), decode: decodeSome });
    expect(parked).toMatchObject([
      { position: 7, reason: "record at position 7 could not be decoded: no such schema" },
    ]);
    expect(view.closed).toBe("keep");
  });

  test("a build discards all views when the disk of one is full", async () => {
    const full = createRecordingView("a");
    full.before = () => Promise.reject(new CatalogError("unavailable", "disk is full"));
    const other = createRecordingView("b");
    const log = createArrayLog(9);
    await expect(buildViews({ log, views: asViews(full, other), decode })).rejects.toThrow(
      "disk is full",
    );
    expect([full.closed, other.closed]).toEqual(["discard", "discard"]);
  });
});

const keyAspectOf = (type: string) => `${type}Key`;

const change = (urn: string, parts: Partial<Change>): Change => ({
  urn,
  entityType: "dataset",
  aspect: "status",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1, runId: "run", version: "1" },
  ...parts,
});

/** A log in a file, and both views next to it as the projector feeds them. */
async function openCatalog() {
  const directory = temporaryDirectory("annals-built");
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
    /** Lets the projector bring the views to the head. */
    async follow(suffix = "") {
      const followers = views(false, suffix);
      const head = await log.head();
      const { promise, resolve } = Promise.withResolvers<void>();
      const projector = await startProjector({
        log,
        views: followers,
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
      for (const { sink } of followers) await sink.close();
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
        await compare(openDumpedAspectReader, "aspects"),
        await compare(openDumpedTimeseriesReader, "timeseries"),
      ];
    },
    async [Symbol.asyncDispose]() {
      await log.close();
      directory[Symbol.dispose]();
    },
  };
}

/** Changes of one entity and its events in some order, with gaps that produce no writes. */
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
  test("built views equal views that followed the log", async () => {
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
        await catalog.follow();
        await buildViews({
          log: catalog.log,
          views: catalog.views(true, "2"),
          decode: decodeRecord,
        });
        expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);
      }),
      { numRuns: 6 },
    );
  });

  test("different views are compared up to their first different row", async () => {
    await using catalog = await openCatalog();
    const values = [1, 2].map((n) => change(`urn:li:dataset:${n}`, { value: `{"n":${n}}` }));
    await catalog.append(values);
    await catalog.follow();
    await catalog.append([change("urn:li:dataset:3", { value: "{}" })]);
    await catalog.follow("2");
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

  test("built views replace the live ones as the next generation", async () => {
    await using catalog = await openCatalog();
    await catalog.append([change("urn:li:dataset:a", { value: '{"n":1}' })]);
    await catalog.follow();
    const generation = () => {
      const db = new DatabaseSync(catalog.file("aspects"), { readOnly: true });
      try {
        return db.prepare("SELECT generation FROM view").get()?.generation;
      } finally {
        db.close();
      }
    };
    expect(generation()).toBe(1);
    await buildViews({ log: catalog.log, views: catalog.views(true), decode: decodeRecord });
    expect(generation()).toBe(2);
    expect(
      readdirSync(join(catalog.file("x"), "..")).filter((name) => name.includes("regrown")),
    ).toEqual([]);
    await catalog.append([change("urn:li:dataset:b", { value: '{"n":2}' })]);
    await catalog.follow();
    await catalog.follow("2");
    expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);
  });

  test("live views stay unchanged when a build fails or is killed", async () => {
    await using catalog = await openCatalog();
    await catalog.append([change("urn:li:dataset:a", { value: '{"n":1}' })]);
    await catalog.follow();
    await catalog.follow("2");
    const unreadable = () => Promise.reject(new CatalogError("invalid", "no such record"));
    const log = { ...catalog.log, readAll: unreadable };
    await expect(
      buildViews({ log, views: catalog.views(true), decode: decodeRecord }),
    ).rejects.toThrow("no such record");
    expect(existsSync(`${catalog.file("aspects")}.regrown`)).toBe(false);
    expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);

    // A killed process leaves a file.
    writeFileSync(`${catalog.file("aspects")}.regrown`, "half a view");
    await catalog.follow();
    expect(existsSync(`${catalog.file("aspects")}.regrown`)).toBe(false);
    expect(await catalog.differences("", "2")).toEqual([undefined, undefined]);
  });
});
