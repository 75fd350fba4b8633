/** The patch rules fit the model: every keyed array, every key, every aspect that a patch creates. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyPatch, type PatchRules, parsePatch } from "../../src/core/patch/patch.ts";
import type { ArrayKeys } from "../../src/core/patch/patch-keys.ts";
import { loadModel } from "../../src/model/load-model.ts";
import type { FieldType, Model } from "../../src/model/model.ts";

const avro = new URL("../../avro/", import.meta.url);
const rules: PatchRules = JSON.parse(readFileSync(new URL("patch-keys.json", avro), "utf8"));
const model = loadModel();
const stamp = { time: 1_700_000_000_000, actor: "urn:li:corpuser:mira" };

function fieldType(model: Model, record: string, field: string): FieldType {
  const type = model.types.get(record);
  const found =
    type?.kind === "record" ? type.fields.find(({ name }) => name === field) : undefined;
  if (found === undefined) throw new Error(`${record} has no field ${field}`);
  return found.type;
}

const recordOf = (type: FieldType): string => {
  if (type.kind === "array") return recordOf(type.items);
  if (type.kind === "named") return type.name;
  throw new Error(`${JSON.stringify(type)} is no record`);
};

/** The items of the array that a path of fields leads to, from an aspect's record. */
function itemsAt(record: string, path: string): FieldType {
  const names = path.split("/");
  const last = names.pop() ?? "";
  const holder = names.reduce((at, name) => recordOf(fieldType(model, at, name)), record);
  const type = fieldType(model, holder, last);
  if (type.kind !== "array") throw new Error(`${path} of ${record} is no array`);
  return type.items;
}

const recordFor = (aspect: string): string => {
  const found = model.aspects.get(aspect);
  if (found === undefined) throw new Error(`there is no aspect ${aspect}`);
  return found.record;
};

const arrays = Object.entries(rules).flatMap(([aspect, { arrays = {} }]) =>
  Object.entries(arrays).map(([path, keys]) => [aspect, path, keys] as const),
);
const born = Object.entries(rules).filter(([, { born = {} }]) => born[""] !== undefined);

describe("the keyed array of", () => {
  test.each(arrays)("%s: %s", (aspect, path, keys: ArrayKeys) => {
    const items = itemsAt(recordFor(aspect), path);
    if (keys === "fineGrainedLineage") {
      expect(recordOf(items)).toMatch(/\.FineGrainedLineage$/);
    } else if ("texts" in keys) {
      expect(items).toMatchObject({ kind: "union", members: [{ key: keys.texts }] });
    } else {
      const named = "apart" in keys ? [...keys.keys, ...keys.apart] : keys;
      if (named.length === 0) expect(["urn", "primitive"]).toContain(items.kind);
      for (const key of named) {
        key.split("␟").reduce((at, name) => {
          const type = fieldType(model, at, name);
          return type.kind === "named" ? type.name : "a plain value";
        }, recordOf(items));
      }
    }
  });
});

describe("an aspect that a patch creates", () => {
  test.each(born)("%s fits its schema", (name) => {
    const aspect = model.aspects.get(name);
    if (aspect === undefined) throw new Error(`there is no aspect ${name}`);
    const value = applyPatch(undefined, parsePatch([], rules, name), stamp);
    expect(model.check(aspect, value)).toMatchObject({ ok: true });
  });

  const term = "urn:li:glossaryTerm:T";
  const table = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";
  const column = `urn:li:schemaField:(${table},c)`;
  test.each<[string, Record<string, unknown>, object]>([
    [
      "editableSchemaMetadata",
      {
        [`/editableSchemaFieldInfo/f/glossaryTerms/terms/${term}`]: {},
        "/editableSchemaFieldInfo/f/globalTags/tags/urn:li:tag:t": {},
      },
      {
        editableSchemaFieldInfo: [
          {
            fieldPath: "f",
            glossaryTerms: { terms: [{ urn: term }], auditStamp: stamp },
            globalTags: { tags: [{ tag: "urn:li:tag:t" }] },
          },
        ],
      },
    ],
    ["chartInfo", { [`/inputs/${table}`]: table }, { inputs: [{ string: table }] }],
    [
      "dataJobInputOutput",
      {
        [`/inputDatasetFields/${column}`]: {},
        [`/fineGrainedLineages/NONE/${column}/NONE/${column}`]: { confidenceScore: null },
      },
      { inputDatasetFields: [column], fineGrainedLineages: [{ confidenceScore: 1 }] },
    ],
    ["formInfo", { "/actors/groups/urn:li:corpGroup:g": {} }, { actors: { owners: true } }],
    [
      "formInfo",
      { "/actors/ownershipTypes/urn:li:ownershipType:t": "urn:li:ownershipType:t" },
      { actors: { ownershipTypes: ["urn:li:ownershipType:t"] } },
    ],
    [
      "propertyDefinition",
      { "/allowedValues/gold": { value: { string: "gold" } }, "/qualifiedName": "io.tier" },
      { allowedValues: [{ value: { string: "gold" } }] },
    ],
  ])("%s fits its schema with the values that clients add", (name, values, expected) => {
    const aspect = model.aspects.get(name);
    if (aspect === undefined) throw new Error(`there is no aspect ${name}`);
    const patch = Object.entries(values).map(([path, value]) => ({ op: "add", path, value }));
    const value = applyPatch(undefined, parsePatch(patch, rules, name), stamp);
    expect(model.check(aspect, value)).toMatchObject({ ok: true, value: expected });
  });
});
