/** The model of avro/, its extensions, and the errors of an inconsistent model. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { defaultModelDirectory, loadModel } from "../../src/model/load-model.ts";
import type { Field, Model } from "../../src/model/model.ts";
import { aspectNamed, defaultModel as model } from "./default-model.ts";

const extension = new URL("../data/model/extension", import.meta.url).pathname;

function fieldOf(from: Model, record: string, name: string): Field {
  const type = from.types.get(record);
  const field = type?.kind === "record" ? type.fields.find((f) => f.name === name) : undefined;
  if (field === undefined) throw new Error(`${record} has no field ${name}`);
  return field;
}

describe("the default model", () => {
  test("the default model has every entity, aspect, type and snapshot", () => {
    expect(model.entities.size).toBe(72);
    expect(model.aspects.size).toBe(271);
    expect(model.types.size).toBe(600);
    expect(model.snapshots.size).toBe(21);
    const kinds = [...model.types.values()].map((type) => type.kind);
    expect(kinds.filter((kind) => kind === "record")).toHaveLength(497);
    expect(kinds.filter((kind) => kind === "enum")).toHaveLength(102);
  });

  test("the model has the registry: key aspect, aspects in order, category, search group", () => {
    const dataset = model.findEntity("dataset");
    expect(dataset).toMatchObject({
      keyAspect: "datasetKey",
      category: "core",
      searchGroup: "primary",
    });
    expect(dataset?.aspects).toHaveLength(43);
    expect(dataset?.aspects.slice(0, 3)).toEqual(["viewProperties", "subTypes", "datasetProfile"]);
    expect(model.findEntity("dataHubAction")?.aspects).toEqual([]);
    const pairs = [...model.entities.values()].map((entity) => entity.aspects.length + 1);
    expect(pairs.reduce((sum, n) => sum + n, 0)).toBe(708);
    const unlisted = [...model.aspects.keys()].filter(
      (name) => ![...model.entities.values()].some((entity) => model.findAspectOf(entity, name)),
    );
    expect(unlisted.sort()).toEqual(["incidentSource", "mlHyperParam", "mlMetric"]);
  });

  test("the model has the parts of each key in the order of the urn", () => {
    expect(model.findEntity("dataset")?.keyParts).toMatchObject([
      { name: "platform", kind: "urn" },
      { name: "name", kind: "text" },
      { name: "origin", kind: "enum", symbols: expect.arrayContaining(["PROD", "SANDBOX"]) },
    ]);
    expect(model.findEntity("container")?.keyParts).toMatchObject([
      { name: "guid", optional: true },
    ]);
  });

  test("the model has the timeseries aspects and schema versions", () => {
    const timeseries = [...model.aspects.values()].filter((aspect) => aspect.timeseries);
    expect(timeseries).toHaveLength(11);
    expect(aspectNamed("datasetProfile").timeseries).toBe(true);
    expect(aspectNamed("ownership").timeseries).toBe(false);
    expect(aspectNamed("aiAgentInfo").schemaVersion).toBe(8);
    expect(aspectNamed("ownership").schemaVersion).toBe(1);
    const versioned = [...model.aspects.values()].filter((aspect) => aspect.schemaVersion > 1);
    expect(versioned).toHaveLength(46);
  });

  test("the model has the annotations of fields", () => {
    expect(fieldOf(model, "com.linkedin.common.Owner", "owner")).toMatchObject({
      type: { kind: "urn", urnType: "Urn" },
      searchable: {
        fieldName: "owners",
        fieldType: "URN",
        addToFilters: true,
        hasValuesFieldName: "hasOwners",
        filterNameOverride: "Owned By",
      },
      relationship: { name: "OwnedBy", entityTypes: ["corpuser", "corpGroup"] },
    });
    expect(fieldOf(model, "com.linkedin.common.Owner", "type").properties).toEqual({
      deprecated: true,
    });
    expect(fieldOf(model, "com.linkedin.chart.ChartInfo", "inputs").relationship).toMatchObject({
      "/*/string": { name: "Consumes", isLineage: true },
    });
    const runEvent = "com.linkedin.assertion.AssertionRunEvent";
    expect(fieldOf(model, runEvent, "asserteeUrn").properties.UrnValidation).toMatchObject({
      exist: false,
      entityTypes: ["dataset"],
    });
    const associations = "com.linkedin.businessattribute.BusinessAttributes";
    expect(fieldOf(model, associations, "businessAttribute").properties).toHaveProperty(
      "SearchableRef",
    );
    const usage = "com.linkedin.dataset.DatasetUsageStatistics";
    expect(fieldOf(model, usage, "userCounts").timeseriesFieldCollection).toEqual({ key: "user" });
    expect(fieldOf(model, usage, "uniqueUserCount").timeseriesField).toEqual({});
  });

  test("the model has every annotation of DataHub's model", () => {
    const count = {
      searchable: 0,
      relationship: 0,
      timeseriesField: 0,
      timeseriesFieldCollection: 0,
    };
    const properties: Record<string, number> = {};
    for (const type of model.types.values()) {
      for (const field of type.kind === "record" ? type.fields : []) {
        for (const name of Object.keys(count) as (keyof typeof count)[]) {
          if (field[name] !== undefined) count[name]++;
        }
        for (const name of Object.keys(field.properties)) {
          properties[name] = (properties[name] ?? 0) + 1;
        }
      }
    }
    expect(count).toEqual({
      searchable: 525,
      relationship: 142,
      timeseriesField: 49,
      timeseriesFieldCollection: 8,
    });
    expect(properties).toEqual({ deprecated: 25, UrnValidation: 15, SearchableRef: 1 });
  });

  test("the model has the snapshots with their aspects", () => {
    const snapshot = model.findSnapshotOf("tag");
    expect(snapshot?.record).toBe("com.linkedin.metadata.snapshot.TagSnapshot");
    expect(snapshot?.aspects).toEqual([
      "com.linkedin.metadata.key.TagKey",
      "com.linkedin.common.Ownership",
      "com.linkedin.tag.TagProperties",
      "com.linkedin.common.Status",
    ]);
    for (const { aspects } of model.snapshots.values()) {
      for (const record of aspects) expect(model.findAspectByRecord(record)?.record).toBe(record);
    }
  });
});

