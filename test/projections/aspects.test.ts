import { describe, expect, test } from "vitest";
import { createAspectProjection } from "../../projections/aspects.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import type { AspectWrite } from "../../src/views/aspects/aspect-table.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)";
const project = createAspectProjection((type) => (type === "dataset" ? "datasetKey" : undefined));

const change = (parts: Partial<PlacedChange>): PlacedChange => ({
  urn,
  entityType: "dataset",
  aspect: "status",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1_700_000_000_001, runId: "run-1", version: "3" },
  position: position(7),
  revision: revision(4),
  timeseries: false,
  ...parts,
});

const writesOf = (parts: Partial<PlacedChange>): readonly AspectWrite[] => project(change(parts));

describe("the aspect projection of an entity change", () => {
  test("a written aspect becomes a value with its version", () => {
    expect(writesOf({ value: '{"removed":false}' })).toEqual([
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

  test("the key aspect marks the entity as existing", () => {
    expect(writesOf({ aspect: "datasetKey", value: "{}" })).toMatchObject([
      { op: "value", key: true },
    ]);
  });

  test("a restated aspect becomes a confirmation without a value", () => {
    expect(writesOf({ changeType: "RESTATE" })).toEqual([
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

  test("a deleted aspect becomes a removal", () => {
    expect(writesOf({ changeType: "DELETE" })).toEqual([
      { op: "remove", urn, aspect: "status", position: 7, revision: 4 },
    ]);
  });

  test("a deleted key aspect becomes a removal of the entity", () => {
    expect(writesOf({ changeType: "DELETE", aspect: "datasetKey" })).toEqual([
      { op: "remove_entity", urn, aspect: "datasetKey", position: 7, revision: 4 },
    ]);
  });

  test("an aspect of an unknown entity type is an ordinary aspect", () => {
    const parts = { entityType: "gadget", aspect: "gadgetKey", value: "{}" };
    expect(writesOf(parts)).toMatchObject([{ op: "value", key: false, entityType: "gadget" }]);
    expect(writesOf({ ...parts, changeType: "DELETE", value: undefined })).toMatchObject([
      { op: "remove" },
    ]);
  });

  test("the same change produces the same writes", () => {
    const parts = change({ value: '{"removed":true}' });
    expect(project(parts)).toEqual(project(parts));
  });

  test("a timeseries change produces no writes", () => {
    expect(writesOf({ timeseries: true, value: '{"timestampMillis":1}' })).toEqual([]);
    expect(writesOf({ timeseries: true, changeType: "DELETE" })).toEqual([]);
  });
});

describe("the aspect projection of an invalid change", () => {
  test("a change without a value is rejected with its position", () => {
    expect(() => writesOf({})).toThrow("the change at position 7 has no value");
  });

  test.each([undefined, "", "0", "x"])(
    "the version %j is rejected with the position",
    (version) => {
      const system = { lastObserved: 1, runId: "run-1", version };
      expect(() => writesOf({ value: "{}", system })).toThrow("position 7 has version");
      expect(() => writesOf({ changeType: "RESTATE", system })).toThrow("position 7 has version");
    },
  );
});
