import { describe, expect, test } from "vitest";
import { createAspectProjection } from "../../projections/aspects.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import type { AspectWrite } from "../../src/views/aspects/aspect-table.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)";
const project = createAspectProjection((type) => (type === "dataset" ? "datasetKey" : undefined));

const change = (told: Partial<PlacedChange>): PlacedChange => ({
  urn,
  entityType: "dataset",
  aspect: "status",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1_700_000_000_001, runId: "run-1", version: "3" },
  position: position(7),
  revision: revision(4),
  timeseries: false,
  ...told,
});

const given = (told: Partial<PlacedChange>): readonly AspectWrite[] => project(change(told));

describe("given a change of an entity stream, the aspect view", () => {
  test("gets the next value of an aspect that was told", () => {
    expect(given({ value: '{"removed":false}' })).toEqual([
      {
        op: "value",
        urn,
        aspect: "status",
        position: 7,
        revision: 4,
        version: 3,
        value: '{"removed":false}',
        time: 1_700_000_000_000,
        actor: "urn:li:corpuser:ada",
        system: '{"lastObserved":1700000000001,"runId":"run-1","version":"3"}',
        key: false,
        entityType: "dataset",
      },
    ]);
  });

  test("learns from the key aspect that the entity exists", () => {
    expect(given({ aspect: "datasetKey", value: "{}" })).toMatchObject([
      { op: "value", key: true },
    ]);
  });

  test("keeps the value of an aspect that was told again", () => {
    expect(given({ changeType: "RESTATE" })).toEqual([
      {
        op: "confirm",
        urn,
        aspect: "status",
        position: 7,
        revision: 4,
        version: 3,
        system: '{"lastObserved":1700000000001,"runId":"run-1","version":"3"}',
      },
    ]);
  });

  test("loses an aspect that was deleted", () => {
    expect(given({ changeType: "DELETE" })).toEqual([
      { op: "remove", urn, aspect: "status", position: 7, revision: 4 },
    ]);
  });

  test("loses the entity whose key aspect was deleted", () => {
    expect(given({ changeType: "DELETE", aspect: "datasetKey" })).toEqual([
      { op: "remove_entity", urn, aspect: "datasetKey", position: 7, revision: 4 },
    ]);
  });

  test("takes an aspect of a type that the model does not have for an ordinary one", () => {
    const told = { entityType: "gadget", aspect: "gadgetKey", value: "{}" };
    expect(given(told)).toMatchObject([{ op: "value", key: false, entityType: "gadget" }]);
    expect(given({ ...told, changeType: "DELETE", value: undefined })).toMatchObject([
      { op: "remove" },
    ]);
  });

  test("gets the same writes from the same change twice", () => {
    const told = change({ value: '{"removed":true}' });
    expect(project(told)).toEqual(project(told));
  });

  test("gets nothing from a timeseries stream", () => {
    expect(given({ timeseries: true, value: '{"timestampMillis":1}' })).toEqual([]);
    expect(given({ timeseries: true, changeType: "DELETE" })).toEqual([]);
  });
});

describe("given a change that nobody could have decided on, the projection", () => {
  test("refuses a value that is not there, and names the record", () => {
    expect(() => given({})).toThrow("the change at position 7 has no value");
  });

  test.each([undefined, "", "0", "x"])(
    "refuses the version %j, and names the record",
    (version) => {
      const system = { lastObserved: 1, runId: "run-1", version };
      expect(() => given({ value: "{}", system })).toThrow("position 7 has version");
      expect(() => given({ changeType: "RESTATE", system })).toThrow("position 7 has version");
    },
  );
});
