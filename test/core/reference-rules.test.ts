/** Rules of aspects that refer to other entities. */
import { describe, expect, test } from "vitest";
import { searchedName } from "../../src/core/rules/reference-rules.ts";
import { refusalOf } from "../../src/core/rules/write-rules.ts";
import type { JsonObject } from "../../src/lib/json.ts";

type Stored = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";
const column = (path: string, of = dataset) => `urn:li:schemaField:(${of},${path})`;

function refusal(
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
  return refusalOf(aspect, value, { namespace: "li", urn, others, previous })?.text;
}

describe("a lifecycle stage", () => {
  const draft = "urn:li:lifecycleStageType:DRAFT";
  const stored = {
    [draft]: { lifecycleStageTypeInfo: { name: "Draft", entityTypes: ["dataset"] } },
  };
  const value = { removed: false, lifecycleStage: draft };

  test("a lifecycle stage must be defined and admit the entity's type", () => {
    expect(refusal([dataset, "status"], value, { stored })).toBeUndefined();
    expect(refusal([dataset, "status"], { removed: false })).toBeUndefined();
    expect(refusal([dataset, "status"], value)).toContain(
      `Lifecycle stage '${draft}' does not exist`,
    );
    expect(refusal([dataset, "status"], value, { stored: { [draft]: {} } })).toBeDefined();
    expect(refusal(["urn:li:tag:x", "status"], value, { stored })).toContain(
      "does not apply to entity type 'tag'",
    );
  });

  test("a lifecycle stage stays valid if the entity already has it", () => {
    expect(refusal([dataset, "status"], value, { previous: value })).toBeUndefined();
  });
});

describe("a version", () => {
  const set = "urn:li:versionSet:(s,dataset)";
  const version = { versionSet: set, sortId: "b", versioningScheme: "LEXICOGRAPHIC_STRING" };
  const generated = { ...version, versioningScheme: "ALPHANUMERIC_GENERATED_BY_DATAHUB" };
  const at = [dataset, "versionProperties"] as const;

  test("a version is in a version set of the entity's type and of its scheme", () => {
    expect(refusal(at, version)).toBeUndefined();
    expect(refusal(at, { ...version, versionSet: "urn:li:versionSet:(s,mlModel)" })).toContain(
      "Version Set specified entity type does not match",
    );
    const stored = {
      [set]: { versionSetProperties: { versioningScheme: "LEXICOGRAPHIC_STRING" } },
    };
    expect(refusal(at, version, { stored })).toBeUndefined();
    expect(refusal(at, { ...generated, sortId: "AAAAAAAA" }, { stored })).toContain(
      "Versioning Scheme does not match",
    );
  });

  test("a version without a versioning scheme has the model's default scheme", () => {
    const { versioningScheme, ...unstated } = version;
    const lexicographic = { [set]: { versionSetProperties: { versioningScheme } } };
    expect(refusal(at, unstated, { stored: lexicographic })).toBeUndefined();
    const other = { versioningScheme: generated.versioningScheme };
    expect(refusal(at, unstated, { stored: { [set]: { versionSetProperties: other } } })).toContain(
      'Versioning Scheme does not match Version Set properties: "LEXICOGRAPHIC_STRING"',
    );
  });

  test("a sort id that DataHub generates has eight capital letters", () => {
    expect(refusal(at, { ...generated, sortId: "AAAAAAAB" })).toBeUndefined();
    expect(refusal(at, generated)).toContain("Invalid sortID");
  });

  test("a version set keeps its versioning scheme", () => {
    const of = [set, "versionSetProperties"] as const;
    expect(refusal(of, version)).toBeUndefined();
    expect(refusal(of, version, { previous: version })).toBeUndefined();
    expect(refusal(of, generated, { previous: version })).toContain("cannot change");
  });
});

