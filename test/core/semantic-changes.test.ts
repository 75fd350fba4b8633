/** What changes of aspects mean to people. */
import { describe, expect, test } from "vitest";
import { semanticChanges } from "../../src/core/semantic-changes.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";
const column = (path: string) => `urn:li:schemaField:(${urn},${path})`;
const stamp = { time: 0, actor: "urn:li:corpuser:a" };

type Value = Record<string, unknown> | undefined;

/** Category, operation, modifier and weight of each. */
const changes = (aspect: string, before: Value, after: Value) =>
  semanticChanges({ urn, aspect, isKey: aspect === "datasetKey", before, after }).map(
    ({ category, operation, modifier, semVerChange }) =>
      [category, operation, modifier, semVerChange] as const,
  );

const field = (fieldPath: string, nativeDataType: string, more: object = {}) => ({
  ...{ fieldPath, nativeDataType },
  ...more,
});

describe("a change", () => {
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
  ])("of %s is told when it comes and when it goes", (aspect, value, category, modifier) => {
    expect(changes(aspect, undefined, value)).toEqual([[category, "ADD", modifier, "MINOR"]]);
    expect(changes(aspect, value, undefined)).toEqual([[category, "REMOVE", modifier, "MINOR"]]);
    expect(changes(aspect, value, value)).toEqual([]);
  });

  test("of a text is the least", () => {
    const [before, after] = [{ description: "one" }, { description: "two" }];
    expect(changes("datasetProperties", before, after)).toEqual([
      ["DOCUMENTATION", "MODIFY", undefined, "PATCH"],
    ]);
  });

  test("of a schema is told field by field; what readers rely on breaks them", () => {
    const before = { fields: [field("a", "int"), field("b", "int")], primaryKeys: ["a"] };
    const after = { fields: [field("a", "text"), field("c", "int")], primaryKeys: ["c"] };
    expect(changes("schemaMetadata", before, after)).toEqual([
      ["TECHNICAL_SCHEMA", "MODIFY", column("a"), "MAJOR"],
      ["TECHNICAL_SCHEMA", "ADD", column("c"), "MINOR"],
      ["TECHNICAL_SCHEMA", "MODIFY", undefined, "MAJOR"],
      ["TECHNICAL_SCHEMA", "REMOVE", column("b"), "MAJOR"],
    ]);
  });

  test("of what is said of a field is about the field", () => {
    const tags = { tags: [{ tag: "urn:li:tag:pii" }] };
    const told = { fieldPath: "a", description: "x", globalTags: tags };
    const [documented, tagged] = semanticChanges({
      ...{ urn, aspect: "editableSchemaMetadata", isKey: false, before: undefined },
      after: { editableSchemaFieldInfo: [told] },
    });
    expect(documented).toMatchObject({ category: "DOCUMENTATION", entityUrn: column("a") });
    expect(tagged).toMatchObject({
      ...{ category: "TAG", entityUrn: column("a"), modifier: "urn:li:tag:pii" },
      parameters: { tagUrn: "urn:li:tag:pii", fieldPath: "a", parentUrn: urn },
      description: `The tag urn:li:tag:pii was added: ${column("a")}`,
    });
  });

  test("of its life is told", () => {
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

  test("of what says nothing of the kind is none", () => {
    expect(changes("browsePathsV2", undefined, { path: [] })).toEqual([]);
    expect(changes("globalTags", undefined, { tags: "what a model of its own has" })).toEqual([]);
  });
});
