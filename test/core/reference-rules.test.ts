/** Rules of aspects that refer to other entities. */
import { describe, expect, test } from "vitest";
import { searchedName } from "../../src/core/rules/reference-rules.ts";
import { rejectionOf } from "../../src/core/rules/write-rules.ts";
import type { JsonObject } from "../../src/lib/json.ts";

type Stored = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";
const column = (path: string, of = dataset) => `urn:li:schemaField:(${of},${path})`;

function rejection(
  [urn, aspect]: readonly [string, string],
  value: JsonObject,
  { stored = {}, previous }: { stored?: Stored; previous?: JsonObject } = {},
) {
  const entities = Object.entries(stored).map(([of, aspects]) => {
    const values = new Map(Object.entries(aspects));
    return { urn: of, aspect: (name: string) => values.get(name) };
  });
  const others = {
    find: (of: string) => entities.find((one) => one.urn === of),
    withKey: (type: string, key: string) =>
      entities.filter((one) => {
        if (one.urn.split(":")[2] !== type) return false;
        return key === "" || searchedName(one.urn) === key;
      }),
  };
  return rejectionOf(aspect, value, { namespace: "li", urn, others, previous })?.text;
}

describe("a lifecycle stage", () => {
  const draft = "urn:li:lifecycleStageType:DRAFT";
  const stored = {
    [draft]: { lifecycleStageTypeInfo: { name: "Draft", entityTypes: ["dataset"] } },
  };
  const value = { removed: false, lifecycleStage: draft };

  test("a lifecycle stage must be defined and admit the entity's type", () => {
    expect(rejection([dataset, "status"], value, { stored })).toBeUndefined();
    expect(rejection([dataset, "status"], { removed: false })).toBeUndefined();
    expect(rejection([dataset, "status"], value)).toContain(
      `Lifecycle stage '${draft}' does not exist`,
    );
    expect(rejection([dataset, "status"], value, { stored: { [draft]: {} } })).toBeDefined();
    expect(rejection(["urn:li:tag:x", "status"], value, { stored })).toContain(
      "does not apply to entity type 'tag'",
    );
  });

  test("a lifecycle stage stays valid if the entity already has it", () => {
    expect(rejection([dataset, "status"], value, { previous: value })).toBeUndefined();
  });
});

describe("a version", () => {
  const set = "urn:li:versionSet:(s,dataset)";
  const version = { versionSet: set, sortId: "b", versioningScheme: "LEXICOGRAPHIC_STRING" };
  const generated = { ...version, versioningScheme: "ALPHANUMERIC_GENERATED_BY_DATAHUB" };
  const at = [dataset, "versionProperties"] as const;

  test("a version is in a version set of the entity's type and of its scheme", () => {
    expect(rejection(at, version)).toBeUndefined();
    expect(rejection(at, { ...version, versionSet: "urn:li:versionSet:(s,mlModel)" })).toContain(
      "Version Set specified entity type does not match",
    );
    const stored = {
      [set]: { versionSetProperties: { versioningScheme: "LEXICOGRAPHIC_STRING" } },
    };
    expect(rejection(at, version, { stored })).toBeUndefined();
    expect(rejection(at, { ...generated, sortId: "AAAAAAAA" }, { stored })).toContain(
      "Versioning Scheme does not match",
    );
  });

  test("a version without a versioning scheme has the model's default scheme", () => {
    const { versioningScheme, ...unstated } = version;
    const lexicographic = { [set]: { versionSetProperties: { versioningScheme } } };
    expect(rejection(at, unstated, { stored: lexicographic })).toBeUndefined();
    const other = { versioningScheme: generated.versioningScheme };
    expect(
      rejection(at, unstated, { stored: { [set]: { versionSetProperties: other } } }),
    ).toContain('Versioning Scheme does not match Version Set properties: "LEXICOGRAPHIC_STRING"');
  });

  test("a sort id that DataHub generates has eight capital letters", () => {
    expect(rejection(at, { ...generated, sortId: "AAAAAAAB" })).toBeUndefined();
    expect(rejection(at, generated)).toContain("Invalid sortID");
  });

  test("a version set keeps its versioning scheme", () => {
    const of = [set, "versionSetProperties"] as const;
    expect(rejection(of, version)).toBeUndefined();
    expect(rejection(of, version, { previous: version })).toBeUndefined();
    expect(rejection(of, generated, { previous: version })).toContain("cannot change");
  });
});

