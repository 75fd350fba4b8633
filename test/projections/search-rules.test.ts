import { describe, expect, test } from "vitest";
import { type AnnotatedPlace, annotatedPlaces } from "../../projections/annotated-places.ts";
import type { SearchField } from "../../projections/search/annotations.ts";
import { compileSearchRules } from "../../projections/search/rules.ts";
import type { Annotation, Field, FieldType, Model, NamedType } from "../../src/model/model.ts";
import { defaultModel } from "../model/default-model.ts";
import { rules } from "./search-state.ts";

const fieldOf = (entityType: string, name: string): SearchField | undefined =>
  rules.fields[entityType]?.find((field) => field.name === name);

const pathsOf = (record: string): readonly AnnotatedPlace[] =>
  annotatedPlaces(defaultModel, record, {
    annotationOf: ({ searchable }) => searchable,
    wholeMaps: true,
  });

const aspects = [...defaultModel.aspects.values()];

/** Every annotation of the model, with its location. */
const annotations = [...defaultModel.types.values()].flatMap((type) =>
  (type.kind === "record" ? type.fields : []).flatMap(({ name, searchable }) => {
    if (searchable === undefined) return [];
    const inner = Object.entries(searchable).filter(([key]) => key.startsWith("/"));
    const all: [string, unknown][] = inner.length === 0 ? [["", searchable]] : inner;
    return all.map(([path, annotation]) => ({
      where: `${type.name}/${name}${path}`,
      annotation,
    }));
  }),
);

describe("the search rules of the model", () => {
  test("there is one rule for each searchable path", () => {
    // DataHub loses the eleven of apiSignature/outputFields, whose names are in use.
    expect(aspects.flatMap(({ record }) => pathsOf(record))).toHaveLength(616 + 11);
    const compiled = aspects.flatMap(({ name }) => rules.rules[name] ?? []);
    const placed = aspects.flatMap(({ record }) => pathsOf(record));
    // One more rule refers to another entity.
    expect(compiled).toHaveLength(placed.length + 1);
  });

  test("fields of timeseries aspects come from the latest events", () => {
    const series = Object.entries(rules.events).filter(([, names]) => names.length > 0);
    expect(Object.fromEntries(series)).toEqual({
      assertion: ["assertionRunEvent"],
      dataProcessInstance: ["dataProcessInstanceRunEvent"],
      dataset: expect.arrayContaining(["operation", "datasetProfile", "datasetUsageStatistics"]),
    });
    expect(rules.events.dataset).toHaveLength(3);
    for (const [type, names] of series) {
      expect(rules.sources[type]).not.toEqual(expect.arrayContaining([...names]));
    }
  });

  test("all annotations are used except three, whose paths do not exist", () => {
    const used = new Set(aspects.flatMap(({ record }) => pathsOf(record)).map((p) => p.annotation));
    const lost = annotations.filter(({ annotation }) => !used.has(annotation as Annotation));
    expect(lost.map(({ where }) => where).sort()).toEqual([
      "com.linkedin.dataprocess.DataProcessInstanceRelationships/parentInstance/*",
      "com.linkedin.dataprocess.DataProcessInstanceRelationships/parentTemplate/*",
      "com.linkedin.incident.IncidentInfo/startedAt/time",
    ]);
  });

  test("every entity type of an aspect has all fields of the aspect", () => {
    for (const { name, keyAspect, aspects: others } of defaultModel.entities.values()) {
      const has = new Set(rules.fields[name]?.map((field) => field.name));
      for (const rule of [keyAspect, ...others].flatMap((aspect) => rules.rules[aspect] ?? [])) {
        const { field, has: flag, count, modifiedAt, aliases } = rule;
        for (const fieldName of [field, flag, count, modifiedAt, ...aliases]) {
          if (fieldName !== undefined) expect(has, `${name}: ${fieldName}`).toContain(fieldName);
        }
      }
      expect(has.size, `${name} has a field twice`).toBe(rules.fields[name]?.length);
    }
  });

  test("rules are plain data that a thread can receive", () => {
    expect(structuredClone(rules)).toEqual(rules);
  });
});

