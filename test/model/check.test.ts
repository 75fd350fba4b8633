/** Values that Model.check accepts, how it normalizes them, and its errors for others. */
import { describe, expect, test } from "vitest";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";
import { aspectNamed, defaultModel as model } from "./default-model.ts";

/** Parses the value from JSON text, as values of clients arrive. */
const check = (aspect: string, value: unknown) =>
  model.check(
    aspectNamed(aspect),
    JSON.parse(typeof value === "string" ? value : JSON.stringify(value)),
  );

const unknownStamp = { time: 0, actor: "urn:li:corpuser:unknown" };
const owner = { owner: "urn:li:corpuser:mira", type: "DATAOWNER" };
const schema = {
  schemaName: "s",
  platform: "urn:li:dataPlatform:hive",
  version: 0,
  hash: "",
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: [],
};
const schemaDefaults = { created: unknownStamp, lastModified: unknownStamp };

describe("Model.check accepts and normalizes", () => {
  const cases: readonly [what: string, aspect: string, value: unknown, becomes: unknown][] = [
    ["a complete value", "status", { removed: true }, { removed: true }],
    ["a default", "status", {}, { removed: false }],
    [
      "defaults that are maps and records",
      "ownership",
      { owners: [] },
      { owners: [], ownerTypes: {}, lastModified: unknownStamp },
    ],
    [
      "a default of an optional record",
      "datasetProfile",
      { timestampMillis: 1 },
      {
        timestampMillis: 1,
        partitionSpec: { type: "FULL_TABLE", partition: "FULL_TABLE_SNAPSHOT" },
      },
    ],
    [
      "a partial record, which is completed",
      "datasetProfile",
      { timestampMillis: 1, partitionSpec: { partition: "day=1" } },
      { timestampMillis: 1, partitionSpec: { type: "PARTITION", partition: "day=1" } },
    ],
    ["an absent optional field", "tagProperties", { name: "t" }, { name: "t" }],
    [
      "null for an optional field",
      "tagProperties",
      { name: "t", description: null },
      { name: "t" },
    ],
    [
      "null for an optional field with a default",
      "ownership",
      { owners: [], ownerTypes: null, lastModified: unknownStamp },
      { owners: [], ownerTypes: {}, lastModified: unknownStamp },
    ],
    ["an unknown field", "tagProperties", { name: "t", warp: { deep: [1] } }, { name: "t" }],
    [
      "unknown fields at depth",
      "ownership",
      {
        owners: [{ ...owner, warp: 1, source: { type: "MANUAL", warp: 2 } }],
        lastModified: unknownStamp,
      },
      {
        owners: [{ ...owner, source: { type: "MANUAL" } }],
        lastModified: unknownStamp,
        ownerTypes: {},
      },
    ],
    [
      "a union's record under another prefix",
      "schemaMetadata",
      { ...schema, platformSchema: { "org.acme.schema.OtherSchema": { rawSchema: "x" } } },
      {
        ...schema,
        ...schemaDefaults,
        platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "x" } },
      },
    ],
    [
      "a union in the record of a union, by simple name",
      "schemaMetadata",
      {
        ...schema,
        fields: [{ fieldPath: "a", nativeDataType: "int", type: { type: { NumberType: {} } } }],
      },
      {
        ...schema,
        ...schemaDefaults,
        fields: [
          {
            fieldPath: "a",
            nativeDataType: "int",
            type: { type: { "com.linkedin.schema.NumberType": {} } },
            nullable: false,
            recursive: false,
            isPartOfKey: false,
          },
        ],
      },
    ],
    [
      "a union with a single member in an array",
      "chartInfo",
      {
        title: "c",
        description: "",
        lastModified: {},
        inputs: [{ string: "urn:x:dataset:(urn:y:dataPlatform:hive,a,PROD)" }],
      },
      {
        title: "c",
        description: "",
        lastModified: { created: unknownStamp, lastModified: unknownStamp },
        inputs: [{ string: "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)" }],
        customProperties: {},
      },
    ],
    [
      "an optional union with a single member",
      "mlModelQuantitativeAnalyses",
      { unitaryResults: { string: "good" }, intersectionalResults: null },
      { unitaryResults: { string: "good" } },
    ],
    [
      "a union by alias",
      "cost",
      { costType: "ORG_COST_TYPE", cost: { costCode: "c1" } },
      { costType: "ORG_COST_TYPE", cost: { costCode: "c1" } },
    ],
    [
      "a union by alias with DataHub's discriminator",
      "cost",
      {
        costType: "ORG_COST_TYPE",
        cost: { costId: null, costCode: "c1", fieldDiscriminator: "costCode" },
      },
      { costType: "ORG_COST_TYPE", cost: { costCode: "c1" } },
    ],
    [
      "a union of primitives in a map's values",
      "mlModelProperties",
      { hyperParameters: { rate: { double: 0.5 }, name: { string: "x" }, on: { boolean: true } } },
      {
        hyperParameters: { rate: { double: 0.5 }, name: { string: "x" }, on: { boolean: true } },
        customProperties: {},
        tags: [],
      },
    ],
    [
      "urns of any namespace, nested ones too",
      "upstreamLineage",
      {
        upstreams: [
          {
            auditStamp: { time: 5, actor: "urn:acme:corpuser:a" },
            dataset: "urn:acme:dataset:(urn:acme:dataPlatform:kafka,x,PROD)",
            type: "COPY",
          },
        ],
      },
      {
        upstreams: [
          {
            auditStamp: { time: 5, actor: "urn:li:corpuser:a" },
            dataset: "urn:li:dataset:(urn:li:dataPlatform:kafka,x,PROD)",
            type: "COPY",
          },
        ],
      },
    ],
    [
      "keys of maps unchanged, urns or not",
      "ownership",
      {
        owners: [],
        ownerTypes: { "urn:acme:ownershipType:x": ["urn:acme:corpuser:a"], other: [] },
        lastModified: unknownStamp,
      },
      {
        owners: [],
        ownerTypes: { "urn:acme:ownershipType:x": ["urn:li:corpuser:a"], other: [] },
        lastModified: unknownStamp,
      },
    ],
    [
      "text that looks like a urn, unchanged",
      "tagProperties",
      { name: "urn:acme:tag:t" },
      { name: "urn:acme:tag:t" },
    ],
    [
      "the largest and the smallest safe integers",
      "operation",
      {
        timestampMillis: Number.MAX_SAFE_INTEGER,
        numAffectedRows: Number.MIN_SAFE_INTEGER,
        operationType: "INSERT",
        lastUpdatedTimestamp: 1e3,
      },
      {
        timestampMillis: Number.MAX_SAFE_INTEGER,
        numAffectedRows: Number.MIN_SAFE_INTEGER,
        operationType: "INSERT",
        lastUpdatedTimestamp: 1000,
        partitionSpec: { type: "FULL_TABLE", partition: "FULL_TABLE_SNAPSHOT" },
      },
    ],
  ];

  test.each(cases)("%s", (_what, aspect, value, becomes) => {
    const checked = check(aspect, value);
    expect(checked).toEqual({ ok: true, value: becomes });
    // A normalized value is not changed again.
    expect(check(aspect, becomes)).toEqual({ ok: true, value: becomes });
  });

  test("equal values are normalized to equal text", () => {
    const text = JSON.stringify({ owners: [{ ...owner, x: null }], warp: 1 });
    const [one, two] = [check("ownership", text), check("ownership", text)];
    expect(JSON.stringify(one)).toBe(JSON.stringify(two));
  });

  test("a default is a new value each time", () => {
    const one = check("ownership", { owners: [] });
    const two = check("ownership", { owners: [] });
    if (!one.ok || !two.ok) throw new Error("rejected");
    (one.value.ownerTypes as Record<string, unknown>).x = [];
    expect(two.value.ownerTypes).toEqual({});
    expect(check("ownership", { owners: [] })).toMatchObject({ value: { ownerTypes: {} } });
  });
});