describe("a lookup by name", () => {
  test("a lookup ignores the letter case of entity types, but not of aspects", () => {
    expect(model.findEntity("CORPUSER")?.name).toBe("corpuser");
    expect(model.findEntity("starship")).toBeUndefined();
    const dataset = model.entities.get("dataset");
    if (dataset === undefined) throw new Error("no dataset");
    expect(model.findAspectOf(dataset, "datasetKey")?.name).toBe("datasetKey");
    expect(model.findAspectOf(dataset, "datasetkey")).toBeUndefined();
    expect(model.findAspectOf(dataset, "corpUserInfo")).toBeUndefined();
    expect(model.findAspectOf(dataset, "__proto__")).toBeUndefined();
  });

  test.each([
    "com.linkedin.common.Status",
    "com.linkedin.pegasus2avro.common.Status",
    "org.acme.common.Status",
    "common.Status",
    "Status",
  ])("a lookup finds the aspect of record %s", (record) => {
    expect(model.findAspectByRecord(record)?.name).toBe("status");
  });

  test("a lookup finds no aspect for another record", () => {
    expect(model.findAspectByRecord("com.linkedin.common.AuditStamp")).toBeUndefined();
    expect(model.findAspectByRecord("com.linkedin.tag.Warp")).toBeUndefined();
    expect(model.findAspectByRecord("")).toBeUndefined();
    expect(model.findAspectByRecord("a.".repeat(1_000_000))).toBeUndefined();
  });

  test("a lookup finds snapshots under any prefix", () => {
    const record = "com.linkedin.pegasus2avro.metadata.snapshot.CorpUserSnapshot";
    expect(model.findSnapshotByRecord(record)?.entity).toBe("corpuser");
    expect(model.findSnapshotByRecord("com.linkedin.metadata.snapshot.X")).toBeUndefined();
  });
});

describe("the prefix and namespace options", () => {
  const acme = loadModel({ prefix: "org.acme", namespace: "acme" });

  test("the prefix is in every name that the model returns", () => {
    expect(aspectNamed("status", acme).record).toBe("org.acme.common.Status");
    expect([...acme.types.keys()].filter((name) => !name.startsWith("org.acme."))).toEqual([]);
    expect(acme.findSnapshotOf("tag")?.aspects).toContain("org.acme.common.Ownership");
    expect(acme.findAspectByRecord("com.linkedin.common.Status")?.name).toBe("status");
  });

  test("prefix and namespace are in defaults, union keys and urns of values", () => {
    const ownership = acme.check(aspectNamed("ownership", acme), {
      owners: [{ owner: "urn:li:corpuser:mira", type: "DATAOWNER" }],
    });
    expect(ownership).toMatchObject({
      ok: true,
      value: {
        owners: [{ owner: "urn:acme:corpuser:mira" }],
        lastModified: { time: 0, actor: "urn:acme:corpuser:unknown" },
      },
    });
    const lineage = acme.check(aspectNamed("upstreamLineage", acme), {
      upstreams: [
        { dataset: "urn:li:dataset:(urn:x:dataPlatform:hive,a.b,PROD)", type: "TRANSFORMED" },
      ],
    });
    expect(lineage).toMatchObject({
      ok: true,
      value: { upstreams: [{ dataset: "urn:acme:dataset:(urn:acme:dataPlatform:hive,a.b,PROD)" }] },
    });
  });

  test.each([{ prefix: "com..x" }, { prefix: "" }, { namespace: "a:b" }, { namespace: "" }])(
    "invalid options are rejected: %o",
    (options) => {
      expect(() => loadModel(options)).toThrow(CatalogError);
    },
  );
});