describe("field weights", () => {
  const all = Object.values(rules.fields).flat();

  test("weights are multiples of 1/64", () => {
    for (const { boost } of all) expect(boost * 64).toBe(Math.round(boost * 64));
    const queried = all.filter((field) => field.queried).map(({ boost }) => boost);
    const boosts = [...new Set(queried)].sort((a, b) => a - b);
    expect(boosts).toEqual([0.5, 1, 4, 10, 40]);
  });

  test("only names have the weight of names", () => {
    const names = all.filter(({ suggested, type }) => suggested && !type.startsWith("URN"));
    expect(names.length).toBeGreaterThan(40);
    expect(Math.min(...names.map(({ boost }) => boost))).toBe(40);
    expect(fieldOf("corpuser", "ldap")?.boost).toBe(40);
    expect(fieldOf("mlFeature", "name")?.boost).toBe(40);
    // Autocomplete does not use this field, but the model gives it the boost of a name.
    expect(fieldOf("incident", "title")).toMatchObject({ boost: 40, suggested: false });
  });

  test("weights of urns are less than half of those of names", () => {
    expect(fieldOf("dataset", "urn")).toEqual({
      name: "urn",
      type: "URN",
      boost: 4,
      queried: true,
      suggested: false,
    });
    expect(fieldOf("dataset", "platform")).toMatchObject({ boost: 1, suggested: true });
  });
});

describe("facets", () => {
  const facetsOf = (type: string) =>
    (rules.fields[type] ?? []).flatMap(({ name, facet }) => (facet ? [`${name}: ${facet}`] : []));

  test("the facets of a dataset have DataHub's order and names", () => {
    expect(facetsOf("dataset").slice(0, 7)).toEqual([
      "_entityType: Type",
      "origin: Environment",
      "domains: Domain",
      "owners: Owned By",
      "platform: Platform",
      "tags: Tagged With",
      "glossaryTerms: Glossary Term",
    ]);
    expect(facetsOf("dataset").slice(7).sort()).toEqual([
      "applications: Application",
      "container: Container",
      "dataProduct: Data Product",
      "deprecated: Deprecated",
      "hasActiveIncidents: hasActiveIncidents",
      "hasSiblings: hasSiblings",
      "isDataProductOutputPort: Data Product Output Port",
      "logicalParent: Physical Instance Of",
      "platformInstance: Platform Instance",
      "roles: Role",
      "typeNames: Sub Type",
    ]);
  });

  test("the facets of all types have one order, with type and sub type first", () => {
    expect(rules.facets.slice(0, 4)).toEqual([
      {
        name: "_entityType␞typeNames",
        displayName: "Type␞Sub Type",
        fields: ["_entityType", "typeNames"],
      },
      { name: "_entityType", displayName: "Type", fields: ["_entityType"] },
      { name: "origin", displayName: "Environment", fields: ["origin"] },
      { name: "env", displayName: "Environment", fields: ["env"] },
    ]);
    const names = rules.facets.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const [type, fields] of Object.entries(rules.fields)) {
      for (const { name, facet } of fields) {
        if (facet !== undefined) expect(names, `${type}: ${name}`).toContain(name);
      }
    }
  });
});

describe("fields with the same name", () => {
  test("equal fields are merged, with all their properties", () => {
    // The key aspect has it with completion, the term's info without.
    expect(fieldOf("glossaryTerm", "id")).toEqual({
      name: "id",
      type: "WORD_GRAM",
      boost: 40,
      queried: true,
      suggested: true,
      aspect: "glossaryTermKey",
    });
    expect(fieldOf("dataset", "platform")?.facet).toBe("Platform");
  });

  test("a merged field is queried if any of its annotations is, also for lists in one aspect", () => {
    const list: FieldType = { kind: "array", items: string };
    const said = { fieldName: "it", fieldType: "TEXT", queryByDefault: false };
    const more = { fieldName: "it", boostScore: 3, enableAutocomplete: true };
    const fields = compiled(field("a", list, { "/*": said }), field("b", list, { "/*": more }));
    const expected = { name: "it", type: "TEXT", boost: 40, queried: true, suggested: true };
    expect(fields).toEqual([{ ...expected, aspect: "it" }]);
  });

  test("the second of two equal names in one aspect is named by its path, except in lists", () => {
    const named = (aspect: string, field: string) =>
      rules.rules[aspect]?.filter((rule) => rule.field === field).map(({ path }) => path.join("/"));
    expect(named("assertionInfo", "entity")).toEqual(["entityUrn"]);
    expect(named("incidentInfo", "source_type")).toEqual(["source/type"]);
    expect(named("apiSignature", "fieldPaths")).toEqual([
      "inputFields/*/fieldPath",
      "outputFields/*/fieldPath",
    ]);
  });
});

