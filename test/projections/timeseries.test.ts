import { describe, expect, test } from "vitest";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import type { TimeseriesWrite } from "../../src/views/timeseries/timeseries-table.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)";
const project = createTimeseriesProjection((type) =>
  type === "dataset" ? "datasetKey" : undefined,
);

const change = (told: Partial<PlacedChange>): PlacedChange => ({
  urn,
  entityType: "dataset",
  aspect: "datasetProfile",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1_700_000_000_001, runId: "run-1" },
  position: position(7),
  revision: revision(4),
  timeseries: true,
  ...told,
});

const given = (told: Partial<PlacedChange>): readonly TimeseriesWrite[] => project(change(told));

/** The identity of an event with these fields. */
function identityOf(fields: object): readonly [time: number, key: string] {
  const [write] = given({ value: JSON.stringify({ timestampMillis: 5, ...fields }) });
  if (write?.op !== "event") throw new Error("no event");
  return [write.time, write.key];
}

const daily = { unit: "DAY", multiple: 1 };
const partition = { type: "PARTITION", partition: "ds=2024-01-01" };

describe("given an event, the timeseries view", () => {
  test("gets it with its own time", () => {
    const value = '{"timestampMillis":1600000000000,"rowCount":3}';
    expect(given({ value })).toEqual([
      {
        op: "event",
        urn,
        aspect: "datasetProfile",
        entityType: "dataset",
        position: 7,
        time: 1_600_000_000_000,
        key: "[null,null,null]",
        value,
        system: '{"lastObserved":1700000000001,"runId":"run-1"}',
      },
    ]);
  });

  test("knows it again when it is told twice, whatever else it tells by then", () => {
    const fields = { eventGranularity: daily, messageId: "m", partitionSpec: partition };
    expect(identityOf({ ...fields, rowCount: 1 })).toEqual(identityOf({ ...fields, rowCount: 2 }));
  });

  test("knows it again in another order of members", () => {
    const turned = { multiple: 1, unit: "DAY" };
    expect(identityOf({ eventGranularity: daily, messageId: "m" })).toEqual(
      identityOf({ messageId: "m", eventGranularity: turned }),
    );
  });

  test("gets the same writes from the same change twice", () => {
    const told = change({ value: '{"timestampMillis":1,"messageId":"m"}' });
    expect(project(told)).toEqual(project(told));
  });

  test.each([
    ["time", { timestampMillis: 6 }],
    ["granularity", { eventGranularity: daily }],
    ["message", { messageId: "m" }],
    ["partition", { partitionSpec: partition }],
  ])("takes one of another %s for another", (_, fields) => {
    expect(identityOf(fields)).not.toEqual(identityOf({}));
  });

  test("does not mix up which field holds a text", () => {
    expect(identityOf({ messageId: "DAY" })).not.toEqual(identityOf({ eventGranularity: "DAY" }));
  });

  test("refuses one without a time, and names the record", () => {
    expect(() => given({ value: "{}" })).toThrow("the event at position 7 has no time");
    expect(() => given({})).toThrow("the event at position 7 has no value");
  });
});

describe("given a DELETE, the timeseries view", () => {
  const removing = (headers: Record<string, string> | undefined) =>
    given({ changeType: "DELETE", headers });

  test("loses all events of the aspect", () => {
    expect(removing(undefined)).toEqual([
      { op: "remove", urn, aspect: "datasetProfile", position: 7 },
    ]);
  });

  test("loses those of a range, of which either end may be open", () => {
    expect(removing({ "annals-from": "5", "annals-to": "9" })).toMatchObject([{ from: 5, to: 9 }]);
    expect(removing({ "annals-from": "5" })).toMatchObject([{ from: 5, to: undefined }]);
    expect(removing({ "annals-to": "9" })).toMatchObject([{ from: undefined, to: 9 }]);
  });

  test.each(["", " ", "soon", "5x"])("loses nothing to the bound %j", (text) => {
    // It is told all the same: views that are made of this one wait until it is past.
    for (const header of ["annals-from", "annals-to"]) {
      expect(removing({ [header]: text })).toMatchObject([{ op: "remove", from: 1, to: 0 }]);
    }
  });

  test("loses every event of an entity whose key aspect goes", () => {
    const told = { timeseries: false, changeType: "DELETE", aspect: "datasetKey" } as const;
    expect(given(told)).toEqual([{ op: "remove", urn, position: 7 }]);
  });

  test("keeps the events when another aspect of the entity goes", () => {
    const told = { timeseries: false, changeType: "DELETE", aspect: "status" } as const;
    expect(given(told)).toEqual([]);
  });
});

describe("given a truncation, the timeseries view", () => {
  const truncating = (headers: Record<string, string> | undefined) =>
    given({ urn: "", changeType: "DELETE", headers });

  test("loses what is older, of every entity of the type", () => {
    expect(truncating({ "annals-before": "5", "annals-batch": "100" })).toEqual([
      {
        op: "truncate",
        entityType: "dataset",
        aspect: "datasetProfile",
        position: 7,
        before: 5,
        batchSize: 100,
      },
    ]);
  });

  test("a truncation without a time or a batch size has no effect, so that it stops no view", () => {
    expect(truncating({ "annals-batch": "1" })).toEqual([]);
    expect(truncating({ "annals-before": "soon", "annals-batch": "1" })).toEqual([]);
    expect(truncating({ "annals-before": "5" })).toEqual([]);
    expect(truncating({ "annals-before": "5", "annals-batch": "0" })).toEqual([]);
  });
});

test("given a value of an entity's aspect, the timeseries view gets nothing", () => {
  expect(given({ timeseries: false, aspect: "datasetKey", value: "{}" })).toEqual([]);
  expect(given({ timeseries: false, aspect: "status", changeType: "RESTATE" })).toEqual([]);
});