describe("a logical parent", () => {
  const parent = (destinationUrn: string) => ({ parent: { destinationUrn } });
  const logical = dataset.replace(",t,", ",logical,");

  test("the logical parent of a dataset is a dataset", () => {
    expect(rejection([dataset, "logicalParent"], parent(logical))).toBeUndefined();
    expect(rejection([dataset, "logicalParent"], {})).toBeUndefined();
    expect(rejection([dataset, "logicalParent"], parent(column("a")))).toContain("is a dataset");
  });

  test("the logical parent of a column is a column, and the schemas have both", () => {
    const schema = (fieldPath: string) => ({ schemaMetadata: { fields: [{ fieldPath }] } });
    const stored = { [dataset]: schema("a"), [logical]: schema("b") };
    const at = [column("a"), "logicalParent"] as const;
    expect(rejection(at, parent(column("b", logical)), { stored })).toBeUndefined();
    expect(rejection(at, parent(column("c", logical)), { stored })).toContain("is not a column");
    expect(rejection([column("z"), at[1]], parent(column("b", logical)), { stored })).toContain(
      `"${column("z")}" is not a column`,
    );
  });
});

describe("settings of a structured property", () => {
  const at = ["urn:li:structuredProperty:tier", "structuredPropertySettings"] as const;
  const badge = { showAsAssetBadge: true };

  test("the settings of a property cannot both hide and show it", () => {
    expect(rejection(at, { isHidden: true })).toBeUndefined();
    expect(rejection(at, { isHidden: true, showInColumnsTable: true })).toContain(
      'other display location settings are also true: "showInColumnsTable"',
    );
  });

  test("only one property is the badge", () => {
    const other = "urn:li:structuredProperty:other";
    const stored = { [other]: { structuredPropertySettings: badge } };
    expect(rejection(at, badge)).toBeUndefined();
    expect(
      rejection(at, badge, { stored: { [at[0]]: { structuredPropertySettings: badge } } }),
    ).toBe(undefined);
    expect(rejection(at, badge, { stored })).toContain(`"${other}" is set`);
    const removed = { [other]: { ...stored[other], status: { removed: true } } };
    expect(rejection(at, badge, { stored: removed })).toBeUndefined();
  });
});

test("prompt ids are unique within a form and across forms", () => {
  const at = ["urn:li:form:a", "formInfo"] as const;
  const form = (...ids: readonly string[]) => ({ name: "f", prompts: ids.map((id) => ({ id })) });
  expect(rejection(at, form("p", "q"))).toBeUndefined();
  expect(rejection(at, form("p", "q", "p"))).toContain('duplicate prompt IDs given: "p"');
  const stored = { "urn:li:form:b": { formInfo: form("q") } };
  expect(rejection(at, form("p"), { stored })).toBeUndefined();
  expect(rejection(at, form("p", "q"), { stored })).toContain('"q" is a prompt of "urn:li:form:b"');
  expect(rejection(at, form("q", "r"), { stored, previous: form("q") })).toBeUndefined();
});

describe("a definition", () => {
  const at = ["urn:li:structuredProperty:io.acme.tier", "propertyDefinition"] as const;
  const value = { qualifiedName: "io.acme.tier" };
  const namesake = "urn:li:structuredProperty:io.acme_tier";

  test("a definition has a unique search field", () => {
    const definition = { propertyDefinition: { qualifiedName: "io.acme_tier" } };
    expect(rejection(at, value, { stored: { [at[0]]: definition } })).toBeUndefined();
    expect(rejection(at, value, { stored: { [namesake]: definition } })).toContain(
      `"${namesake}" have one search field`,
    );
    const removed = { ...definition, status: { removed: true } };
    expect(rejection(at, value, { stored: { [namesake]: removed } })).toBeUndefined();
    expect(rejection(at, value, { stored: { [namesake]: {} } })).toBeUndefined();
  });

  test("a definition allows only existing entity types", () => {
    const type = "urn:li:entityType:datahub.dataset";
    const limited = (...allowedTypes: readonly string[]) => ({
      ...value,
      typeQualifier: { allowedTypes },
    });
    expect(rejection(at, limited(type), { stored: { [type]: {} } })).toBeUndefined();
    expect(rejection(at, limited(type))).toContain(`"${type}" is not an entity type that exists`);
    expect(rejection(at, limited("dataset"))).toContain('"dataset" is not an entity type');
  });
});