const string: FieldType = { kind: "primitive", name: "string" };
const field = (name: string, type: FieldType, searchable: Annotation): Field => ({
  name,
  type,
  optional: false,
  searchable,
  properties: {},
});

/** The fields, except fixed ones, of an entity type with one aspect that has these members. */
function compiled(...members: Field[]): readonly SearchField[] {
  const root: NamedType = { kind: "record", name: "Root", fields: members };
  const colour: NamedType = { kind: "enum", name: "Colour", symbols: ["RED"] };
  const model = {
    types: new Map([root, colour].map((type) => [type.name, type])),
    aspects: new Map([["it", { name: "it", record: "Root", timeseries: false }]]),
    entities: new Map([["thing", { name: "thing", keyAspect: "it", aspects: [] }]]),
  } as unknown as Model;
  const { fields } = compileSearchRules(model);
  return (fields.thing ?? []).filter(({ aspect }) => aspect === "it");
}

describe("a searchable annotation", () => {
  const plain = { boost: 1, queried: false, suggested: false, aspect: "it" };

  test.each<[string, FieldType, string, boolean]>([
    ["a text", string, "TEXT", true],
    ["a urn", { kind: "urn", urnType: "Urn" }, "TEXT", true],
    ["a symbol", { kind: "named", name: "Colour" }, "TEXT", true],
    ["an int", { kind: "primitive", name: "int" }, "COUNT", false],
    ["a long", { kind: "primitive", name: "long" }, "TEXT", true],
    ["a double", { kind: "primitive", name: "double" }, "DOUBLE", false],
    ["a map", { kind: "map", values: string }, "KEYWORD", false],
  ])("an annotation of %s without a type gets a suitable type", (_, type, expected, queried) => {
    expect(compiled(field("it", type, {}))).toEqual([
      { ...plain, name: "it", type: expected, queried },
    ]);
  });

  test("an annotation may have booleans as texts", () => {
    const said = { fieldType: "TEXT", queryByDefault: "false", addToFilters: "true" };
    expect(compiled(field("it", string, said))).toEqual([
      { ...plain, name: "it", type: "TEXT", facet: "it" },
    ]);
  });

  test("an annotation may define additional fields", () => {
    const said = {
      fieldType: "WORD_GRAM",
      fieldName: "title",
      boostScore: 2.01,
      hasValuesFieldName: "hasTitle",
      addHasValuesToFilters: true,
      hasValuesFilterNameOverride: "Has Title",
      numValuesFieldName: "numTitles",
      fieldNameAliases: ["_entityName"],
      includeSystemModifiedAt: true,
    };
    expect(compiled(field("it", string, said))).toEqual([
      { ...plain, name: "hasTitle", type: "BOOLEAN", facet: "Has Title" },
      { ...plain, name: "title", type: "WORD_GRAM", boost: 2 + 1 / 64, queried: true },
      { ...plain, name: "_entityName", type: "WORD_GRAM" },
      { ...plain, name: "numTitles", type: "COUNT" },
      { ...plain, name: "titleSystemModifiedAt", type: "DATETIME" },
    ]);
  });

  test("an unknown field type is an error that lists the known ones", () => {
    expect(() => compiled(field("it", string, { fieldType: "TXT" }))).toThrow(
      'the searchable field "it" of "it" has the type "TXT"',
    );
  });

  test.each<[string, FieldType]>([
    ["a list", { kind: "array", items: string }],
    ["a record", { kind: "named", name: "Root" }],
  ])("an annotation at %s, which is not a value, is an error", (kind, type) => {
    const broken = () => compiled(field("inner", type, { fieldType: "TEXT" }));
    expect(broken).toThrow(`the annotation at "/inner" is on ${kind}`);
  });
});
