/** A model in the layout of DataHub's published schemas. */
import { expect, test } from "vitest";
import { defaultModelDirectory, loadModel } from "../../src/model/load-model.ts";
import type { NamedType } from "../../src/model/model.ts";
import { aspectNamed } from "./default-model.ts";

const directory = new URL("../data/model/published", import.meta.url).pathname;
const model = loadModel({ directories: [directory] });

function field(record: string, name: string, types: ReadonlyMap<string, NamedType> = model.types) {
  const type = types.get(record);
  return type?.kind === "record" ? type.fields.find((f) => f.name === name) : undefined;
}

const INFO = "com.linkedin.lighthouse.LighthouseInfo";

test("types have the names that they had before publication", () => {
  expect([...model.types.keys()].sort()).toEqual([
    "com.linkedin.common.Stamp",
    "com.linkedin.lighthouse.Colour",
    "com.linkedin.lighthouse.Fixed",
    "com.linkedin.lighthouse.LighthouseFlash",
    "com.linkedin.lighthouse.LighthouseInfo",
    "com.linkedin.lighthouse.LighthouseToll",
    "com.linkedin.lighthouse.Turning",
    "com.linkedin.metadata.key.LighthouseKey",
  ]);
  const acme = loadModel({ directories: [directory], prefix: "org.acme" });
  expect(acme.types.has("org.acme.lighthouse.Turning")).toBe(true);
});

test("the registry comes from the key records, even if events repeat them without it", () => {
  expect(model.findEntity("lighthouse")).toMatchObject({
    keyAspect: "lighthouseKey",
    aspects: ["lighthouseInfo", "lighthouseFlash", "lighthouseToll"],
    category: undefined,
    keyParts: [
      { name: "coast", kind: "urn" },
      { name: "name", kind: "text" },
    ],
  });
  expect(aspectNamed("lighthouseInfo", model).schemaVersion).toBe(3);
  expect(aspectNamed("lighthouseFlash", model).timeseries).toBe(true);
});

test("the snapshots come from the union of MetadataChangeEvent", () => {
  const record = "com.linkedin.metadata.snapshot.LighthouseSnapshot";
  expect(model.findSnapshotByRecord(record)).toEqual({
    record,
    entity: "lighthouse",
    aspects: ["com.linkedin.metadata.key.LighthouseKey", "com.linkedin.lighthouse.LighthouseToll"],
  });
  // The event's copy of the record has no fields; the record of the aspect's own file is used.
  expect(field("com.linkedin.lighthouse.LighthouseToll", "amount")).toBeDefined();
});

test("annotations are kept, and urns are recognized by their hints", () => {
  expect(field(INFO, "history")?.searchable).toEqual({ fieldType: "TEXT", queryByDefault: true });
  expect(field(INFO, "keeper")).toMatchObject({
    type: { kind: "urn", urnType: "CorpuserUrn" },
    relationship: { name: "KeptBy", entityTypes: ["corpuser"] },
    properties: {},
  });
  const urns = { kind: "array", items: { kind: "urn", urnType: "Urn" } };
  expect(field(INFO, "seenFrom")?.type).toEqual(urns);
  // Publication removed its hint, but a field with a relationship is a urn.
  expect(field(INFO, "replaces")).toMatchObject({ type: urns, optional: true });
  expect(field(INFO, "light")?.properties).toEqual({ deprecated: "Use lighthouseFlash." });
});

test("names are read within their namespace, and defaults without nulls", () => {
  expect(field("com.linkedin.lighthouse.LighthouseFlash", "sector")).toMatchObject({
    type: { kind: "named", name: "com.linkedin.lighthouse.Colour" },
    optional: true,
  });
  expect(field("com.linkedin.lighthouse.LighthouseFlash", "colour")).toMatchObject({
    optional: true,
    default: "WHITE",
  });
  expect(field(INFO, "lit")?.default).toEqual({ actor: "urn:li:corpuser:unknown", time: 0 });
});

test("unions that were published as records with a discriminator are restored", () => {
  expect(field("com.linkedin.lighthouse.LighthouseToll", "amount")?.type).toMatchObject({
    kind: "union",
    members: [{ key: "coins" }, { key: "goods" }],
  });
});

test("values are checked as in the own layout", () => {
  const value = {
    keeper: "urn:acme:corpuser:grace",
    light: { "com.linkedin.pegasus2avro.lighthouse.Turning": { seconds: 30 } },
  };
  const stamp = { actor: "urn:li:corpuser:unknown", time: 0 };
  expect(model.check(aspectNamed("lighthouseInfo", model), value)).toEqual({
    ok: true,
    value: {
      keeper: "urn:li:corpuser:grace",
      light: { "com.linkedin.lighthouse.Turning": { seconds: 30 } },
      seenFrom: [],
      lit: stamp,
      built: stamp,
    },
  });
});

test("a published model extends a model of the own layout", () => {
  const extended = loadModel({ directories: [defaultModelDirectory, directory] });
  expect(extended.entities.size).toBe(73);
  expect(extended.aspects.size).toBe(275);
  expect(extended.findSnapshotOf("lighthouse")?.entity).toBe("lighthouse");
});
