/**
 * What writes add to ownership, domains and structuredProperties, and which policies and schema
 * fields are rejected.
 */
import { describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import {
  applyWriteRule,
  looksBack,
  othersNeeded,
  rejectionOf,
} from "../../src/core/rules/write-rules.ts";
import type { JsonObject } from "../../src/lib/json.ts";

const written = (
  aspect: string,
  value: JsonObject,
  { previous, existing = [] }: { previous?: JsonObject; existing?: string[] } = {},
) =>
  applyWriteRule(aspect, value, {
    namespace: "li",
    urn: "urn:li:tag:x",
    previous,
    others: {
      find: (urn) => (existing.includes(urn) ? { urn, aspect: () => undefined } : undefined),
      withKey: () => [],
    },
  });

describe("ownership", () => {
  const mira = "urn:li:corpuser:mira";
  const group = "urn:li:corpGroup:checkout";

  test("owners are grouped by type, as DataHub does", () => {
    const value = {
      owners: [
        { owner: mira, type: "DATAOWNER" },
        { owner: group, type: "TECHNICAL_OWNER" },
      ],
      lastModified: { actor: mira, time: 1_700_000_000_000 },
    };
    expect(written("ownership", value)).toEqual({
      ...value,
      ownerTypes: {
        "urn:li:ownershipType:__system__dataowner": [mira],
        "urn:li:ownershipType:__system__technical_owner": [group],
      },
    });
  });

  test("an owner is grouped by the urn of the type if present, and listed once", () => {
    const typeUrn = "urn:li:ownershipType:steward";
    const owners = [
      { owner: mira, type: "CUSTOM", typeUrn },
      { owner: group, type: "NONE", typeUrn },
      { owner: mira, type: "CUSTOM", typeUrn, source: { type: "MANUAL" } },
    ];
    expect(written("ownership", { owners }).ownerTypes).toEqual({ [typeUrn]: [mira, group] });
  });

  test("sent owner types are replaced", () => {
    const sent = { owners: [], ownerTypes: { "urn:li:ownershipType:x": [mira] } };
    expect(written("ownership", sent)).toEqual({ owners: [], ownerTypes: {} });
  });

  test("the sent ownership value is not modified", () => {
    const value = Object.freeze({ owners: [{ owner: mira, type: "NONE" }] });
    written("ownership", value);
    expect(Object.keys(value)).toEqual(["owners"]);
  });
});

describe("domains", () => {
  const [a, b, c] = ["urn:li:domain:a", "urn:li:domain:b", "urn:li:domain:c"];
  const manual = { domain: a, context: "by hand" };
  const before = { domains: [a], domainAssociations: [manual] };

  test.each<[string, JsonObject, JsonObject | undefined, JsonObject]>([
    [
      "domains alone",
      { domains: [a] },
      undefined,
      { domains: [a], domainAssociations: [{ domain: a }] },
    ],
    ["associations alone", { domains: [], domainAssociations: [manual] }, undefined, before],
    ["both the same", before, undefined, before],
    ["no domains", { domains: [] }, undefined, { domains: [] }],
    ["domains removed", { domains: [] }, before, { domains: [] }],
    ["the previous domains", { domains: [a] }, before, before],
    [
      "other domains",
      { domains: [b, a] },
      before,
      { domains: [b, a], domainAssociations: [manual, { domain: b }] },
    ],
    [
      "an added domain with the previous associations",
      { ...before, domains: [a, b] },
      before,
      { domains: [a, b], domainAssociations: [manual, { domain: b }] },
    ],
    [
      "an added association",
      { ...before, domainAssociations: [manual, { domain: b }] },
      before,
      { domains: [a, b], domainAssociations: [manual, { domain: b }] },
    ],
    [
      "associations removed",
      { domains: [a], domainAssociations: [] },
      before,
      { domains: [], domainAssociations: [] },
    ],
    [
      "another association of the same domain",
      { domains: [a], domainAssociations: [manual, { domain: a }] },
      before,
      { domains: [a], domainAssociations: [manual, { domain: a }] },
    ],
    [
      "an association for another domain than the previous one",
      { domains: [a], domainAssociations: [{ domain: b }] },
      { domains: [a] },
      { domains: [a, b], domainAssociations: [{ domain: b }, { domain: a }] },
    ],
  ])("domains and associations agree: %s", (_, value, previous, expected) => {
    expect(written("domains", value, { previous })).toEqual(expected);
  });

  const propagated = (domain: string | undefined, mark = "true") => ({
    domain,
    attribution: { time: 1, actor: "urn:li:corpuser:ann", sourceDetail: { propagated: mark } },
  });

  test("manual associations come before propagated ones", () => {
    const domainAssociations = [propagated(a), { domain: b }, propagated(c, "false"), manual];
    const value = { domains: [a, b, c], domainAssociations: domainAssociations.slice(0, 3) };
    expect(written("domains", value)).toEqual({
      domains: [b, c, a],
      domainAssociations: [{ domain: b }, propagated(c, "false"), propagated(a)],
    });
    const both = { domains: [], domainAssociations };
    expect(written("domains", both)).toMatchObject({
      domains: [a, b, c],
      domainAssociations: [{ domain: b }, propagated(c, "false"), manual, propagated(a)],
    });
  });

  test("a write of domains without associations puts a new manual association first", () => {
    const previous = { domains: [a], domainAssociations: [propagated(a)] };
    expect(written("domains", { domains: [a, b] }, { previous })).toEqual({
      domains: [a, b],
      domainAssociations: [{ domain: b }, propagated(a)],
    });
  });

  test.each<[JsonObject, JsonObject | undefined]>([
    [{ domains: [a], domainAssociations: [{ domain: b }] }, undefined],
    [{ domains: [b], domainAssociations: [{ domain: c }] }, before],
    [{ domains: [b], domainAssociations: [] }, before],
  ])("domains and associations cannot be changed to different sets", (value, previous) => {
    expect(() => written("domains", value, { previous })).toThrow(
      expect.objectContaining({ code: "invalid" }),
    );
  });

  test("the rule for domains needs the previous value", () => {
    expect(looksBack("domains")).toBe(true);
    expect(looksBack("ownership")).toBe(false);
  });
});

describe("structuredProperties", () => {
  const [x, y] = ["urn:li:structuredProperty:x", "urn:li:structuredProperty:y"];
  const property = (propertyUrn: string | undefined) => ({
    propertyUrn,
    values: [{ string: "1" }],
  });
  const value = { properties: [property(x), property(y), property(x)] };

  test("rules need the structured properties that a value mentions", () => {
    expect(othersNeeded("structuredProperties")).toEqual({ types: ["structuredProperty"] });
    expect(othersNeeded("ownership")).toBeUndefined();
  });

  test("structured properties without a definition are dropped", () => {
    expect(written("structuredProperties", value, { existing: [y as string] })).toEqual({
      properties: [property(y)],
    });
  });

  test("structured properties that the entity already has remain", () => {
    const previous = { properties: [property(x)] };
    const both = { properties: [property(x), property(y)] };
    expect(written("structuredProperties", both, { previous })).toEqual(previous);
  });

  test("a write is rejected if no structured property remains", () => {
    const run = () => written("structuredProperties", value);
    expect(run).toThrow(CatalogError);
    expect(run).toThrow(`"${x}", "${y}"`);
  });

  test("an empty list of structured properties is accepted", () => {
    expect(written("structuredProperties", { properties: [] })).toEqual({ properties: [] });
  });
});

test("every other aspect is written unchanged", () => {
  const value = { removed: false };
  expect(written("status", value)).toBe(value);
});

describe("dataHubPolicyInfo", () => {
  const policy = (filter: string, ...fields: readonly string[]) => ({
    resources: { [filter]: { criteria: fields.map((field) => ({ field, values: ["x"] })) } },
  });

  test.each(["filter", "privilegeConstraints"])("a policy has known fields in its %s", (filter) => {
    const known = policy(filter, "TYPE", "RESOURCE_URN", "glossary", "DOMAIN");
    expect(written("dataHubPolicyInfo", known)).toBe(known);
    expect(() => written("dataHubPolicyInfo", policy(filter, "TYPE", "COLOUR"))).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining('"COLOUR"') }),
    );
  });

  test("a policy needs no filter", () => {
    for (const value of [{}, { resources: { type: "dataset" } }]) {
      expect(written("dataHubPolicyInfo", value)).toBe(value);
    }
  });
});

