/** Urns: what is one, how its id comes apart, and that it comes together again. */
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

/** Names with everything that a urn may hold; no control characters, no U+241F. */
const name = fc.string({ unit: fc.constantFrom(..."ab.-/%#ü é(),[]:_") });
const plainName = name.map((text) => text.replace(/[(),]/g, "")).filter((text) => text !== "");
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const environment = fc.constantFrom("PROD", "DEV", "TEST");
const platform = word.map((id) => `urn:li:dataPlatform:${id}`);
const dataset = fc
  .tuple(platform, plainName, environment)
  .map((values) => `urn:li:dataset:(${values.join(",")})`);

describe("the parts of an id", () => {
  test("come back from a tuple whose one free text holds anything", () => {
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

  test("come back from several free texts without commas and parentheses", () => {
    fc.assert(
      fc.property(plainName, plainName, plainName, (...values) => {
        expect(splitId("urn", joinId(values), FLOW)).toEqual(values);
      }),
    );
  });

  test("of several free texts may hold commas in parentheses, and unpaired parentheses", () => {
    expect(splitId("urn", "(airflow,f(a,b),prod)", FLOW)).toEqual(["airflow", "f(a,b)", "prod"]);
    expect(splitId("urn", "(looker,a(b)", CHART)).toEqual(["looker", "a(b"]);
    expect(splitId("urn", "(looker(1,b)", CHART)).toEqual(["looker(1", "b"]);
    expect(splitId("urn", "(air)flow,f,prod)", FLOW)).toEqual(["air)flow", "f", "prod"]);
  });

  test("keep a nested urn whole when a name in it holds unpaired parentheses", () => {
    for (const table of ["a)b", "a(b", "a(b)c", "("]) {
      const parent = `urn:li:dataset:(urn:li:dataPlatform:hive,${table},PROD)`;
      expect(splitId("urn", `(${parent},col,umn)`, FIELD)).toEqual([parent, "col,umn"]);
    }
  });

  test("that are urns are found by their entity type", () => {
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

  test("of one field are the id itself, whatever it looks like", () => {
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
  ])("of the wrong number are refused: %s", (id, parts, message) => {
    expect(() => splitId(`urn:li:x:${id}`, id, parts)).toThrow(message);
  });
});

describe("a urn", () => {
  test("comes apart into namespace, type and id, and together again", () => {
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
  ])("is not %j", (text) => {
    expect(() => parseUrn(text)).toThrow(CatalogError);
  });

  test("has at most so many bytes, a schemaField more", () => {
    const parent = "urn:li:dataset:(urn:li:dataPlatform:hive,x,PROD)";
    const tag = `urn:li:tag:${"ü".repeat(250)}`;
    expect(parseUrn(`${tag}x`).entityType).toBe("tag");
    expect(() => parseUrn(`${tag}xx`)).toThrow("has 513 bytes of at most 512");
    const field = (length: number) => `urn:li:schemaField:(${parent},${"x".repeat(length)})`;
    expect(parseUrn(field(1900)).entityType).toBe("schemaField");
    expect(() => parseUrn(field(2048))).toThrow("of at most 2048");
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
])("%s names the entity type %j", (text, entityType) => {
  expect(entityTypeOf(text)).toBe(entityType);
});

describe("withNamespace", () => {
  test("gives a namespace to a urn and the urns in it, once", () => {
    const text = "urn:acme:schemaField:(urn:acme:dataset:(urn:acme:dataPlatform:hive,a,PROD),f)";
    const expected = text.replaceAll("urn:acme:", "urn:li:");
    expect(withNamespace(text, "li")).toBe(expected);
    expect(withNamespace(expected, "li")).toBe(expected);
    expect(withNamespace(expected, "acme")).toBe(text);
  });

  test("leaves names alone that only look like a urn inside", () => {
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
  ])("of a pattern %s is %s", (like, expected) => {
    expect(patternWithNamespace(like, "li")).toBe(expected);
  });

  test("changes only namespaces and comes back", () => {
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
