import { describe, expect, test } from "vitest";
import { compileGraphRules, type GraphRule } from "../../projections/graph/rules.ts";
import type { Annotation, Field, FieldType, Model, NamedType } from "../../src/model/model.ts";
import { defaultModel } from "../model/default-model.ts";

const rules = compileGraphRules(defaultModel);
const all = [...rules].flatMap(([aspect, own]) => own.map((rule) => ({ aspect, ...rule })));

const ruleAt = (aspect: string, path: string): GraphRule | undefined =>
  rules.get(aspect)?.find((rule) => `/${rule.path.join("/")}` === path);

/** Every name in an annotation of the model, at any depth. */
function namesOf(annotation: Annotation): readonly unknown[] {
  const inner = Object.entries(annotation).filter(([key]) => key.startsWith("/"));
  if (inner.length === 0) return [annotation.name];
  return inner.flatMap(([, value]) => namesOf(value as Annotation));
}

describe("the graph rules of the model", () => {
  test("there is one rule for each relationship field", () => {
    expect(all).toHaveLength(150);
    expect(all.filter(({ lineage }) => lineage !== undefined)).toHaveLength(38);
    expect(all.filter(({ beside }) => beside.createdOn !== undefined)).toHaveLength(18);
    expect(all.filter(({ beside }) => beside.via !== undefined)).toHaveLength(1);
  });

  test("the rules have every relationship name of the model", () => {
    const names = [...defaultModel.types.values()]
      .flatMap((type) => (type.kind === "record" ? type.fields : []))
      .flatMap(({ relationship }) => (relationship === undefined ? [] : namesOf(relationship)));
    expect(names.length).toBeGreaterThan(130);
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(names));
  });

  test.each([
    ["ownership", "/owners/*/owner", "OwnedBy"],
    ["ownership", "/owners/*/typeUrn", "ownershipType"],
    ["container", "/container", "IsPartOf"],
    ["chartInfo", "/inputs/*/string", "Consumes"],
    ["dataJobKey", "/flow", "IsPartOf"],
    [
      "assertionInfo",
      "/schemaAssertion/schema/fields/*/globalTags/tags/*/tag",
      "SchemaFieldTaggedWith",
    ],
    ["dataHubPageTemplateProperties", "/rows/*/modules/*", "ContainedIn"],
    ["upstreamLineage", "/fineGrainedLineages/*/upstreams/*", "DownstreamOf"],
  ])("the rule of %s at %s is %s", (aspect, path, name) => {
    expect(ruleAt(aspect, path)?.name).toBe(name);
  });

  test("the rule of nested tags is the outermost annotation", () => {
    const path = "tags/*/tag";
    expect(ruleAt("globalTags", `/${path}`)?.name).toBe("TaggedWith");
    expect(ruleAt("schemaMetadata", `/fields/*/globalTags/${path}`)?.name).toBe(
      "SchemaFieldTaggedWith",
    );
    const edited = ruleAt(
      "editableSchemaMetadata",
      `/editableSchemaFieldInfo/*/globalTags/${path}`,
    );
    expect(edited?.name).toBe("EditableSchemaFieldTaggedWith");
  });

  test("rules have the direction of lineage", () => {
    expect(ruleAt("upstreamLineage", "/upstreams/*/dataset")?.lineage).toBe("upstream");
    expect(ruleAt("dataJobInputOutput", "/outputDatasets/*")?.lineage).toBe("downstream");
    expect(ruleAt("ownership", "/owners/*/owner")?.lineage).toBeUndefined();
  });

  test("rules find stamps beside the value that they belong to", () => {
    expect(ruleAt("upstreamLineage", "/upstreams/*/dataset")?.beside).toEqual({
      createdOn: { depth: 2, rest: ["created", "time"] },
      createdActor: { depth: 2, rest: ["created", "actor"] },
      updatedOn: { depth: 2, rest: ["auditStamp", "time"] },
      updatedActor: { depth: 2, rest: ["auditStamp", "actor"] },
      properties: { depth: 2, rest: ["properties"] },
      via: { depth: 2, rest: ["query"] },
    });
    expect(ruleAt("logicalParent", "/parent/destinationUrn")?.beside.createdOn).toEqual({
      depth: 1,
      rest: ["created", "time"],
    });
  });

  test("rules are plain data that a thread can receive", () => {
    expect(structuredClone(rules)).toEqual(rules);
  });
});

const string: FieldType = { kind: "primitive", name: "string" };
const named = (name: string): FieldType => ({ kind: "named", name });
const field = (name: string, type: FieldType, relationship?: Annotation): Field => ({
  name,
  type,
  optional: false,
  relationship,
  properties: {},
});
const record = (name: string, ...fields: Field[]): NamedType => ({ kind: "record", name, fields });

/** Paths and names of the rules of a model with a single aspect, the first record. */
function compiled(...types: NamedType[]): readonly string[] {
  const [root] = types;
  const model = {
    types: new Map(types.map((type) => [type.name, type])),
    aspects: new Map([["it", { name: "it", record: root?.name ?? "" }]]),
  } as unknown as Model;
  return (compileGraphRules(model).get("it") ?? []).map(
    ({ name, path }) => `${name} /${path.join("/")}`,
  );
}

describe("a relationship annotation", () => {
  test("an annotation reaches the keys and the values of a map, and the members of a union", () => {
    const map: FieldType = { kind: "map", values: string };
    const union: FieldType = {
      kind: "union",
      members: [
        { key: "string", type: string },
        { key: "org.acme.Item", type: named("Item") },
      ],
    };
    expect(
      compiled(
        record(
          "Root",
          field("keys", map, { "/$key": { name: "Key" } }),
          field("values", map, { "/*": { name: "Value" } }),
          field("both", map, { "/*": { name: "B" }, "/$key": { name: "A" } }),
          field("either", union, {
            "/string": { name: "Text" },
            "/org.acme.Item/urn": { name: "Item" },
          }),
        ),
        record("Item", field("urn", string, { name: "Inner" })),
      ),
    ).toEqual([
      "Key /keys/$key",
      "Value /values/*",
      "A /both/$key",
      "B /both/*",
      "Text /either/string",
      "Item /either/org.acme.Item/urn",
    ]);
  });

  test("an outer annotation replaces an inner one only for the value that it names", () => {
    const items: FieldType = { kind: "array", items: named("Item") };
    expect(
      compiled(
        record("Root", field("outer", named("Middle"), { "/items/*/a": { name: "Outer" } })),
        record(
          "Middle",
          field("items", items, { "/*/a": { name: "Middle" }, "/*/b": { name: "M" } }),
        ),
        record(
          "Item",
          field("a", string, { name: "Inner" }),
          field("b", string),
          field("c", string, { name: "Own" }),
        ),
      ),
    ).toEqual(["Outer /outer/items/*/a", "M /outer/items/*/b", "Own /outer/items/*/c"]);
  });

  test("an annotation of a recursive record is found once", () => {
    expect(
      compiled(record("Tree", field("urn", string, { name: "Of" }), field("child", named("Tree")))),
    ).toEqual(["Of /urn"]);
  });

  test("an annotation without a name is an error with its path", () => {
    const broken = () => compiled(record("Root", field("a", string, { entityTypes: ["tag"] })));
    expect(broken).toThrow('the relationship at "/a" is {"entityTypes":["tag"]}');
  });
});