describe.each([
  ["schemaMetadata", "fields"],
  ["editableSchemaMetadata", "editableSchemaFieldInfo"],
])("%s", (aspect, member) => {
  const schema = (...paths: readonly string[]) => ({
    [member]: paths.map((fieldPath) => ({ fieldPath, description: "d" })),
  });
  const rejected = (value: JsonObject, previous?: JsonObject) =>
    rejectionOf(aspect, value, { namespace: "li", urn: "urn:li:tag:x", previous })?.message;

  test("each field has a unique path", () => {
    expect(rejected(schema("a", "b", "a.b"))).toBeUndefined();
    expect(rejected({})).toBeUndefined();
    expect(rejected(schema("a", "b", "a", "c", "c", "a"))).toBe(
      `aspect "${aspect}" has duplicated field paths in ${member}: "a", "c"`,
    );
    expect(rejected(schema("a", ""))).toBe(
      `aspect "${aspect}" has an empty field path in ${member}`,
    );
  });

  test("invalid paths that the aspect already has may remain", () => {
    const stored = schema("a", "a", "");
    expect(rejected(stored, stored)).toBeUndefined();
    expect(rejected(schema("a", "a", "", "b"), stored)).toBeUndefined();
    expect(rejected(schema("a", "a", "b", "b"), stored)).toContain('"b"');
    expect(rejected(schema("a", ""), schema("a"))).toContain("empty");
  });
});

describe("an assertion", () => {
  const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";

  test.each([
    ["datasetAssertion", { dataset }],
    ["freshnessAssertion", { entity: dataset }],
    ["volumeAssertion", { entity: dataset }],
    ["customAssertion", { entity: dataset }],
  ])("of the kind %s names its entity", (kind, definition) => {
    const sent = { [kind]: definition, entityUrn: "urn:li:dataset:another" };
    expect(written("assertionInfo", sent)).toEqual({ [kind]: definition, entityUrn: dataset });
  });

  test.each(["fieldValuesAssertion", "fieldMetricAssertion"])(
    "of a column names it: %s",
    (kind) => {
      const fieldAssertion = { entity: dataset, [kind]: { field: { path: "price" } } };
      expect(written("assertionInfo", { fieldAssertion })).toEqual({
        ...{ fieldAssertion: { ...fieldAssertion, fieldPath: "price" }, entityUrn: dataset },
      });
    },
  );

  test("without a definition keeps the entity that was sent", () => {
    expect(written("assertionInfo", { entityUrn: dataset })).toEqual({ entityUrn: dataset });
  });
});
