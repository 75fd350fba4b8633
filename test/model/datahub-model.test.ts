/**
 * The model has everything of the Avro schemas that DataHub 1.7 publishes in acryl-datahub 1.7.0.17
 * (test/data/model/): types, members, annotations, symbols, aspects and entity types. The list of
 * annotations lacks those for the next search index (v3).
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { defaultModelDirectory, loadModel } from "../../src/model/load-model.ts";
import type { Field } from "../../src/model/model.ts";

/** Names without the namespace com.linkedin; lists of names are texts with blanks. */
interface Published {
  readonly records: Readonly<Record<string, string>>;
  readonly enums: Readonly<Record<string, string>>;
  /** Record and schema version, if it is not 1. */
  readonly aspects: Readonly<Record<string, readonly [record: string, schemaVersion?: number]>>;
  /** The key aspect, and the others. */
  readonly entities: Readonly<Record<string, string>>;
}

const file = new URL("../data/model/datahub-1.7.json", import.meta.url);
const published: Published = JSON.parse(readFileSync(file, "utf8"));
const model = loadModel({ directories: [defaultModelDirectory] });

const named = (name: string) => model.types.get(`com.linkedin.${name}`);
const namesIn = (text: string): readonly string[] => text.split(" ").filter((name) => name !== "");

test("every record has every published member", () => {
  const missing = Object.entries(published.records).flatMap(([record, members]) => {
    const type = named(record);
    const own = new Set(type?.kind === "record" ? type.fields.map(({ name }) => name) : []);
    return namesIn(members)
      .filter((name) => !own.has(name))
      .map((name) => `${record}.${name}`);
  });
  expect(missing).toEqual([]);
});

const annotationsOf = (field: Field): object => {
  const { searchable, relationship, timeseriesField, timeseriesFieldCollection } = field;
  const { SearchableRef, UrnValidation } = field.properties;
  return Object.fromEntries(
    Object.entries({
      ...{ Searchable: searchable, SearchableRef, Relationship: relationship, UrnValidation },
      TimeseriesField: timeseriesField,
      TimeseriesFieldCollection: timeseriesFieldCollection,
    }).filter(([, annotation]) => annotation !== undefined),
  );
};
const publishedAnnotations: Readonly<Record<string, Readonly<Record<string, object>>>> = JSON.parse(
  readFileSync(new URL("../data/model/datahub-1.7-annotations.json", import.meta.url), "utf8"),
);

/** Relationships that DataHub 1.7 no longer has, and earlier versions had. */
const additions: typeof publishedAnnotations = {
  "identity.CorpGroupInfo": {
    admins: { Relationship: { "/*": { name: "OwnedBy", entityTypes: ["corpuser"] } } },
  },
};

test("every published member has the published annotations, and no others but additions", () => {
  for (const record of Object.keys(published.records)) {
    const type = named(record);
    const members = new Set(namesIn(published.records[record] ?? ""));
    const own = (type?.kind === "record" ? type.fields : [])
      .filter(({ name }) => members.has(name))
      .map((field) => [field.name, annotationsOf(field)] as const)
      .filter(([, annotated]) => Object.keys(annotated).length > 0);
    expect(Object.fromEntries(own), record).toEqual({
      ...publishedAnnotations[record],
      ...additions[record],
    });
  }
});

test("every enum has every published symbol", () => {
  const missing = Object.entries(published.enums).flatMap(([name, symbols]) => {
    const type = named(name);
    const own = new Set(type?.kind === "enum" ? type.symbols : []);
    return namesIn(symbols)
      .filter((symbol) => !own.has(symbol))
      .map((symbol) => `${name}.${symbol}`);
  });
  expect(missing).toEqual([]);
});

test("every aspect has the published record and schema version", () => {
  const own = Object.keys(published.aspects).map((name) => {
    const aspect = model.aspects.get(name);
    return [name, aspect?.record, aspect?.schemaVersion];
  });
  const expected = Object.entries(published.aspects).map(([name, [record, version = 1]]) => [
    ...[name, `com.linkedin.${record}`, version],
  ]);
  expect(own).toEqual(expected);
});

test("every entity type has every published aspect", () => {
  const missing = Object.entries(published.entities).flatMap(([type, aspects]) => {
    const entity = model.findEntity(type);
    const own = new Set([entity?.keyAspect, ...(entity?.aspects ?? [])]);
    return namesIn(aspects)
      .filter((name) => !own.has(name))
      .map((name) => `${type}.${name}`);
  });
  expect(missing).toEqual([]);
});
