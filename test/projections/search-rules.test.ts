import { describe, expect, test } from "vitest";
import { type AnnotatedPlace, annotatedPlaces } from "../../projections/annotated-places.ts";
import type { SearchField } from "../../projections/search/annotations.ts";
import { compileSearchRules } from "../../projections/search/rules.ts";
import type { Annotation, Field, FieldType, Model, NamedType } from "../../src/model/model.ts";
import { defaultModel } from "../model/default-model.ts";
import { rules } from "./search-state.ts";

const fieldOf = (entityType: string, name: string): SearchField | undefined =>
  rules.fields[entityType]?.find((field) => field.name === name);

const placesOf = (record: string): readonly AnnotatedPlace[] =>
  annotatedPlaces(defaultModel, record, {
    annotationOf: ({ searchable }) => searchable,
    wholeMaps: true,
  });

const aspects = [...defaultModel.aspects.values()];

/** Every annotation of the model, with where it is written. */
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

describe("the rules of the model", () => {
  test("are as many as it has searchable places", () => {
    // The reference has 589: it loses the eleven of apiSignature/outputFields, whose names are taken.
    expect(aspects.flatMap(({ record }) => placesOf(record))).toHaveLength(589 + 11);
    const told = aspects.flatMap(({ name }) => rules.rules[name] ?? []);
    const placed = aspects.flatMap(({ record }) => placesOf(record));
    // And the one that refers to another entity.
    expect(told).toHaveLength(placed.length + 1);
  });

  test("have what timeseries tell apart: their latest events tell it", () => {
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

  test("have every annotation but three, whose paths lead nowhere", () => {
    const used = new Set(
      aspects.flatMap(({ record }) => placesOf(record)).map((p) => p.annotation),
    );
    const lost = annotations.filter(({ annotation }) => !used.has(annotation as Annotation));
    expect(lost.map(({ where }) => where).sort()).toEqual([
      "com.linkedin.dataprocess.DataProcessInstanceRelationships/parentInstance/*",
      "com.linkedin.dataprocess.DataProcessInstanceRelationships/parentTemplate/*",
      "com.linkedin.incident.IncidentInfo/startedAt/time",
    ]);
  });

  test("give every field that an aspect tells to every entity type that has the aspect", () => {
    for (const { name, keyAspect, aspects: others } of defaultModel.entities.values()) {
      const has = new Set(rules.fields[name]?.map((field) => field.name));
      for (const rule of [keyAspect, ...others].flatMap((aspect) => rules.rules[aspect] ?? [])) {
        const { field, has: flag, count, modifiedAt, aliases } = rule;
        for (const told of [field, flag, count, modifiedAt, ...aliases]) {
          if (told !== undefined) expect(has, `${name}: ${told}`).toContain(told);
        }
      }
      expect(has.size, `${name} has a field twice`).toBe(rules.fields[name]?.length);
    }
  });

  test("are plain data, as a thread is given it", () => {
    expect(structuredClone(rules)).toEqual(rules);
  });
});

describe("weights", () => {
  const all = Object.values(rules.fields).flat();

  test("are multiples of 1/64", () => {
    for (const { boost } of all) expect(boost * 64).toBe(Math.round(boost * 64));
    const queried = all.filter((field) => field.queried).map(({ boost }) => boost);
    const boosts = [...new Set(queried)].sort((a, b) => a - b);
    expect(boosts).toEqual([6 / 64, 13 / 64, 0.5, 1, 4, 40]);
  });

  test("of names are those of nothing less", () => {
    const names = all.filter(({ suggested, type }) => suggested && !type.startsWith("URN"));
    expect(names.length).toBeGreaterThan(40);
    expect(Math.min(...names.map(({ boost }) => boost))).toBe(40);
    expect(fieldOf("corpuser", "ldap")?.boost).toBe(40);
    expect(fieldOf("mlFeature", "name")?.boost).toBe(40);
    // Nobody completes it, but the model gives it a name's boost.
    expect(fieldOf("incident", "title")).toMatchObject({ boost: 40, suggested: false });
  });

  test("of urns are less than half of a name's", () => {
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

  test("of a dataset come in the order and with the names that users know", () => {
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
      "deprecated: Deprecated",
      "hasActiveIncidents: hasActiveIncidents",
      "hasSiblings: hasSiblings",
      "logicalParent: Physical Instance Of",
      "platformInstance: Platform Instance",
      "roles: Role",
      "typeNames: Sub Type",
    ]);
  });

  test("of all types are listed in one order, that of type and sub type first", () => {
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

describe("fields of one name are one", () => {
  test("with what any of them has", () => {
    // Told by the key with completion, by the term's info without.
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

  test("queried if the second is, of a list in one aspect too", () => {
    const list: FieldType = { kind: "array", items: string };
    const said = { fieldName: "it", fieldType: "TEXT", queryByDefault: false };
    const more = { fieldName: "it", boostScore: 3, enableAutocomplete: true };
    const fields = compiled(field("a", list, { "/*": said }), field("b", list, { "/*": more }));
    const expected = { name: "it", type: "TEXT", boost: 40, queried: true, suggested: true };
    expect(fields).toEqual([{ ...expected, aspect: "it" }]);
  });

  test("but of two in one aspect the second is named by its path, unless it is a list's", () => {
    const named = (aspect: string, field: string) =>
      rules.rules[aspect]?.filter((rule) => rule.field === field).map(({ path }) => path.join("/"));
    expect(named("assertionInfo", "entity")).toEqual(["freshnessAssertion/entity"]);
    expect(named("assertionInfo", "volumeAssertion_entity")).toEqual(["volumeAssertion/entity"]);
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

/** The fields, fixed ones aside, of an entity type with one aspect that has these members. */
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

describe("an annotation", () => {
  const plain = { boost: 1, queried: false, suggested: false, aspect: "it" };

  test.each<[string, FieldType, string, boolean]>([
    ["a text", string, "TEXT", true],
    ["a urn", { kind: "urn", urnType: "Urn" }, "TEXT", true],
    ["a symbol", { kind: "named", name: "Colour" }, "TEXT", true],
    ["an int", { kind: "primitive", name: "int" }, "COUNT", false],
    ["a long", { kind: "primitive", name: "long" }, "TEXT", true],
    ["a double", { kind: "primitive", name: "double" }, "DOUBLE", false],
    ["a map", { kind: "map", values: string }, "KEYWORD", false],
  ])("without a type at %s is one that fits", (_, type, expected, queried) => {
    expect(compiled(field("it", type, {}))).toEqual([
      { ...plain, name: "it", type: expected, queried },
    ]);
  });

  test("may say its booleans as texts", () => {
    const said = { fieldType: "TEXT", queryByDefault: "false", addToFilters: "true" };
    expect(compiled(field("it", string, said))).toEqual([
      { ...plain, name: "it", type: "TEXT", facet: "it" },
    ]);
  });

  test("makes fields beside its own", () => {
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

  test("of an unknown type stops the compiling, and says which are known", () => {
    expect(() => compiled(field("it", string, { fieldType: "TXT" }))).toThrow(
      'the searchable field "it" of "it" has the type "TXT"',
    );
  });

  test.each<[string, FieldType]>([
    ["a list", { kind: "array", items: string }],
    ["a record", { kind: "named", name: "Root" }],
  ])("at %s, which is no value, stops the compiling", (kind, type) => {
    const broken = () => compiled(field("inner", type, { fieldType: "TEXT" }));
    expect(broken).toThrow(`the annotation at "/inner" is on ${kind}`);
  });
});
