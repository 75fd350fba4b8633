/** Patches as clients send them: the effect of each form, operation and path on an aspect. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { applyPatch, type PatchRules, parsePatch } from "../../src/core/patch/patch.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";

const rules: PatchRules = JSON.parse(
  readFileSync(new URL("../../avro/patch-keys.json", import.meta.url), "utf8"),
);
const stamp = { time: 1_700_000_000_000, actor: "urn:li:corpuser:mira" };

type Operation = { op: string; path: string; from?: string; value?: unknown };
type Keys = Record<string, string[]>;

function patched(
  aspect: string,
  current: unknown,
  patch: Operation[],
  keys?: Keys,
  generic = false,
) {
  const body = keys ? { patch, arrayPrimaryKeys: keys, forceGenericPatch: generic } : patch;
  return applyPatch(current as never, parsePatch(JSON.stringify(body), rules, aspect), stamp);
}

function errorOf(run: () => unknown): CatalogError {
  try {
    run();
  } catch (error) {
    if (error instanceof CatalogError) return error;
    throw error;
  }
  throw new Error("it was not rejected");
}

const add = (path: string, value: unknown): Operation => ({ op: "add", path, value });
// Clients send an empty value with every removal.
const remove = (path: string): Operation => ({ op: "remove", path, value: {} });
const replace = (path: string, value: unknown): Operation => ({ op: "replace", path, value });

const A = "urn:li:tag:a";
const B = "urn:li:tag:b";
const SOURCE = "urn:li:dataHubAction:tagger";
const attribution = { time: 1, actor: "urn:li:corpuser:x", source: SOURCE };
const TAG_KEYS = { tags: ["attribution␟source", "tag"] };

describe("recorded patches", () => {
  test("a patch adds a tag by its urn to the existing ones", () => {
    const fresh = { tag: "urn:li:tag:fresh" };
    expect(
      patched("globalTags", { tags: [{ tag: "urn:li:tag:pii" }, { tag: "urn:li:tag:tier1" }] }, [
        add("/tags/urn:li:tag:fresh", fresh),
      ]),
    ).toEqual({ tags: [{ tag: "urn:li:tag:pii" }, { tag: "urn:li:tag:tier1" }, fresh] });
  });

  test("a patch in the object form adds a property", () => {
    const current = { name: "harvests", customProperties: {}, tags: [] };
    expect(patched("datasetProperties", current, [add("/customProperties/tier", "1")], {})).toEqual(
      { ...current, customProperties: { tier: "1" } },
    );
  });
});

describe("keyed arrays", () => {
  test("keyed arrays keep the order of members, append new ones and replace existing ones in place", () => {
    const current = { tags: [{ tag: A }, { tag: B }] };
    expect(
      patched("globalTags", current, [
        add("/tags/urn:li:tag:c", { tag: "urn:li:tag:c" }),
        add(`/tags/${A}`, { tag: A, context: "new" }),
      ]).tags,
    ).toEqual([{ tag: A, context: "new" }, { tag: B }, { tag: "urn:li:tag:c" }]);
  });

  test("a path names a member by several keys, with an empty segment for a missing key", () => {
    const current = { tags: [{ tag: A }, { tag: A, attribution }] };
    const other = { tag: B, attribution };
    expect(
      patched("globalTags", current, [add(`/tags/${SOURCE}/${B}`, other)], TAG_KEYS).tags,
    ).toEqual([...current.tags, other]);
    expect(patched("globalTags", current, [remove(`/tags//${A}`)], TAG_KEYS).tags).toEqual([
      { tag: A, attribution },
    ]);
    expect(patched("globalTags", current, [remove(`/tags/${SOURCE}/${A}`)], TAG_KEYS).tags).toEqual(
      [{ tag: A }],
    );
  });

  test("a path with fewer keys removes the group that it names", () => {
    const current = { tags: [{ tag: A }, { tag: B, attribution }, { tag: A, attribution }] };
    expect(patched("globalTags", current, [remove(`/tags/${SOURCE}`)], TAG_KEYS).tags).toEqual([
      { tag: A },
    ]);
    const byTag = { tags: ["tag", "attribution␟source"] };
    expect(patched("globalTags", current, [remove(`/tags/${A}`)], byTag).tags).toEqual([
      { tag: B, attribution },
    ]);
    expect(patched("globalTags", current, [remove("/tags")], TAG_KEYS)).toEqual({ tags: [] });
  });

  test("a group is replaced in place by a map or a list of members", () => {
    const current = {
      tags: [{ tag: A }, { tag: A, attribution }, { tag: "urn:li:tag:z" }, { tag: B, attribution }],
    };
    const c = { tag: "urn:li:tag:c", attribution };
    for (const value of [{ "urn:li:tag:c": c }, [c]]) {
      expect(
        patched("globalTags", current, [add(`/tags/${SOURCE}`, value)], TAG_KEYS).tags,
      ).toEqual([{ tag: A }, c, { tag: "urn:li:tag:z" }]);
    }
  });

  test("a plain add keeps the same tag of another source, a replace does not", () => {
    const current = { tags: [{ tag: A, attribution }] };
    const plain = { tag: A };
    expect(patched("globalTags", current, [add(`/tags/${A}`, plain)]).tags).toEqual([
      { tag: A, attribution },
      plain,
    ]);
    expect(patched("globalTags", current, [replace(`/tags/${A}`, plain)]).tags).toEqual([plain]);
  });

  test("a value whose keys differ from the path is stored under its own keys", () => {
    // The assignment that an SDK sends for a source lacks the attribution in its path.
    const urn = "urn:li:structuredProperty:io.tier";
    const keys = { properties: ["propertyUrn", "attribution␟source"] };
    const current = { properties: [{ propertyUrn: urn, values: [{ string: "1" }] }] };
    const value = { propertyUrn: urn, values: [{ string: "2" }] };
    expect(
      patched("structuredProperties", current, [add(`/properties/${urn}/${SOURCE}`, value)], keys),
    ).toEqual({ properties: [value] });
  });

  test("a keyed array is set as a whole, as a list or as a map", () => {
    const u = { owner: "urn:li:corpuser:u", type: "DATAOWNER" };
    const w = { owner: "urn:li:corpuser:w", type: "DATAOWNER" };
    const current = { owners: [u] };
    expect(patched("ownership", current, [add("/owners", [w])]).owners).toEqual([w]);
    expect(
      patched("ownership", current, [
        add("/owners", { [w.owner]: { DATAOWNER: { "": w } }, [u.owner]: { DATAOWNER: [u] } }),
      ]).owners,
    ).toEqual([w, u]);
  });

  test("owners are distinguished by type, and paths may have any number of keys", () => {
    const u = "urn:li:corpuser:u";
    const kind = "urn:li:ownershipType:steward";
    const owners = [
      { owner: u, type: "DATAOWNER" },
      { owner: u, type: "CUSTOM", typeUrn: kind },
      { owner: "urn:li:corpuser:w", type: "DATAOWNER" },
    ];
    const left = (path: string) => patched("ownership", { owners }, [remove(path)]).owners;
    expect(left(`/owners/${u}`)).toEqual([owners[2]]);
    expect(left(`/owners/${u}/CUSTOM`)).toEqual([owners[0], owners[2]]);
    expect(left(`/owners/${u}/CUSTOM/${kind}`)).toEqual([owners[0], owners[2]]);
    const another = { owner: u, type: "CUSTOM", typeUrn: "urn:li:ownershipType:other" };
    expect(patched("ownership", { owners }, [add(`/owners/${u}/CUSTOM`, another)]).owners).toEqual([
      ...owners,
      another,
    ]);
    const all = { owners: ["owner", "type", "typeUrn", "attribution␟source"] };
    const same = { ...owners[0], source: { type: "MANUAL" } };
    expect(
      patched("ownership", { owners }, [add(`/owners/${u}/DATAOWNER//`, same)], all).owners,
    ).toEqual([same, owners[1], owners[2]]);
  });

  test("a member gets the keys of its path that its value lacks", () => {
    expect(patched("globalTags", { tags: [] }, [add(`/tags/${A}`, {})]).tags).toEqual([{ tag: A }]);
    expect(
      patched("ownership", { owners: [] }, [add("/owners/urn:li:corpuser:u/DATAOWNER/", {})])
        .owners,
    ).toEqual([{ owner: "urn:li:corpuser:u", type: "DATAOWNER" }]);
  });

  test("an array of plain texts takes the text from the path, not from the value", () => {
    const a = "urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD),a)";
    const current = { inputDatasets: [], outputDatasets: [], inputDatasetFields: [a] };
    const b = a.replace(",a)", ",b)");
    expect(
      patched("dataJobInputOutput", current, [
        add(`/inputDatasetFields/${b}`, {}),
        add(`/inputDatasetFields/${a}`, a),
      ]).inputDatasetFields,
    ).toEqual([a, b]);
    expect(
      patched("dataJobInputOutput", current, [remove(`/inputDatasetFields/${a}`)])
        .inputDatasetFields,
    ).toEqual([]);
    expect(patched("subTypes", { typeNames: ["Table"] }, [add("/typeNames/View", "View")])).toEqual(
      {
        typeNames: ["Table", "View"],
      },
    );
  });

  test("an array of texts in unions takes the text from the path", () => {
    const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,t,PROD)";
    const inputs = [{ string: "urn:li:dataset:(urn:li:dataPlatform:hive,s,PROD)" }];
    expect(patched("chartInfo", { inputs }, [add(`/inputs/${urn}`, urn)]).inputs).toEqual([
      ...inputs,
      { string: urn },
    ]);
    expect(
      patched("chartInfo", { inputs }, [remove(`/inputs/${inputs[0]?.string}`)]).inputs,
    ).toEqual([]);
  });

  test("a keyed array may have keys in unions and numeric keys", () => {
    const gold = { value: { string: "gold" } };
    const current = { allowedValues: [gold, { value: { double: 5 } }] };
    expect(
      patched("propertyDefinition", current, [
        add("/allowedValues/gold", { ...gold, description: "best" }),
        remove("/allowedValues/5"),
      ]).allowedValues,
    ).toEqual([{ ...gold, description: "best" }]);
  });

  test("keyed arrays inside keyed arrays are created with their required fields", () => {
    const term = { urn: "urn:li:glossaryTerm:Email" };
    const path = "/editableSchemaFieldInfo/user.e~1mail";
    const value = patched("editableSchemaMetadata", undefined, [
      add(`${path}/globalTags/tags/${A}`, { tag: A }),
      add(`${path}/glossaryTerms/terms/${term.urn}`, term),
      add(`${path}/description`, "where to write"),
    ]);
    const made = { time: stamp.time, actor: stamp.actor };
    expect(value).toEqual({
      created: made,
      lastModified: made,
      editableSchemaFieldInfo: [
        {
          fieldPath: "user.e/mail",
          globalTags: { tags: [{ tag: A }] },
          glossaryTerms: { terms: [term], auditStamp: made },
          description: "where to write",
        },
      ],
    });
    expect(
      patched("editableSchemaMetadata", value, [remove(`${path}/globalTags/tags/${A}`)]),
    ).toMatchObject({
      editableSchemaFieldInfo: [{ fieldPath: "user.e/mail", globalTags: { tags: [] } }],
    });
  });

  test("a member whose key a patch changes is found under the new key", () => {
    const current = { tags: [{ tag: A }, { tag: B }] };
    const c = "urn:li:tag:c";
    expect(
      patched("globalTags", current, [
        remove("/tags/urn:li:tag:none"),
        replace(`/tags/${A}/tag`, c),
        add(`/tags/${c}/context`, "renamed"),
        add(`/tags/${A}`, { tag: A }),
      ]).tags,
    ).toEqual([{ tag: c, context: "renamed" }, { tag: B }, { tag: A }]);
  });

  test("a path may name urns of any namespace", () => {
    const current = { tags: [{ tag: "urn:acme:tag:a" }] };
    expect(patched("globalTags", current, [remove(`/tags/${A}`)]).tags).toEqual([]);
  });

  test("a number in a path is an index only if every key is a urn", () => {
    const current = { tags: [{ tag: A }, { tag: B }] };
    expect(patched("globalTags", current, [remove("/tags/0")]).tags).toEqual([{ tag: B }]);
    expect(patched("globalTags", current, [replace("/tags/1/context", "x")]).tags).toEqual([
      { tag: A },
      { tag: B, context: "x" },
    ]);
    const prompts = [{ id: "p" }, { id: "1" }];
    expect(patched("formInfo", { prompts }, [remove("/prompts/0")]).prompts).toEqual(prompts);
    expect(patched("formInfo", { prompts }, [remove("/prompts/1")]).prompts).toEqual([{ id: "p" }]);
  });

  test('"-" in a path is the index after the last member', () => {
    const current = { tags: [{ tag: A }] };
    expect(
      patched("globalTags", current, [add("/tags/-", { tag: B }), add("/tags/-", { tag: A })]).tags,
    ).toEqual([{ tag: A }, { tag: B }]);
  });

  test("arrays of aspects without rules are keyed by the patch, also nested ones", () => {
    const path = "/rules/r1";
    expect(
      patched("dataQuality", undefined, [add(path, { id: "r1", level: 2 })], { rules: ["id"] }),
    ).toEqual({ rules: [{ id: "r1", level: 2 }] });
    expect(
      patched("dataQuality", { set: { rules: [{ id: "r1" }] } }, [add("/set/rules/r1/level", 3)], {
        "set.rules": ["id"],
      }),
    ).toEqual({ set: { rules: [{ id: "r1", level: 3 }] } });
  });

  test("a patch that is forced to be generic addresses arrays by index", () => {
    const current = { tags: [{ tag: A }] };
    const error = errorOf(() =>
      patched("globalTags", current, [add(`/tags/${B}`, { tag: B })], {}, true),
    );
    expect(error.code).toBe("invalid");
    expect(error.text).toContain("arrayPrimaryKeys");
    expect(patched("globalTags", current, [add("/tags/0", { tag: B })], {}, true).tags).toEqual([
      { tag: B },
      { tag: A },
    ]);
  });
});

describe("column lineages", () => {
  const d = "urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,d,PROD),x)";
  const u = "urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,u,PROD),x)";
  const v = u.replace(",x)", ",y)");
  const path = `/fineGrainedLineages/NONE/${d}/NONE`;
  const lineage = {
    upstreamType: "FIELD_SET",
    upstreams: [u],
    downstreamType: "FIELD",
    downstreams: [d],
    confidenceScore: 0.5,
  };

  test("an added upstream creates a column lineage, and further upstreams extend it", () => {
    expect(
      patched("upstreamLineage", undefined, [add(`${path}/${u}`, { confidenceScore: 0.5 })]),
    ).toEqual({ upstreams: [], fineGrainedLineages: [lineage] });
    const current = { upstreams: [], fineGrainedLineages: [lineage] };
    expect(
      patched("upstreamLineage", current, [add(`${path}/${v}`, { confidenceScore: null })]),
    ).toEqual({ upstreams: [], fineGrainedLineages: [{ ...lineage, upstreams: [u, v] }] });
  });

  test("column lineages with another transformation or query are separate", () => {
    const query = "urn:li:query:q";
    const value = patched("upstreamLineage", { upstreams: [], fineGrainedLineages: [lineage] }, [
      add(`/fineGrainedLineages/COPY/${d}/${query}/${u}`, { confidenceScore: 1 }),
    ]);
    expect(value.fineGrainedLineages).toEqual([
      lineage,
      { ...lineage, transformOperation: "COPY", query, confidenceScore: 1 },
    ]);
  });

  test("a column lineage is removed with its last upstream, or as a group", () => {
    const both = { ...lineage, upstreams: [u, v] };
    const current = { upstreams: [], fineGrainedLineages: [both] };
    const left = (...operations: Operation[]) =>
      patched("upstreamLineage", current, operations).fineGrainedLineages;
    expect(left(remove(`${path}/${u}`))).toEqual([{ ...both, upstreams: [v] }]);
    expect(left(remove(`${path}/${u}`), remove(`${path}/${v}`))).toEqual([]);
    expect(left(remove("/fineGrainedLineages/NONE"))).toEqual([]);
    expect(left(remove("/fineGrainedLineages/COPY"))).toEqual([both]);
    expect(left(remove("/fineGrainedLineages"))).toEqual([]);
  });

  test("column lineages are set as a list, or as a map by key", () => {
    const map = { NONE: { [d]: { NONE: { [u]: { confidenceScore: 0.5 } } } } };
    for (const value of [[lineage], map]) {
      expect(
        patched("dataJobInputOutput", undefined, [add("/fineGrainedLineages", value)]),
      ).toEqual({
        inputDatasets: [],
        outputDatasets: [],
        fineGrainedLineages: [lineage],
      });
    }
  });

  test("a column lineage into several columns is unchanged", () => {
    const wide = { ...lineage, downstreams: [d, u] };
    const current = { upstreams: [], fineGrainedLineages: [wide] };
    expect(
      patched("upstreamLineage", current, [add(`${path}/${u}`, { confidenceScore: 0.5 })])
        .fineGrainedLineages,
    ).toEqual([wide, lineage]);
  });
});

describe("operations", () => {
  const current = { name: "t", customProperties: { a: "1" }, list: [1, 2] };
  const made = (...operations: Operation[]) => patched("anything", current, operations);

  test("a removal of an absent value has no effect", () => {
    expect(
      made(
        remove("/nothing"),
        remove("/no/parent"),
        remove("/name/inside"),
        remove("/list/7"),
        remove("/list/7/x"),
      ),
    ).toEqual(current);
    expect(patched("globalTags", { tags: [] }, [remove(`/tags/${A}/context`)])).toEqual({
      tags: [],
    });
  });

  test("missing parents are created", () => {
    expect(made(add("/a/b/c", 1), add("/new/-", 1), add("/new/-", 2))).toEqual({
      ...current,
      a: { b: { c: 1 } },
      new: [1, 2],
    });
  });

  test("replacing an absent value adds it", () => {
    expect(made(replace("/description", "d"), replace("/list/2", 3))).toEqual({
      ...current,
      description: "d",
      list: [1, 2, 3],
    });
  });

  test("arrays are changed by index", () => {
    expect(made(add("/list/0", 0), replace("/list/1", "x"), remove("/list/2")).list).toEqual([
      0,
      "x",
    ]);
  });

  test("move and copy transfer a value to another path", () => {
    const value = made(
      { op: "copy", from: "/customProperties", path: "/copied" },
      { op: "move", from: "/name", path: "/customProperties/name" },
      add("/copied/b", "2"),
    );
    expect(value).toEqual({
      customProperties: { a: "1", name: "t" },
      copied: { a: "1", b: "2" },
      list: [1, 2],
    });
    expect(
      patched("globalTags", { tags: [{ tag: A, context: "x" }] }, [
        { op: "copy", from: `/tags/${A}/context`, path: `/tags/${B}/context` },
      ]).tags,
    ).toEqual([
      { tag: A, context: "x" },
      { tag: B, context: "x" },
    ]);
  });

  test("a successful test lets the other operations continue", () => {
    expect(
      made(
        { op: "test", path: "/customProperties", value: { a: "1" } },
        { op: "test", path: "/absent", value: null },
        add("/name", "u"),
      ).name,
    ).toBe("u");
    const tags = { tags: [{ tag: A }] };
    expect(
      patched("globalTags", tags, [
        { op: "test", path: `/tags/${A}`, value: { tag: A } },
        add(`/tags/${B}`, { tag: B }),
        { op: "test", path: "/tags", value: [{ tag: A }, { tag: B }] },
      ]).tags,
    ).toHaveLength(2);
  });

  test("the whole value can be replaced", () => {
    expect(made(replace("", { name: "u" }), add("/b", 1))).toEqual({ name: "u", b: 1 });
  });

  test("escapes in paths stand for / and ~", () => {
    expect(made(add("/customProperties/a~1b~0c~01", "x")).customProperties).toEqual({
      a: "1",
      "a/b~c~1": "x",
    });
  });

  test("a patch changes neither the value nor its operations, and shares nothing with them", () => {
    const value = { tags: [{ tag: A, attribution: { ...attribution } }] };
    const before = JSON.stringify(value);
    const added = { tag: B, attribution: { ...attribution } };
    const patch = parsePatch([add(`/tags/${B}`, added)], rules, "globalTags");
    const results = [applyPatch(value, patch, stamp), applyPatch(value, patch, stamp)];
    expect(results[0]).toEqual(results[1]);
    for (const { tags } of results as { tags: { attribution: { actor: string } }[] }[]) {
      for (const tag of tags) tag.attribution.actor = "urn:li:corpuser:changed";
    }
    expect(JSON.stringify(value)).toBe(before);
    expect(added.attribution.actor).toBe("urn:li:corpuser:x");
  });

  test("names of inherited members are ordinary member names", () => {
    expect(
      made(add("/customProperties/constructor", "x"), remove("/toString")).customProperties,
    ).toEqual({ a: "1", constructor: "x" });
  });
});

describe("an aspect that a patch creates", () => {
  const audit = { time: stamp.time, actor: stamp.actor };
  test.each([
    [
      "glossaryTerms",
      "/terms/urn:li:glossaryTerm:T",
      { urn: "urn:li:glossaryTerm:T" },
      { auditStamp: audit },
    ],
    [
      "ownership",
      "/owners/urn:li:corpuser:u/NONE",
      { owner: "urn:li:corpuser:u", type: "NONE" },
      { lastModified: audit },
    ],
    [
      "dataJobInputOutput",
      "/inputDatajobEdges/urn:li:dataJob:j",
      { destinationUrn: "urn:li:dataJob:j" },
      { inputDatasets: [], outputDatasets: [] },
    ],
    ["dataJobInfo", "/customProperties/a", "b", { name: "", type: { string: "" } }],
    [
      "dashboardInfo",
      "/title",
      "T",
      { description: "", charts: [], lastModified: { created: audit, lastModified: audit } },
    ],
    ["siblings", "/siblings/urn:li:tag:s", "urn:li:tag:s", { primary: false }],
    [
      "formInfo",
      "/actors/users/urn:li:corpuser:u",
      "urn:li:corpuser:u",
      { name: "", actors: { users: ["urn:li:corpuser:u"] } },
    ],
    [
      "domains",
      "/domainAssociations//urn:li:domain:d",
      { domain: "urn:li:domain:d" },
      { domains: [] },
    ],
  ])("%s has its required fields", (aspect, path, value, expected) => {
    const keys =
      aspect === "domains" ? { domainAssociations: ["attribution␟source", "domain"] } : undefined;
    expect(patched(aspect, undefined, [add(path, value)], keys)).toMatchObject(expected);
  });

  test("an aspect without rules has only the values of the patch", () => {
    expect(patched("anything", undefined, [add("/a", 1)])).toEqual({ a: 1 });
  });
});

describe("a malformed patch is rejected:", () => {
  test.each([
    ["not JSON", "[{", "not JSON"],
    ["not a list", { op: "add" }, "a patch is a list of operations"],
    ["a text", '"add"', "a patch is a list of operations"],
    ["an operation that is not an object", [7], "operation 0"],
    [
      "an unknown op",
      [add("/a", 1), { op: "merge", path: "/a" }],
      'operation 1 has the op "merge"',
    ],
    ["no path", [{ op: "add", value: 1 }], "operation 0 (add) has the path nothing"],
    ["a path without its slash", [add("tags", 1)], '"tags"'],
    ["no value", [{ op: "add", path: "/a" }], 'operation 0 (add "/a") has no value'],
    ["no from", [{ op: "move", path: "/a" }], "has the from nothing"],
    ["an invalid escape", [add("/a~2", 1)], "~"],
    ["a prototype", [add("/__proto__/polluted", 1)], "/__proto__/polluted"],
    ["a constructor's prototype", [add("/constructor/prototype/x", 1)], "/constructor/prototype/x"],
    ["a prototype as the source", [{ op: "copy", from: "/__proto__", path: "/a" }], "/__proto__"],
    ["a very long path", [add("/a".repeat(65), 1)], "more than 64 segments"],
    ["invalid keys", { patch: [], arrayPrimaryKeys: { tags: "tag" } }, "arrayPrimaryKeys"],
    [
      "a deeply nested value",
      `[{"op":"add","path":"/a","value":${"[".repeat(9_999)}${"]".repeat(9_999)}}]`,
      "nests deeper",
    ],
    ["too many operations", Array.from({ length: 50_001 }, () => remove("/a")), "50001 operations"],
  ])("%s", (_, patch, found) => {
    const source = typeof patch === "string" ? patch : JSON.stringify(patch);
    const error = errorOf(() => parsePatch(source, rules, "globalTags"));
    expect(error.code).toBe("malformed");
    expect(error.text).toContain(found);
  });
});

describe("a patch that cannot be applied is rejected:", () => {
  const current = { name: "t", list: ["a"], tags: [{ tag: A }] };
  test.each<[string, Operation[], string]>([
    ["a field of a text", [add("/name/first", 1)], '"/name" has no fields'],
    [
      "an index out of range",
      [add("/list/5", 1)],
      '"/list" has 1 member, none at index "5". Use the index 0 to 1, or "-" to add',
    ],
    [
      "a replacement at an index out of range",
      [replace("/list/2", 1)],
      '"/list" has 1 member, none at index "2". Use the index 0 to 1, or "-"',
    ],
    [
      "a path through an index out of range",
      [add("/list/3/name", 1)],
      '"/list" has 1 member, none at index "3". Use the index 0',
    ],
    ["a member without an index", [add("/list/b", 1)], '"b" is not an index'],
    ["a removal without an index", [remove("/list/a")], '"a" is not an index of "/list"'],
    ["a failed test", [{ op: "test", path: "/name", value: "u" }], 'there is "t", not "u"'],
    [
      "a test of an absent value",
      [{ op: "test", path: "/x/y", value: 1 }],
      "there is nothing, not 1",
    ],
    ["a copy of nothing", [{ op: "copy", from: "/x", path: "/y" }], 'nothing at "/x"'],
    ["a move into itself", [{ op: "move", from: "/a", path: "/a/b" }], "into itself"],
    ["a member that is not an object", [add(`/tags/${B}`, "b")], 'not "b"'],
    ["the removal of everything", [remove("")], "the whole aspect"],
    ["a text as the whole aspect", [replace("", "x")], "an aspect is an object"],
  ])("%s", (_, operations, found) => {
    const error = errorOf(() =>
      patched("globalTags", current, [remove("/nothing"), ...operations]),
    );
    expect(error.code).toBe("invalid");
    expect(error.message).toContain(`operation 1 (${operations[0]?.op} "${operations[0]?.path}")`);
    expect(error.message).toContain('"globalTags"');
    expect(error.text).toContain(found);
  });

  test("more operations than the limit", () => {
    const operations = Array.from({ length: 20_001 }, () => remove("/nothing"));
    const error = errorOf(() => patched("globalTags", current, operations));
    expect(error.message).toBe("a patch has 20001 operations; at most 20000 are allowed");
  });

  test("copies that double the value each time", () => {
    const copies = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "", path: `/c${i}` }));
    const error = errorOf(() => patched("anything", current, copies));
    expect(error.code).toBe("too_large");
    expect(error.message).toContain("copies more than 1000000 values");
  });

  test("copies of a long text beyond the size of a response", () => {
    const text = "x".repeat(1_000_000);
    const copies = Array.from({ length: 600 }, (_, i) => ({
      op: "copy",
      from: "/c",
      path: `/c${i}`,
    }));
    const error = errorOf(() => patched("anything", { c: text }, copies));
    expect(error).toMatchObject({ code: "too_large" });
    expect(error.message).toContain("copies more than 64000000 characters");
  });

  test("moves that nest ever deeper", () => {
    const deep = "/a".repeat(60);
    const nesting = Array.from({ length: 10 }, () => [
      { op: "move", from: "/name", path: "/kept" },
      { op: "move", from: "/kept", path: `/name${deep}` },
    ]).flat();
    expect(errorOf(() => patched("anything", current, nesting)).text).toContain("nests deeper");
  });

  test("tests that scan a large array repeatedly", () => {
    const tags = Array.from({ length: 100_000 }, (_, i) => ({ tag: `urn:li:tag:${i}` }));
    const operations = Array.from({ length: 20 }, (_, i) => {
      return { op: "test", path: `/tags/urn:li:tag:${i}`, value: { tag: `urn:li:tag:${i}` } };
    });
    expect(errorOf(() => patched("globalTags", { tags }, operations)).code).toBe("too_large");
  });
});

test("a patch scans a large array once for all its operations", () => {
  const count = 20_000;
  const fields = Array.from({ length: count }, (_, i) => ({ fieldPath: `f${i}` }));
  const operations = fields.map(({ fieldPath }) =>
    add(`/editableSchemaFieldInfo/${fieldPath}/globalTags/tags/${A}`, { tag: A }),
  );
  const started = cpuMilliseconds();
  const value = patched("editableSchemaMetadata", { editableSchemaFieldInfo: fields }, operations);
  expect(value.editableSchemaFieldInfo).toHaveLength(count);
  // Quadratic work would take minutes; the limit suits the slowest machine.
  expect(cpuMilliseconds() - started).toBeLessThan(10_000);
});