describe("Model.check rejects a value:", () => {
  const cases: readonly [aspect: string, value: unknown, path: string, says: readonly string[]][] =
    [
      [
        "ownership",
        { owners: [{ type: "DATAOWNER" }] },
        "/owners/0/owner",
        ["field is required but not found and has no default value", "expected a urn"],
      ],
      ["datasetProfile", { rowCount: 1 }, "/timestampMillis", ["field is required but not found"]],
      ["tagProperties", { name: null }, "/name", ["null cannot be coerced to String"]],
      ["status", { removed: null }, "/removed", ["null cannot be coerced to Boolean"]],
      [
        "status",
        { removed: "maybe" },
        "/removed",
        ['"maybe" cannot be coerced to Boolean', "expected true or false"],
      ],
      ["status", { removed: "true" }, "/removed", ['"true" cannot be coerced to Boolean']],
      ["status", { removed: 1 }, "/removed", ["1 cannot be coerced to Boolean"]],
      [
        "tagProperties",
        { name: "t", description: 7 },
        "/description",
        ["7 cannot be coerced to String"],
      ],
      ["tagProperties", { name: ["t"] }, "/name", ["an array of 1 cannot be coerced to String"]],
      ["tagProperties", { name: { a: 1 } }, "/name", ["{a} cannot be coerced to String"]],
      [
        "ownership",
        { owners: [{ ...owner, type: "EMPEROR" }] },
        "/owners/0/type",
        ['"EMPEROR" is not an enum symbol', "expected one of ", "DATAOWNER"],
      ],
      [
        "ownership",
        { owners: [{ ...owner, type: "dataowner" }] },
        "/owners/0/type",
        ["enum symbol"],
      ],
      [
        "ownership",
        { owners: [{ ...owner, type: 3 }] },
        "/owners/0/type",
        ["3 is not an enum symbol"],
      ],
      [
        "ownership",
        { owners: [owner, null] },
        "/owners/1",
        ["null cannot be coerced", "common.Owner"],
      ],
      ["ownership", { owners: {} }, "/owners", ["{} cannot be coerced to Array"]],
      [
        "ownership",
        { owners: "x" },
        "/owners",
        ['"x" cannot be coerced to Array', "expected an array"],
      ],
      ["ownership", { owners: [], ownerTypes: [] }, "/ownerTypes", ["an array of 0", "Map"]],
      [
        "ownership",
        { owners: [], lastModified: 3 },
        "/lastModified",
        ["3 cannot be coerced", "AuditStamp"],
      ],
      [
        "ownership",
        { owners: [{ ...owner, owner: "jdoe" }] },
        "/owners/0/owner",
        ['"jdoe" cannot be coerced to Urn', "expected a urn"],
      ],
      ["ownership", { owners: [{ ...owner, owner: "urn:li:x" }] }, "/owners/0/owner", ["to Urn"]],
      [
        "ownership",
        { owners: [{ ...owner, owner: "urn:li:corpuser:" }] },
        "/owners/0/owner",
        ["to Urn"],
      ],
      [
        "ownership",
        { owners: [{ ...owner, owner: 5 }] },
        "/owners/0/owner",
        ["5 cannot be coerced"],
      ],
      [
        "datasetProfile",
        { timestampMillis: 1.5 },
        "/timestampMillis",
        ["1.5 cannot be coerced to Long"],
      ],
      [
        "datasetProfile",
        { timestampMillis: "1" },
        "/timestampMillis",
        ['"1" cannot be coerced to Long'],
      ],
      [
        "datasetProfile",
        '{"timestampMillis":9007199254740993}',
        "/timestampMillis",
        [
          "a number near 9007199254740992 is out of range for Long",
          "expected an integer from -9007199254740991 to 9007199254740991",
        ],
      ],
      [
        "datasetProfile",
        '{"timestampMillis":1e999}',
        "/timestampMillis",
        ["Infinity cannot be coerced"],
      ],
      [
        "datasetUsageStatistics",
        { timestampMillis: 1, uniqueUserCount: 2 ** 31 },
        "/uniqueUserCount",
        ["2147483648 is out of range for Integer", "2147483647"],
      ],
      [
        "datasetProfile",
        { timestampMillis: 1, fieldProfiles: [{ fieldPath: "a", nullProportion: 1e39 }] },
        "/fieldProfiles/0/nullProportion",
        ["1e+39 is out of range for Float"],
      ],
      [
        "cost",
        '{"costType":"ORG_COST_TYPE","cost":{"costId":-1e999}}',
        "/cost/costId",
        ["-Infinity cannot be coerced to Double"],
      ],
      [
        "cost",
        { costType: "ORG_COST_TYPE", cost: { double: 1 } },
        "/cost",
        ["{double} is not a member type of union", "costId or costCode"],
      ],
      [
        "cost",
        { costType: "ORG_COST_TYPE", cost: {} },
        "/cost",
        ["{} is not a member type of union"],
      ],
      [
        "cost",
        { costType: "ORG_COST_TYPE", cost: { costId: 1, costCode: "a" } },
        "/cost",
        ["{costId, costCode} is not a member type of union"],
      ],
      ["cost", { costType: "ORG_COST_TYPE", cost: 1 }, "/cost", ["1 cannot be coerced to Union"]],
      [
        "schemaMetadata",
        { ...schema, platformSchema: { "com.linkedin.schema.OtherSchema": {} } },
        "/platformSchema/com.linkedin.schema.OtherSchema/rawSchema",
        ["field is required"],
      ],
      ["mlModelQuantitativeAnalyses", { unitaryResults: "good" }, "/unitaryResults", ["to Union"]],
      ["status", [], "", ["an array of 0 cannot be coerced to com.linkedin.common.Status"]],
      ["status", "null", "", ["null cannot be coerced", "expected an object"]],
      ["status", '"x"', "", ['"x" cannot be coerced']],
      [
        "datasetProperties",
        { customProperties: { "a/b": 1 } },
        "/customProperties/a~1b",
        ["1 cannot be coerced to String"],
      ],
    ];

  test.each(cases)("%s of %j at %s", (aspect, value, path, says) => {
    const checked = check(aspect, value);
    if (checked.ok) throw new Error("accepted");
    const error = checked.validationErrors.find((m) => m.path === path);
    for (const words of says) expect(error?.message).toContain(words);
  });

  test("all errors of a value are returned together", () => {
    const checked = check("ownership", {
      owners: [{ type: "EMPEROR" }, { ...owner, owner: 1 }],
      lastModified: { time: "now" },
    });
    if (checked.ok) throw new Error("accepted");
    expect(checked.validationErrors.map(({ path }) => path).sort()).toEqual([
      "/lastModified/actor",
      "/lastModified/time",
      "/owners/0/owner",
      "/owners/0/type",
      "/owners/1/owner",
    ]);
  });

  test("at most ten errors are returned", () => {
    const many = Array.from({ length: 300_000 }, () => 0);
    const started = cpuMilliseconds();
    const bad = [
      check("globalTags", { tags: many }),
      check("datasetProperties", { customProperties: { ...many } }),
      check("upstreamLineage", { upstreams: [], fineGrainedLineages: many.map(() => ({})) }),
    ];
    for (const checked of bad) expect(checked.ok || checked.validationErrors).toHaveLength(10);
    expect(cpuMilliseconds() - started).toBeLessThan(5_000);
  });

  test("errors do not repeat a long value or key", () => {
    const long = "x".repeat(1_000_000);
    for (const value of [{ name: { [long]: 1 } }, { name: "t", description: [long] }]) {
      const checked = check("tagProperties", value);
      if (checked.ok) throw new Error("accepted");
      expect(JSON.stringify(checked).length).toBeLessThan(1_000);
    }
    const inMap = check("datasetProperties", { customProperties: { [long]: 1 } });
    if (inMap.ok) throw new Error("accepted");
    expect(JSON.stringify(inMap).length).toBeLessThan(2_000);
  });
});

