import { describe, expect, test } from "vitest";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import type { TimeseriesWrite } from "../../src/views/timeseries/timeseries-table.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)";
const project = createTimeseriesProjection((type) =>
  type === "dataset" ? "datasetKey" : undefined,
);

const change = (deletion: Partial<PlacedChange>): PlacedChange => ({
  urn,
  entityType: "dataset",
  aspect: "datasetProfile",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1_700_000_000_001, runId: "run-1" },
  position: position(7),
  revision: revision(4),
  timeseries: true,
  ...deletion,
});

const writesOf = (deletion: Partial<PlacedChange>): readonly TimeseriesWrite[] =>
  project(change(deletion));

/** The identity of an event with these fields. */
function identityOf(fields: object): readonly [time: number, key: string] {
  const [write] = writesOf({ value: JSON.stringify({ timestampMillis: 5, ...fields }) });
  if (write?.op !== "event") throw new Error("no event");
  return [write.time, write.key];
}

const daily = { unit: "DAY", multiple: 1 };
const partition = { type: "PARTITION", partition: "ds=2024-01-01" };

describe("the timeseries projection of an event", () => {
  test("an event has the time of its value", () => {
    const value = '{"timestampMillis":1600000000000,"rowCount":3}';
    expect(writesOf({ value })).toEqual([
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

  test("an event that is written twice has the same identity, whatever its other fields", () => {
    const fields = { eventGranularity: daily, messageId: "m", partitionSpec: partition };
    expect(identityOf({ ...fields, rowCount: 1 })).toEqual(identityOf({ ...fields, rowCount: 2 }));
  });

  test("the identity does not depend on the order of members", () => {
    const turned = { multiple: 1, unit: "DAY" };
    expect(identityOf({ eventGranularity: daily, messageId: "m" })).toEqual(
      identityOf({ messageId: "m", eventGranularity: turned }),
    );
  });

  test("the same change produces the same writes", () => {
    const deletion = change({ value: '{"timestampMillis":1,"messageId":"m"}' });
    expect(project(deletion)).toEqual(project(deletion));
  });

  test.each([
    ["time", { timestampMillis: 6 }],
    ["granularity", { eventGranularity: daily }],
    ["message", { messageId: "m" }],
    ["partition", { partitionSpec: partition }],
  ])("an event of another %s has another identity", (_, fields) => {
    expect(identityOf(fields)).not.toEqual(identityOf({}));
  });

  test("the same text in another field gives another identity", () => {
    expect(identityOf({ messageId: "DAY" })).not.toEqual(identityOf({ eventGranularity: "DAY" }));
  });

  test("an event without a time is rejected with its position", () => {
    expect(() => writesOf({ value: "{}" })).toThrow("the event at position 7 has no time");
    expect(() => writesOf({})).toThrow("the event at position 7 has no value");
  });
});

describe("the timeseries projection of a DELETE", () => {
  const removing = (headers: Record<string, string> | undefined) =>
    writesOf({ changeType: "DELETE", headers });

  test("a delete removes all events of the aspect", () => {
    expect(removing(undefined)).toEqual([
      { op: "remove", urn, aspect: "datasetProfile", position: 7 },
    ]);
  });

  test("a delete with a range, which may be open at either end, removes the events in the range", () => {
    expect(removing({ "annals-from": "5", "annals-to": "9" })).toMatchObject([{ from: 5, to: 9 }]);
    expect(removing({ "annals-from": "5" })).toMatchObject([{ from: 5, to: undefined }]);
    expect(removing({ "annals-to": "9" })).toMatchObject([{ from: undefined, to: 9 }]);
  });

  test.each(["", " ", "soon", "5x"])(
    "a delete with the invalid bound %j removes nothing",
    (text) => {
      // It is a write all the same: views built from this one wait for its position.
      for (const header of ["annals-from", "annals-to"]) {
        expect(removing({ [header]: text })).toMatchObject([{ op: "remove", from: 1, to: 0 }]);
      }
    },
  );

  test("a deleted key aspect removes every event of the entity", () => {
    const deletion = { timeseries: false, changeType: "DELETE", aspect: "datasetKey" } as const;
    expect(writesOf(deletion)).toEqual([{ op: "remove", urn, position: 7 }]);
  });

  test("a delete of another aspect removes no events", () => {
    const deletion = { timeseries: false, changeType: "DELETE", aspect: "status" } as const;
    expect(writesOf(deletion)).toEqual([]);
  });
});

describe("the timeseries projection of a truncation", () => {
  const truncating = (headers: Record<string, string> | undefined) =>
    writesOf({ urn: "", changeType: "DELETE", headers });

  test("a truncation removes older events of every entity of the type", () => {
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

test("a change of an entity's aspect produces no writes to the timeseries view", () => {
  expect(writesOf({ timeseries: false, aspect: "datasetKey", value: "{}" })).toEqual([]);
  expect(writesOf({ timeseries: false, aspect: "status", changeType: "RESTATE" })).toEqual([]);
});