describe("a logical parent", () => {
  const parent = (destinationUrn: string) => ({ parent: { destinationUrn } });
  const logical = dataset.replace(",t,", ",logical,");

  test("the logical parent of a dataset is a dataset", () => {
    expect(refusal([dataset, "logicalParent"], parent(logical))).toBeUndefined();
    expect(refusal([dataset, "logicalParent"], {})).toBeUndefined();
    expect(refusal([dataset, "logicalParent"], parent(column("a")))).toContain("is a dataset");
  });

  test("the logical parent of a column is a column, and the schemas have both", () => {
    const schema = (fieldPath: string) => ({ schemaMetadata: { fields: [{ fieldPath }] } });
    const stored = { [dataset]: schema("a"), [logical]: schema("b") };
    const at = [column("a"), "logicalParent"] as const;
    expect(refusal(at, parent(column("b", logical)), { stored })).toBeUndefined();
    expect(refusal(at, parent(column("c", logical)), { stored })).toContain("is not a column");
    expect(refusal([column("z"), at[1]], parent(column("b", logical)), { stored })).toContain(
      `"${column("z")}" is not a column`,
    );
  });
});

describe("settings of a structured property", () => {
  const at = ["urn:li:structuredProperty:tier", "structuredPropertySettings"] as const;
  const badge = { showAsAssetBadge: true };

  test("the settings of a property cannot both hide and show it", () => {
    expect(refusal(at, { isHidden: true })).toBeUndefined();
    expect(refusal(at, { isHidden: true, showInColumnsTable: true })).toContain(
      'other display location settings are also true: "showInColumnsTable"',
    );
  });

  test("only one property is the badge", () => {
    const other = "urn:li:structuredProperty:other";
    const stored = { [other]: { structuredPropertySettings: badge } };
    expect(refusal(at, badge)).toBeUndefined();
    expect(refusal(at, badge, { stored: { [at[0]]: { structuredPropertySettings: badge } } })).toBe(
      undefined,
    );
    expect(refusal(at, badge, { stored })).toContain(`"${other}" is set`);
    const removed = { [other]: { ...stored[other], status: { removed: true } } };
    expect(refusal(at, badge, { stored: removed })).toBeUndefined();
  });
});

test("prompt ids are unique within a form and across forms", () => {
  const at = ["urn:li:form:a", "formInfo"] as const;
  const form = (...ids: readonly string[]) => ({ name: "f", prompts: ids.map((id) => ({ id })) });
  expect(refusal(at, form("p", "q"))).toBeUndefined();
  expect(refusal(at, form("p", "q", "p"))).toContain('duplicate prompt IDs given: "p"');
  const stored = { "urn:li:form:b": { formInfo: form("q") } };
  expect(refusal(at, form("p"), { stored })).toBeUndefined();
  expect(refusal(at, form("p", "q"), { stored })).toContain('"q" is a prompt of "urn:li:form:b"');
  expect(refusal(at, form("q", "r"), { stored, previous: form("q") })).toBeUndefined();
});

describe("a definition", () => {
  const at = ["urn:li:structuredProperty:io.acme.tier", "propertyDefinition"] as const;
  const value = { qualifiedName: "io.acme.tier" };
  const namesake = "urn:li:structuredProperty:io.acme_tier";

  test("a definition has a unique search field", () => {
    const definition = { propertyDefinition: { qualifiedName: "io.acme_tier" } };
    expect(refusal(at, value, { stored: { [at[0]]: definition } })).toBeUndefined();
    expect(refusal(at, value, { stored: { [namesake]: definition } })).toContain(
      `"${namesake}" have one search field`,
    );
    const removed = { ...definition, status: { removed: true } };
    expect(refusal(at, value, { stored: { [namesake]: removed } })).toBeUndefined();
    expect(refusal(at, value, { stored: { [namesake]: {} } })).toBeUndefined();
  });

  test("a definition allows only existing entity types", () => {
    const type = "urn:li:entityType:datahub.dataset";
    const limited = (...allowedTypes: readonly string[]) => ({
      ...value,
      typeQualifier: { allowedTypes },
    });
    expect(refusal(at, limited(type), { stored: { [type]: {} } })).toBeUndefined();
    expect(refusal(at, limited(type))).toContain(`"${type}" is not an entity type that exists`);
    expect(refusal(at, limited("dataset"))).toContain('"dataset" is not an entity type');
  });
});