describe("member names of prototypes", () => {
  test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "%s is an ordinary key of a map",
    (key) => {
      const text = `{"name":"d","customProperties":{"${key}":"mine"},"tags":[]}`;
      const checked = check("datasetProperties", text);
      expect(JSON.stringify(checked)).toBe(`{"ok":true,"value":${text}}`);
    },
  );

  test.each(["__proto__", "constructor", "prototype"])("%s is not a field of a record", (key) => {
    const checked = check(
      "ownership",
      `{"owners":[{"owner":"urn:li:corpuser:a","type":"NONE",
      "${key}":{"polluted":1}}],"${key}":{"polluted":1},"lastModified":{"time":1,"actor":"urn:li:corpuser:a"}}`,
    );
    expect(JSON.stringify(checked)).not.toContain("polluted");
    expect(checked.ok).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("an inherited member does not fill a missing field", () => {
    const checked = check("tagProperties", '{"__proto__":{"name":"inherited"}}');
    expect(checked).toMatchObject({ ok: false, validationErrors: [{ path: "/name" }] });
  });

  test.each(["__proto__", "constructor", "toString"])("%s is not a member of a union", (key) => {
    const checked = check("cost", `{"costType":"ORG_COST_TYPE","cost":{"${key}":1}}`);
    expect(checked).toMatchObject({ ok: false, validationErrors: [{ path: "/cost" }] });
  });

  test("a urn in a map under __proto__ gets the namespace in place", () => {
    const text =
      '{"owners":[],"ownerTypes":{"__proto__":["urn:acme:corpuser:a"]},"lastModified":{"time":1,"actor":"urn:li:corpuser:a"}}';
    const checked = check("ownership", text);
    expect(JSON.stringify(checked)).toBe(`{"ok":true,"value":${text.replace("acme", "li")}}`);
  });
});
