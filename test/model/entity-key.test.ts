/** The key aspect of a urn, and the urn of a key aspect. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { keyValue, urnOfKey } from "../../src/model/entity-key.ts";
import type { Entity } from "../../src/model/model.ts";
import { aspectNamed, defaultModel as model } from "./default-model.ts";

function entity(name: string): Entity {
  const found = model.findEntity(name);
  if (found === undefined) throw new Error(`no entity "${name}"`);
  return found;
}

const hive = "urn:li:dataPlatform:hive";

test.each([
  ["corpuser", "urn:li:corpuser:mira", { username: "mira" }],
  ["dataset", `urn:li:dataset:(${hive},a.b,PROD)`, { platform: hive, name: "a.b", origin: "PROD" }],
  [
    "dataset",
    `urn:li:dataset:(${hive},a,b (c),EI)`,
    { platform: hive, name: "a,b (c)", origin: "EI" },
  ],
  ["tag", "urn:li:tag:a,b (c) é %2C", { name: "a,b (c) é %2C" }],
  [
    "schemaField",
    `urn:li:schemaField:(urn:li:dataset:(${hive},a,PROD),[version=2.0].[type=int].x)`,
    { parent: `urn:li:dataset:(${hive},a,PROD)`, fieldPath: "[version=2.0].[type=int].x" },
  ],
  [
    "dataJob",
    "urn:li:dataJob:(urn:li:dataFlow:(airflow,dag,PROD),task)",
    { flow: "urn:li:dataFlow:(airflow,dag,PROD)", jobId: "task" },
  ],
  ["container", "urn:li:container:abc", { guid: "abc" }],
])("the key of a %s is parsed from %s and joined again", (name, urn, key) => {
  expect(keyValue(entity(name), urn)).toEqual(key);
  expect(urnOfKey(entity(name), key, "li")).toBe(urn);
  expect(model.check(aspectNamed(entity(name).keyAspect), { ...key })).toEqual({
    ok: true,
    value: key,
  });
});

describe("a urn without a valid key is rejected:", () => {
  test.each([
    ["dataset", `urn:li:dataset:(${hive},a.b,NOWHERE)`, "invalid", ["NOWHERE", "origin", "PROD"]],
    ["dataset", "urn:li:dataset:(hive,a.b,PROD)", "malformed", ['platform "hive"', "urn"]],
    [
      "dataset",
      `urn:li:dataset:(${hive},PROD)`,
      "malformed",
      ["2 key parts", "platform,name,origin"],
    ],
    ["dataset", "urn:li:dataset:a.b", "malformed", ["1 key part"]],
    ["chart", "urn:li:chart:(looker,a,b)", "malformed", ["3 key parts"]],
  ])("%s %s", (name, urn, code, says) => {
    const derive = () => keyValue(entity(name), urn);
    try {
      derive();
      throw new Error("accepted");
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      expect(error.code).toBe(code);
      for (const words of says) expect(error.text).toContain(words);
    }
  });
});

describe("a key without a valid urn is rejected:", () => {
  test.each<[string, unknown, string]>([
    ["dataset", { platform: hive, name: "a" }, 'no "origin"'],
    ["dataset", { platform: hive, name: "a", origin: "NOWHERE" }, "NOWHERE"],
    ["dataset", { platform: "hive", name: "a", origin: "PROD" }, "not a urn"],
    ["dataset", { platform: hive, name: 7, origin: "PROD" }, 'bad "name"'],
    ["corpuser", null, 'no "username"'],
    ["corpuser", "mira", 'no "username"'],
    ["corpuser", { username: "" }, "not a urn"],
    ["chart", { dashboardTool: "looker", chartId: "a,b" }, "key parts"],
    ["chart", { dashboardTool: "a,(b", chartId: "c)" }, '"dashboardTool" could not be read'],
  ])("%s %j", (name, key, says) => {
    expect(() => urnOfKey(entity(name), key, "li")).toThrow(says);
    expect(() => urnOfKey(entity(name), key, "li")).toThrow(CatalogError);
  });

  test("urnOfKey reads own members only", () => {
    const key = JSON.parse('{"__proto__":{"username":"inherited"}}');
    expect(() => urnOfKey(entity("corpuser"), key, "li")).toThrow(CatalogError);
  });
});

test("a key is either restored from its urn unchanged or rejected", () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab,()(:% é"), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      fc.constantFrom(...model.entities.values()),
      fc.array(text, { minLength: 3, maxLength: 3 }),
      (of, texts) => {
        const key: Record<string, string> = {};
        of.keyParts.forEach(({ name, kind, symbols }, i) => {
          const free = texts[i] ?? "x";
          key[name] =
            kind === "urn"
              ? `urn:li:dataPlatform:${free}`
              : kind === "enum"
                ? (symbols[0] ?? "")
                : free;
        });
        let urn: string;
        try {
          urn = urnOfKey(of, key, "li");
        } catch (error) {
          expect(error).toBeInstanceOf(CatalogError);
          return;
        }
        expect(keyValue(of, urn)).toEqual(key);
      },
    ),
  );
});
