/** Urns: which texts are urns, and how ids are split and joined. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import {
  entityTypeOf,
  joinId,
  type KeyPart,
  nestedUrn,
  parseUrn,
  patternWithNamespace,
  splitId,
  withNamespace,
} from "../../src/core/urn.ts";

const DATASET: KeyPart[] = [
  { name: "platform", kind: "urn" },
  { name: "name", kind: "text" },
  { name: "origin", kind: "enum" },
];
const FIELD: KeyPart[] = [
  { name: "parent", kind: "urn" },
  { name: "fieldPath", kind: "text" },
];
const FLOW: KeyPart[] = ["orchestrator", "flowId", "cluster"].map((name) => ({
  name,
  kind: "text",
}));
const CHART: KeyPart[] = ["dashboardTool", "chartId"].map((name) => ({ name, kind: "text" }));

/** Names with all characters that a urn may have; no control characters, no U+241F. */
const name = fc.string({ unit: fc.constantFrom(..."ab.-/%#ü é(),[]:_") });
const plainName = name.map((text) => text.replace(/[(),]/g, "")).filter((text) => text !== "");
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const environment = fc.constantFrom("PROD", "DEV", "TEST");
const platform = word.map((id) => `urn:li:dataPlatform:${id}`);
const dataset = fc
  .tuple(platform, plainName, environment)
  .map((values) => `urn:li:dataset:(${values.join(",")})`);

describe("the parts of an id", () => {
  test("an id with a single free text of any characters is split into its parts", () => {
    fc.assert(
      fc.property(platform, name, environment, (...values) => {
        expect(splitId("urn", joinId(values), DATASET)).toEqual(values);
      }),
    );
    fc.assert(
      fc.property(dataset, name, (...values) => {
        expect(splitId("urn", joinId(values), FIELD)).toEqual(values);
      }),
    );
  });

  test("an id with several free texts without commas and parentheses is split into its parts", () => {
    fc.assert(
      fc.property(plainName, plainName, plainName, (...values) => {
        expect(splitId("urn", joinId(values), FLOW)).toEqual(values);
      }),
    );
  });

  test("several free texts may have commas in parentheses, and unpaired parentheses", () => {
    expect(splitId("urn", "(airflow,f(a,b),prod)", FLOW)).toEqual(["airflow", "f(a,b)", "prod"]);
    expect(splitId("urn", "(looker,a(b)", CHART)).toEqual(["looker", "a(b"]);
    expect(splitId("urn", "(looker(1,b)", CHART)).toEqual(["looker(1", "b"]);
    expect(splitId("urn", "(air)flow,f,prod)", FLOW)).toEqual(["air)flow", "f", "prod"]);
  });

  test("a nested urn stays whole if a name in it has unpaired parentheses", () => {
    for (const table of ["a)b", "a(b", "a(b)c", "("]) {
      const parent = `urn:li:dataset:(urn:li:dataPlatform:hive,${table},PROD)`;
      expect(splitId("urn", `(${parent},col,umn)`, FIELD)).toEqual([parent, "col,umn"]);
    }
  });

  test("nestedUrn finds a nested urn by its entity type", () => {
    for (const table of ["t", "a)b", "a(b", "x,y"]) {
      const parent = `urn:li:dataset:(urn:li:dataPlatform:hive,${table},PROD)`;
      expect(nestedUrn(`urn:li:schemaField:(${parent},col,umn)`, "dataset")).toBe(parent);
      expect(nestedUrn(parent, "dataPlatform")).toBe("urn:li:dataPlatform:hive");
      expect(nestedUrn(parent, "dataset")).toBeUndefined();
    }
    const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,f,prod),task)";
    expect(nestedUrn(job, "dataFlow")).toBe("urn:li:dataFlow:(airflow,f,prod)");
    expect(nestedUrn("urn:li:tag:urn:li:dataset:a", "dataset")).toBe("urn:li:dataset:a");
    for (const odd of ["urn:li:tag:", "urn:li:chart:(looker,", "urn", ""]) {
      expect(nestedUrn(odd, "dataset")).toBeUndefined();
    }
  });

  test("an id with a single part is that part, whatever it looks like", () => {
    fc.assert(
      fc.property(name, (id) => {
        expect(splitId("urn", id, [{ name: "id", kind: "text" }])).toEqual([id]);
      }),
    );
  });

  test.each([
    [
      "(urn:li:dataPlatform:hive,only)",
      DATASET,
      "2 key parts where 3 are needed: (platform,name,origin)",
    ],
    ["hive", DATASET, "1 key part where 3"],
    ["(airflow,f)", FLOW, "2 key parts where 3"],
    ["(airflow,f,prod,x)", FLOW, "4 key parts where 3"],
  ])("an id with the wrong number of parts is rejected: %s", (id, parts, message) => {
    expect(() => splitId(`urn:li:x:${id}`, id, parts)).toThrow(message);
  });
});