describe("the fingerprint", () => {
  test("the fingerprint is equal for the same model and differs for another", () => {
    const others = [
      loadModel({ directories: [defaultModelDirectory, extension] }),
      loadModel({ prefix: "org.acme" }),
      loadModel({ namespace: "acme" }),
    ];
    expect(loadModel().fingerprint).toBe(model.fingerprint);
    const all = [model, ...others].map(({ fingerprint }) => fingerprint);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("an extension", () => {
  const extended = loadModel({ directories: [defaultModelDirectory, extension] });

  test("an extension adds an aspect to an existing entity", () => {
    const dataset = extended.findEntity("dataset");
    expect(dataset?.aspects.at(-1)).toBe("retentionPromise");
    expect(dataset?.aspects).toHaveLength(44);
    expect(dataset?.keyAspect).toBe("datasetKey");
    const aspect = aspectNamed("retentionPromise", extended);
    expect(aspect).toMatchObject({ record: "org.acme.catalog.RetentionPromise", schemaVersion: 2 });
    const value = { days: 30, stamp: { time: 1, actor: "urn:li:corpuser:mira" } };
    expect(extended.check(aspect, value)).toEqual({
      ok: true,
      value: { ...value, promisedTo: [] },
    });
    expect(extended.check(aspect, { days: "30" })).toMatchObject({ ok: false });
  });

  test("an extension adds a new entity", () => {
    const machine = extended.findEntity("machine");
    expect(machine?.keyParts.map((part) => part.kind)).toEqual(["urn", "text"]);
    expect(machine && extended.findAspectOf(machine, "ownership")?.name).toBe("ownership");
    expect(aspectNamed("machineReading", extended).timeseries).toBe(true);
    expect(extended.entities.size).toBe(73);
  });

  test("an extension's record is found by full name and by simple name", () => {
    expect(extended.findAspectByRecord("org.acme.catalog.MachineInfo")?.name).toBe("machineInfo");
    expect(extended.findAspectByRecord("x.y.MachineInfo")?.name).toBe("machineInfo");
  });

  test("an extension keeps its own names with any prefix", () => {
    const other = loadModel({ directories: [defaultModelDirectory, extension], prefix: "io.x" });
    expect(aspectNamed("machineInfo", other).record).toBe("org.acme.catalog.MachineInfo");
    expect(aspectNamed("status", other).record).toBe("io.x.common.Status");
  });

  test("a recursive record that is nested too deeply is rejected", () => {
    let part: Record<string, unknown> = { name: "bolt" };
    for (let i = 0; i < 100_000; i++) part = { name: "part", parts: [part] };
    const checked = extended.check(aspectNamed("machineInfo", extended), {
      label: "press",
      parts: [part],
    });
    expect(checked).toMatchObject({ ok: false, validationErrors: [{ path: "" }] });
  });
});

describe("a broken model", () => {
  const root = mkdtempSync(join(tmpdir(), "annals-model-"));
  afterAll(() => rmSync(root, { recursive: true }));
  let made = 0;

  function directory(files: Readonly<Record<string, unknown>>): string {
    const at = join(root, String(made++));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(at, name)), { recursive: true });
      writeFileSync(
        join(at, name),
        typeof content === "string" ? content : JSON.stringify(content),
      );
    }
    return at;
  }

  const record = (name: string, fields: unknown[], rest: object = {}) => ({
    type: "record",
    name,
    namespace: "org.acme",
    ...rest,
    fields,
  });
  const thingKey = (type: unknown) =>
    record("ThingKey", [{ name: "id", type }], { Aspect: { name: "thingKey" } });
  const thing = { name: "thing", keyAspect: "thingKey", aspects: [] };
  const onDefault = { base: [defaultModelDirectory] };

  const cases: readonly {
    readonly what: string;
    readonly files: Readonly<Record<string, unknown>>;
    readonly says: readonly string[];
    readonly base?: readonly string[];
  }[] = [
    {
      what: "an unknown type",
      files: { "types/A.avsc": record("A", [{ name: "x", type: "org.acme.Nope" }]) },
      says: ["A.avsc", 'field "x" of record "org.acme.A"', '"org.acme.Nope"'],
    },
    {
      what: "an unknown aspect",
      files: {
        "types/K.avsc": thingKey("string"),
        "entities.json": [{ ...thing, aspects: ["thingInfo"] }],
      },
      says: ["entities.json", '"thing"', '"thingInfo"'],
    },
    {
      what: "an unknown key aspect",
      files: { "entities.json": [thing] },
      says: ["entities.json", '"thing"', '"thingKey"'],
    },
    {
      what: "an extension of an unknown entity",
      files: { "entities.json": [{ name: "datasett", aspects: ["status"] }] },
      says: ["entities.json", '"datasett"', "keyAspect"],
      ...onDefault,
    },
    {
      what: "another key aspect for an existing entity",
      files: { "entities.json": [{ name: "dataset", keyAspect: "tagKey", aspects: [] }] },
      says: ["entities.json", '"tagKey"', '"datasetKey"'],
      ...onDefault,
    },
    {
      what: "a key field with a type that a urn cannot have",
      files: { "types/K.avsc": thingKey("long"), "entities.json": [thing] },
      says: ["K.avsc", '"id"', '"thing"'],
    },
    {
      what: "two aspects with the same name",
      files: {
        "types/A.avsc": record("A", [], { Aspect: { name: "same" } }),
        "types/B.avsc": record("B", [], { Aspect: { name: "same" } }),
      },
      says: ["B.avsc", '"same"', "A.avsc"],
    },
    {
      what: "an aspect with the name of another one in the extended model",
      files: { "types/A.avsc": record("A", [], { Aspect: { name: "status" } }) },
      says: ["A.avsc", '"status"', "Status.avsc"],
      ...onDefault,
    },
    {
      what: "a timeseries aspect without time",
      files: {
        "types/A.avsc": record("A", [{ name: "timestampMillis", type: "int" }], {
          Aspect: { name: "a", type: "timeseries" },
        }),
      },
      says: ["A.avsc", '"org.acme.A"', "timestampMillis"],
    },
    {
      what: "one type in two files",
      files: { "types/A.avsc": record("A", []), "types/x/A.avsc": record("A", []) },
      says: ["A.avsc", '"org.acme.A"'],
    },
    {
      what: "a default of another type",
      files: { "types/A.avsc": record("A", [{ name: "n", type: "int", default: "one" }]) },
      says: ["A.avsc", 'field "n"', '"one"'],
    },
    {
      what: "a null inside a type",
      files: {
        "types/A.avsc": record("A", [
          { name: "n", type: { type: "array", items: ["null", "string"] } },
        ]),
      },
      says: ["A.avsc", 'field "n"', "null"],
    },
    {
      what: "a file that is not JSON",
      files: { "types/A.avsc": '{ "type": ' },
      says: ["A.avsc", "not JSON"],
    },
    {
      what: "a schema that is not a named type",
      files: { "types/A.avsc": { type: "array", items: "string" } },
      says: ["A.avsc", "not a record"],
    },
    {
      what: "an enum without symbols",
      files: { "types/A.avsc": { type: "enum", name: "org.acme.A", symbols: [] } },
      says: ["A.avsc", '"org.acme.A"', "symbols"],
    },
    {
      what: "two fields with the same name",
      files: {
        "types/A.avsc": record("A", [
          { name: "x", type: "int" },
          { name: "x", type: "int" },
        ]),
      },
      says: ["A.avsc", '"x"'],
    },
    {
      what: "a registry that is not a list",
      files: { "entities.json": { dataset: {} } },
      says: ["entities.json", "array"],
    },
    {
      what: "an entity twice",
      files: { "types/K.avsc": thingKey("string"), "entities.json": [thing, thing] },
      says: ["entities.json", '"thing"'],
    },
    {
      what: "entities that differ in letter case alone",
      files: {
        "types/K.avsc": thingKey("string"),
        "entities.json": [thing, { ...thing, name: "Thing" }],
      },
      says: ["entities.json", '"thing"', '"Thing"'],
    },
    {
      what: "a snapshot of an unknown entity",
      files: {
        "types/A.avsc": record("A", []),
        "entities.json": [],
        "snapshots.json": [{ record: "org.acme.S", entity: "ghost", aspects: [] }],
      },
      says: ["snapshots.json", '"org.acme.S"', '"ghost"'],
    },
    { what: "an empty directory", files: { "notes.txt": "" }, says: ["holds no schemas"] },
  ];

  test.each(cases)("a broken model is rejected: $what", ({ files, says, base = [] }) => {
    const load = () => loadModel({ directories: [...base, directory(files)] });
    expect(load).toThrow(CatalogError);
    for (const words of says) expect(load).toThrow(words);
  });

  test("a missing directory is rejected", () => {
    expect(() => loadModel({ directories: [join(root, "nowhere")] })).toThrow("nowhere");
  });
});
