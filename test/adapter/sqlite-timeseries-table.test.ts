import { StatementSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { position } from "../../src/core/position.ts";
import { openSqliteTimeseriesSink } from "../../src/views/timeseries/sqlite/sqlite-timeseries-sink.ts";
import { typeOf } from "../contract/aspect-table-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { timeseriesTableContract } from "../contract/timeseries-table.contract.ts";
import { timeseriesHistories } from "../contract/timeseries-table-model.ts";
import { openDumpedTimeseriesReader } from "../support/dumped-readers.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteTimeseriesSink,
  openReader: openDumpedTimeseriesReader,
});

timeseriesTableContract("sqlite", { createPlace });
const seriesOf = (urn: string) =>
  `(SELECT id FROM series WHERE urn = '${urn.replaceAll("'", "''")}')`;

sinkContract("sqlite timeseries", {
  createPlace,
  histories: timeseriesHistories,
  urnOf: (write) => (write.op === "truncate" ? undefined : write.urn),
  bearsOn: (write, urn) =>
    write.op === "truncate" ? typeOf(urn) === write.entityType : write.urn === urn,
  ownerOf: ({ urn }) => urn,
  damages: [
    ["removed", (urn) => `DELETE FROM event WHERE series IN ${seriesOf(urn)}`],
    ["removed in part", (urn) => `DELETE FROM event WHERE series IN ${seriesOf(urn)} AND time > 3`],
    ["changed", (urn) => `UPDATE event SET value = '{}' WHERE series IN ${seriesOf(urn)}`],
    ["moved", (urn) => `UPDATE place SET time = time + 0.5 WHERE series IN ${seriesOf(urn)}`],
    ["without places", (urn) => `DELETE FROM place WHERE series IN ${seriesOf(urn)}`],
    [
      "added",
      (urn) => `
        INSERT INTO place (series, time, key, position)
        SELECT id, 0.25, 'ghost', 99999 + id FROM series WHERE id IN ${seriesOf(urn)};
        INSERT INTO event (position, series, time, key, system, value)
        SELECT 99999 + id, id, 0.25, 'ghost', '{}', '{}' FROM series WHERE id IN ${seriesOf(urn)}`,
    ],
    [
      "added as a new series",
      (urn) => `
        INSERT INTO series (urn, aspect) VALUES ('${urn.replaceAll("'", "''")}', 'ghost');
        INSERT INTO place VALUES ((SELECT max(id) FROM series), 1, 'ghost', 99999);
        INSERT INTO event (position, series, time, key, system, value)
        VALUES (99999, (SELECT max(id) FROM series), 1, 'ghost', '{}', '{}')`,
    ],
  ],
});

describe("a list of events", () => {
  const range = { urn: "urn:li:dataset:a", aspect: "datasetProfile" };
  const value = JSON.stringify({ text: "x".repeat(1_000_000) });

  async function written(count: number, text: string) {
    const place = await createPlace();
    const sink = await place.openSink();
    const event = { op: "event" as const, ...range, entityType: "dataset", system: "{}" };
    const writes = Array.from({ length: count }, (_, n) => ({
      ...{ ...event, time: n, key: String(n), value: text, position: position(n + 1) },
    }));
    await sink.apply(writes, position(count));
    return { place, sink, reader: await place.openReader() };
  }

  /** The number of turns that other work got meanwhile. */
  async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await work();
    clearInterval(others);
    return turns;
  }

  test.each([
    ["when the caller is slow", 200, "{}", 1],
    ["when the events are large", 200, value, 0],
  ])("a list yields to other work %s", async (_, count, text, millis) => {
    const { place, sink, reader } = await written(count, text);
    try {
      let seen = 0;
      const accept = (): boolean => {
        const end = performance.now() + millis;
        while (performance.now() < end);
        seen++;
        return false;
      };
      const turns = await turnsDuring(() => reader.list(range, { limit: 10, accept }));
      expect(seen).toBe(count);
      expect(turns).toBeGreaterThan(5);
      const events = await reader.list(range, { limit: 10_000, ascending: true });
      expect(events.map(({ time }) => time)).toEqual(events.map((_, n) => n));
      expect(events).toHaveLength(count);
    } finally {
      await reader.close();
      await sink.close();
      await place.remove();
    }
  });

  test.each([
    ["latest first", false],
    ["earliest first", true],
  ])("a truncation between two pages of a list hides its events, %s", async (_, ascending) => {
    const { place, sink, reader } = await written(1_200, "{}");
    try {
      let truncated: Promise<unknown> | undefined;
      const truncation = {
        ...{
          op: "truncate" as const,
          entityType: "dataset",
          aspect: range.aspect,
          before: 1_190,
        },
        ...{ batchSize: 100, position: position(1_201) },
      };
      const accept = (): boolean => {
        truncated ??= sink.apply([truncation], position(1_201));
        return true;
      };
      const events = await reader.list(range, { limit: 1_000, ascending, accept });
      await truncated;
      const left = Array.from({ length: 10 }, (_, n) => 1_190 + n);
      expect(events.map(({ time }) => time)).toEqual(ascending ? left : left.toReversed());
    } finally {
      await reader.close();
      await sink.close();
      await place.remove();
    }
  });
});

test("the counts and sizes of many series are read with few statements", async () => {
  const place = await createPlace();
  const sink = await place.openSink();
  const writes = Array.from({ length: 1_000 }, (_, n) => ({
    ...{ op: "event" as const, urn: `urn:li:dataset:${n}`, aspect: "datasetProfile", time: n },
    ...{ entityType: "dataset", key: "", value: "{}", system: "{}", position: position(n + 1) },
  }));
  await sink.apply(writes, position(writes.length));
  const reader = await place.openReader();
  const indexes = ["dataset", "tag", "chart", "dashboard", "dataJob"].map((entityType) => ({
    ...{ entityType, aspect: "datasetProfile" },
  }));
  const statements = (["all", "get"] as const).map((name) =>
    vi.spyOn(StatementSync.prototype, name),
  );
  await reader.weigh(indexes);
  await reader.countOlder({ entityType: "dataset", aspect: "datasetProfile" }, 5);
  expect(statements.flatMap(({ mock }) => mock.calls).length).toBeLessThan(10);
  vi.restoreAllMocks();
  await reader.close();
  await sink.close();
  await place.remove();
});
