/** Semantic changes derived from changes of aspects. */
import { describe, expect, test } from "vitest";
import { semanticChanges } from "../../src/core/timeline/semantic-changes.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";
const column = (path: string) => `urn:li:schemaField:(${urn},${path})`;
const stamp = { time: 0, actor: "urn:li:corpuser:a" };

type Value = Record<string, unknown> | undefined;

/** Category, operation, modifier and weight of each change. */
const changes = (aspect: string, before: Value, after: Value) =>
  semanticChanges({ urn, aspect, isKey: aspect === "datasetKey", before, after }).map(
    ({ category, operation, modifier, semVerChange }) =>
      [category, operation, modifier, semVerChange] as const,
  );

const field = (fieldPath: string, nativeDataType: string, more: object = {}) => ({
  ...{ fieldPath, nativeDataType },
  ...more,
});

describe("a semantic change", () => {
  test.each<readonly [string, Record<string, unknown>, string, string | undefined]>([
    ["globalTags", { tags: [{ tag: "urn:li:tag:a" }] }, "TAG", "urn:li:tag:a"],
    [
      "glossaryTerms",
      { terms: [{ urn: "urn:li:glossaryTerm:a" }], auditStamp: stamp },
      "GLOSSARY_TERM",
      "urn:li:glossaryTerm:a",
    ],
    [
      "ownership",
      { owners: [{ owner: "urn:li:corpuser:a", type: "DATAOWNER" }] },
      "OWNERSHIP",
      "urn:li:corpuser:a",
    ],
    ["domains", { domains: ["urn:li:domain:a"] }, "DOMAIN", "urn:li:domain:a"],
    [
      "applications",
      { applications: ["urn:li:application:a"] },
      "APPLICATION",
      "urn:li:application:a",
    ],
    [
      "structuredProperties",
      { properties: [{ propertyUrn: "urn:li:structuredProperty:p", values: [{ string: "1" }] }] },
      "STRUCTURED_PROPERTY",
      "urn:li:structuredProperty:p",
    ],
    [
      "glossaryTermInfo",
      { parentNode: "urn:li:glossaryNode:n" },
      "PARENT",
      "urn:li:glossaryNode:n",
    ],
    ["dataProductProperties", { assets: [{ destinationUrn: urn }] }, "ASSET_MEMBERSHIP", urn],
    [
      "glossaryRelatedTerms",
      { isRelatedTerms: ["urn:li:glossaryTerm:b"] },
      "RELATED_ENTITIES",
      "urn:li:glossaryTerm:b",
    ],
    [
      "businessAttributes",
      { businessAttribute: { businessAttributeUrn: "urn:li:businessAttribute:b" } },
      "BUSINESS_ATTRIBUTE",
      "urn:li:businessAttribute:b",
    ],
    [
      "institutionalMemory",
      { elements: [{ url: "https://a", description: "x" }] },
      "DOCUMENTATION",
      "https://a",
    ],
    ["editableDatasetProperties", { description: "x" }, "DOCUMENTATION", undefined],
    ["versionProperties", { version: { versionTag: "v1" } }, "VERSIONING", undefined],
    ["deprecation", { deprecated: true, note: "" }, "DEPRECATION", undefined],
  ])(
    "a change of %s is reported for an addition and a removal",
    (aspect, value, category, modifier) => {
      expect(changes(aspect, undefined, value)).toEqual([[category, "ADD", modifier, "MINOR"]]);
      expect(changes(aspect, value, undefined)).toEqual([[category, "REMOVE", modifier, "MINOR"]]);
      expect(changes(aspect, value, value)).toEqual([]);
    },
  );

  test("a changed text has the least weight", () => {
    const [before, after] = [{ description: "one" }, { description: "two" }];
    expect(changes("datasetProperties", before, after)).toEqual([
      ["DOCUMENTATION", "MODIFY", undefined, "PATCH"],
    ]);
  });

  test("a change of a schema lists its fields; a removed or retyped field breaks readers", () => {
    const before = { fields: [field("a", "int"), field("b", "int")], primaryKeys: ["a"] };
    const after = { fields: [field("a", "text"), field("c", "date")], primaryKeys: ["c"] };
    expect(changes("schemaMetadata", before, after)).toEqual([
      ["TECHNICAL_SCHEMA", "MODIFY", column("a"), "MAJOR"],
      ["TECHNICAL_SCHEMA", "ADD", column("c"), "MINOR"],
      ["TECHNICAL_SCHEMA", "MODIFY", undefined, "MAJOR"],
      ["TECHNICAL_SCHEMA", "REMOVE", column("b"), "MAJOR"],
    ]);
  });

  const schemaChanges = (before: readonly object[], after: readonly object[]) =>
    semanticChanges({
      ...{ urn, aspect: "schemaMetadata", isKey: false },
      ...{ before: { fields: before }, after: { fields: after } },
    }).map(({ category, operation, modifier, semVerChange, parameters }) => [
      ...[category, operation, modifier, semVerChange],
      parameters?.modificationCategory,
    ]);
  const schemaChange = (operation: string, path: string, weight: string, kind: string) => [
    ...["TECHNICAL_SCHEMA", operation, column(path), weight, kind],
  ];

  test("a changed path is a renaming if type, parent and description stay", () => {
    const tags = { globalTags: { tags: [{ tag: "urn:li:tag:pii" }] }, description: "x" };
    expect(schemaChanges([field("a", "int", tags)], [field("b", "int", tags)])).toEqual([
      schemaChange("MODIFY", "a", "MINOR", "RENAME"),
    ]);
    const [first] = semanticChanges({
      ...{ urn, aspect: "schemaMetadata", isKey: false },
      ...{ before: { fields: [field("a", "int")] }, after: { fields: [field("b", "int")] } },
    });
    expect(first).toMatchObject({
      parameters: { fieldPath: "a", fieldUrn: column("a"), nullable: false },
      description: `The field a was renamed to b: ${urn}`,
    });
  });

  test.each<readonly [string, object, object]>([
    ["type", field("a", "int"), field("b", "text")],
    ["parent", field("s.a", "int"), field("t.b", "int")],
    ["depth", field("a", "int"), field("t.b", "int")],
    ["description", field("a", "int", { description: "x" }), field("b", "int")],
  ])("a change of path and %s removes one field and adds another", (_, before, after) => {
    const kinds = schemaChanges([before], [after])
      .filter(([category]) => category === "TECHNICAL_SCHEMA")
      .map(([, operation, , weight, kind]) => [operation, weight, kind]);
    expect(kinds).toEqual([
      ["ADD", "MINOR", "OTHER"],
      ["REMOVE", "MAJOR", "OTHER"],
    ]);
  });

  test("several renamed fields are paired in the order of their paths", () => {
    const before = ["b", "a", "kept"].map((path) => field(path, "int"));
    const after = ["kept", "y", "x", "z"].map((path) => field(path, "int"));
    expect(schemaChanges(before, after)).toEqual([
      schemaChange("MODIFY", "a", "MINOR", "RENAME"),
      schemaChange("MODIFY", "b", "MINOR", "RENAME"),
      schemaChange("ADD", "z", "MINOR", "OTHER"),
    ]);
  });

  test("a changed type that is part of the path modifies the field", () => {
    const path = (type: string) => `[version=2.0].[type=struct].[type=${type}].a`;
    const [before, after] = [field(path("int"), "int"), field(path("long"), "bigint")];
    expect(schemaChanges([before], [after])).toEqual([
      schemaChange("MODIFY", path("long"), "MAJOR", "TYPE_CHANGE"),
    ]);
    // A source that starts to write types into its paths does not change the field.
    expect(schemaChanges([field("a", "int")], [before])).toEqual([]);
  });

  test("a changed nullability is not a type change", () => {
    const after = field("a", "int", { nullable: true });
    expect(schemaChanges([field("a", "int")], [after])).toEqual([
      schemaChange("MODIFY", "a", "MAJOR", "OTHER"),
    ]);
  });

  test("a change of editable field metadata belongs to the field", () => {
    const tags = { tags: [{ tag: "urn:li:tag:pii" }] };
    const info = { fieldPath: "a", description: "x", globalTags: tags };
    const [documented, tagged] = semanticChanges({
      ...{ urn, aspect: "editableSchemaMetadata", isKey: false, before: undefined },
      after: { editableSchemaFieldInfo: [info] },
    });
    expect(documented).toMatchObject({ category: "DOCUMENTATION", entityUrn: column("a") });
    expect(tagged).toMatchObject({
      ...{ category: "TAG", entityUrn: column("a"), modifier: "urn:li:tag:pii" },
      parameters: { tagUrn: "urn:li:tag:pii", fieldPath: "a", parentUrn: urn },
      description: `The tag urn:li:tag:pii was added: ${column("a")}`,
    });
  });

  test("lifecycle changes of the entity are reported", () => {
    const kinds = (aspect: string, before: Value, after: Value) =>
      changes(aspect, before, after).map(([category, operation]) => [category, operation]);
    expect(kinds("datasetKey", undefined, {})).toEqual([["LIFECYCLE", "CREATE"]]);
    expect(kinds("datasetKey", {}, undefined)).toEqual([["LIFECYCLE", "HARD_DELETE"]]);
    expect(kinds("status", { removed: false }, { removed: true })).toEqual([
      ["LIFECYCLE", "SOFT_DELETE"],
    ]);
    expect(kinds("status", { removed: true }, undefined)).toEqual([["LIFECYCLE", "REINSTATE"]]);
    expect(kinds("status", undefined, { removed: false })).toEqual([]);
  });

  test("other changes produce no semantic change", () => {
    expect(changes("browsePathsV2", undefined, { path: [] })).toEqual([]);
    expect(changes("globalTags", undefined, { tags: "what a model of its own has" })).toEqual([]);
  });
});