describe("a urn", () => {
  test("a urn is parsed into namespace, type and id, and can be joined again", () => {
    fc.assert(
      fc.property(word, name, (type, tail) => {
        const text = `urn:li:${type.replaceAll("-", "_")}:x${tail}x`;
        const { namespace, entityType, id } = parseUrn(text);
        expect(`urn:${namespace}:${entityType}:${id}`).toBe(text);
        expect(namespace).toBe("li");
      }),
    );
  });

  test.each([
    "",
    "not a urn",
    "urn:li:dataset",
    "urn:li:dataset:",
    "urn::dataset:x",
    "urn:li:1dataset:x",
    " urn:li:tag:x",
    "urn:li:tag:x ",
    "urn:li:tag:a\u0000b",
    "urn:li:tag:a\nb",
    "urn:li:tag:a\u241fb",
  ])("%j is not a urn", (text) => {
    expect(() => parseUrn(text)).toThrow(CatalogError);
  });

  test("a urn has a maximum of bytes, a schemaField urn a larger one", () => {
    const parent = "urn:li:dataset:(urn:li:dataPlatform:hive,x,PROD)";
    const tag = `urn:li:tag:${"ü".repeat(250)}`;
    expect(parseUrn(`${tag}x`).entityType).toBe("tag");
    expect(() => parseUrn(`${tag}xx`)).toThrow("has 513 bytes; at most 512 are allowed");
    const field = (length: number) => `urn:li:schemaField:(${parent},${"x".repeat(length)})`;
    expect(parseUrn(field(1900)).entityType).toBe("schemaField");
    expect(() => parseUrn(field(2048))).toThrow("at most 2048 are allowed");
  });
});

test.each([
  ["urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)", "dataset"],
  ["urn:some.where:tag:pii", "tag"],
  ["urn:li:tag", "tag"],
  ["urn:li:", ""],
  ["urn:li", ""],
  ["urn", ""],
  ["", ""],
])("the entity type of %s is %j", (text, entityType) => {
  expect(entityTypeOf(text)).toBe(entityType);
});

describe("withNamespace", () => {
  test("withNamespace changes a urn and the urns in it, once", () => {
    const text = "urn:acme:schemaField:(urn:acme:dataset:(urn:acme:dataPlatform:hive,a,PROD),f)";
    const expected = text.replaceAll("urn:acme:", "urn:li:");
    expect(withNamespace(text, "li")).toBe(expected);
    expect(withNamespace(expected, "li")).toBe(expected);
    expect(withNamespace(expected, "acme")).toBe(text);
  });

  test("withNamespace keeps names that only look like a urn", () => {
    const text = "urn:li:dataset:(urn:li:dataPlatform:hive,turn:left:at:home,PROD)";
    expect(withNamespace(text, "acme")).toBe(
      "urn:acme:dataset:(urn:acme:dataPlatform:hive,turn:left:at:home,PROD)",
    );
    expect(withNamespace("see urn:li:tag:x", "acme")).toBe("see urn:li:tag:x");
  });

  test.each([
    ["urn:acme:%", "urn:li:%"],
    ["urn:acme:data%", "urn:li:data%"],
    ["urn:acme:tag:a_b", "urn:li:tag:a_b"],
    ["%(urn:acme:dataPlatform:hive,%", "%(urn:li:dataPlatform:hive,%"],
    ["%turn:acme:tag:%", "%turn:acme:tag:%"],
    ["urn:%:tag:a", "urn:%:tag:a"],
    ["%", "%"],
  ])("the pattern %s becomes %s", (like, expected) => {
    expect(patternWithNamespace(like, "li")).toBe(expected);
  });

  test("withNamespace changes only namespaces and can be reversed", () => {
    fc.assert(
      fc.property(dataset, (text) => {
        const there = withNamespace(text, "acme");
        expect(parseUrn(there)).toEqual({ ...parseUrn(there), namespace: "acme" });
        expect(withNamespace(there, "li")).toBe(text);
        expect(withNamespace(there, "acme")).toBe(there);
      }),
    );
  });
});
