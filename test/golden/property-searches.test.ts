/**
 * Searches on structured properties over HTTP: the value type of a property decides how filters,
 * `<field>:<value>`, sort orders and facets treat its values, under each of its names.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
/** Position of the last write. Searches wait for it. */
let written = 0;

const FIELD = "structuredProperties";
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const ANN = "urn:li:corpuser:ann";
const BOB = "urn:li:corpuser:bob";

const property = (id: string, type: string, more: object = {}) =>
  proposal(`urn:li:structuredProperty:${id}`, "propertyDefinition", {
    qualifiedName: id,
    valueType: `urn:li:dataType:datahub.${type}`,
    entityTypes: ["urn:li:entityType:datahub.dataset"],
    cardinality: "MULTIPLE",
    ...more,
  });
const assigned = (name: string, values: Readonly<Record<string, readonly (string | number)[]>>) =>
  proposal(dataset(name), FIELD, {
    properties: Object.entries(values).map(([id, all]) => ({
      propertyUrn: `urn:li:structuredProperty:${id}`,
      values: all.map((one) => (typeof one === "number" ? { double: one } : { string: one })),
    })),
  });

/** Other alphabets, blanks and signs. */
const oddIds = ["ключ", "näme", "Odd Name.with-dash_x", "per%cent", "a,b", "o'x"];

beforeAll(async () => {
  service = await runningService();
  await write(
    property("io.due", "date"),
    property("io.rank", "number"),
    property("io.class", "string"),
    property("io.note", "rich_text"),
    property("io.lead", "urn"),
    property("io.file.length", "number"),
    ...oddIds.map((id) => property(id, "string")),
    property("a1b2", "date", { qualifiedName: "io.seen_on", version: "20240610120000" }),
  );
  await write(
    assigned("a", {
      ...{ "io.due": ["2024-05-01"], "io.rank": [9], "io.class": ["Gold"], "io.lead": [ANN] },
      ...{ "io.note": ["**Kept** for 30 days"], "io.file.length": [7], a1b2: ["2024-05-01"] },
      ...Object.fromEntries(oddIds.map((id, i) => [id, [`odd value ${i}`]])),
    }),
    assigned("b", {
      ...{ "io.due": ["2024-05-02"], "io.rank": [10.5], "io.class": ["gold"], "io.lead": [BOB] },
      ...{ "io.note": ["Secret"], "io.file.length": [8], a1b2: ["2024-06-01"] },
    }),
    assigned("c", { "io.due": ["2024-06-01"], "io.rank": ["100"], "io.class": ["9"] }),
    assigned("d", { "io.due": ["1969-12-31", "2031-01-01"], "io.rank": [-1], "io.class": ["10"] }),
  );
});
afterAll(() => service[Symbol.asyncDispose]());

async function write(...proposals: readonly object[]): Promise<void> {
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  written = reply.position ?? 0;
}

const search = (more: object) =>
  service.client.call(
    "POST",
    "/entities?action=search",
    { entity: "dataset", input: "*", start: 0, count: 10, ...more },
    { "X-Annals-Min-Position": String(written) },
  );
async function found(more: object): Promise<string> {
  const reply = await search(more);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const urns: readonly string[] = reply.body.value.entities;
  return urns.map((urn) => urn.split(",")[1]).join("");
}
const filterOf = (field: string, condition: string, ...values: readonly string[]) => ({
  or: [{ and: [{ field, condition, values }] }],
});
const filtered = (name: string, condition: string, ...values: readonly string[]) =>
  found({ filter: filterOf(`${FIELD}.${name}`, condition, ...values) });
const typed = (text: string) => found({ input: `${FIELD}.${text}` });
const millis = (text: string) => String(Date.parse(text));

test.each(oddIds.map((id, i) => [id, i] as const))(
  "a property with the id %j is searched",
  async (id, i) => {
    const name = id.replaceAll(" ", "\\ ");
    expect(await typed(`${name}:"odd value ${i}"`)).toBe("a");
    expect(await typed(`${name}:odd value ${i}`)).toBe("a");
    expect(await filtered(id, "EQUAL", `odd value ${i}`)).toBe("a");
  },
);

describe("dates", () => {
  test("dates are compared with days, months, times and epoch milliseconds", async () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ["EQUAL", "2024-05-01", "a"],
      ["EQUAL", "2024-05", "ab"],
      ["EQUAL", millis("2024-05-01"), "a"],
      ["EQUAL", "2024-05-01T00:00:00Z", "a"],
      ["EQUAL", "2024-05-01T02:00:00+02:00", "a"],
      ["EQUAL", "2024-05-01T00:00:01Z", ""],
      ["IN", "2024-06-01", "c"],
      ["IEQUAL", millis("2024-06-01"), "c"],
      ["GREATER_THAN", "2024-05-01", "bcd"],
      ["GREATER_THAN", "2024-05", "cd"],
      ["GREATER_THAN", millis("2024-05-01"), "bcd"],
      ["GREATER_THAN", "2024-05-01T12:00:00Z", "bcd"],
      ["GREATER_THAN_OR_EQUAL_TO", millis("2024-05-02"), "bcd"],
      ["GREATER_THAN_OR_EQUAL_TO", "2024-05-01T12:00:00Z", "bcd"],
      ["GREATER_THAN_OR_EQUAL_TO", "2024-05", "abcd"],
      ["LESS_THAN", "2024-05-02", "ad"],
      ["LESS_THAN", "2024-05-01T12:00:00Z", "ad"],
      ["LESS_THAN", millis("2024-05-01"), "d"],
      ["LESS_THAN_OR_EQUAL_TO", "2024-05-01T12:00:00Z", "ad"],
      ["LESS_THAN_OR_EQUAL_TO", "2024-05", "abd"],
      ["LESS_THAN", "0", "d"],
      ["GREATER_THAN", "1e300", ""],
      ["LESS_THAN", "-1e300", ""],
      ["LESS_THAN", "1e300", "abcd"],
      ["START_WITH", "2024-05", "ab"],
      ["CONTAIN", "-05-", "ab"],
      ["END_WITH", "-01", "acd"],
      ["EXISTS", "", "abcd"],
    ];
    for (const [condition, value, urns] of cases) {
      expect(await filtered("io.due", condition, value), `${condition} ${value}`).toBe(urns);
    }
    expect(await filtered("io.due.keyword", "EQUAL", "2024-05-01", "2024-06")).toBe("ac");
  });

  test("dates in a query match like dates in a filter", async () => {
    expect(await typed("io.due:2024-05-01")).toBe("a");
    expect(await typed("io.due:2024-05")).toBe("ab");
    expect(await typed(`io.due:${millis("2024-05-02")}`)).toBe("b");
    expect(await typed("io.due:>2024-05-01")).toBe("bcd");
    expect(await typed(`io.due:[${millis("2024-05-01")} TO ${millis("2024-05-31")}]`)).toBe("ab");
    expect(await typed("io.due:2024*")).toBe("abc");
  });

  test("an invalid date is rejected", async () => {
    const reply = await search({ filter: filterOf(`${FIELD}.io.due`, "GREATER_THAN", "soon") });
    expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
    expect(reply.body.message).toContain(`"soon" is not a value of the field "${FIELD}.io.due"`);
  });

  test("dates are sorted by time", async () => {
    const sorted = (order: string) => found({ sort: { field: `${FIELD}.io.due`, order } });
    expect(await sorted("ASCENDING")).toBe("dabc");
    expect(await sorted("DESCENDING")).toBe("dcba");
  });
});

describe("numbers", () => {
  test("numbers are compared as numbers", async () => {
    expect(await filtered("io.rank", "EQUAL", "9.0")).toBe("a");
    expect(await filtered("io.rank", "IN", "9", "1.05e1")).toBe("ab");
    expect(await filtered("io.rank", "EQUAL", "100")).toBe("c");
    expect(await filtered("io.rank", "GREATER_THAN", "9")).toBe("b");
    expect(await filtered("io.rank", "LESS_THAN_OR_EQUAL_TO", "9")).toBe("ad");
    expect(await typed("io.rank:>=9")).toBe("ab");
    expect(await found({ sort: { field: `${FIELD}.io.rank`, order: "ASCENDING" } })).toBe("dabc");
    const reply = await search({ filter: filterOf(`${FIELD}.io.rank`, "EQUAL", "many") });
    expect(reply.body.message).toContain("is not a value of the field");
  });
});

describe("texts", () => {
  test("strings are compared as strings, also where they look like numbers", async () => {
    expect(await filtered("io.class", "EQUAL", "Gold")).toBe("a");
    expect(await filtered("io.class", "IEQUAL", "GOLD")).toBe("ab");
    expect(await filtered("io.class", "EQUAL", "9.0")).toBe("");
    expect(await filtered("io.class", "LESS_THAN", "9")).toBe("d");
    expect(await typed("io.class:gold")).toBe("ab");
    expect(await filtered("io.note", "CONTAIN", "KEPT")).toBe("a");
    expect(await filtered("io.note", "START_WITH", "secr")).toBe("b");
  });
});

describe("urns", () => {
  test("urns match by their last part in queries, and as a whole in filters", async () => {
    expect(await filtered("io.lead", "EQUAL", ANN)).toBe("a");
    expect(await filtered("io.lead", "EQUAL", "ann")).toBe("");
    expect(await filtered("io.lead", "END_WITH", ":ANN")).toBe("a");
    expect(await typed(`io.lead:${ANN}`)).toBe("a");
    expect(await typed("io.lead:ann")).toBe("a");
    expect(await typed("io.lead:bo*")).toBe("b");
    expect(await typed("io.lead:(ann OR bob)")).toBe("ab");
  });
});

describe("names", () => {
  test("names may have underscores instead of dots, and may end like index subfields", async () => {
    expect(await filtered("io_due", "GREATER_THAN", millis("2024-05-01"))).toBe("bcd");
    expect(await typed("io_due:>2024-05-01")).toBe("bcd");
    expect(await found({ sort: { field: `${FIELD}.io_due`, order: "DESCENDING" } })).toBe("dcba");
    expect(await filtered("io.file.length", "EQUAL", "7")).toBe("a");
    expect(await filtered("io_file_length", "GREATER_THAN", "7")).toBe("b");
  });

  test("names are those of the definition, optionally with its version, whatever the urn is", async () => {
    for (const name of ["a1b2", "io.seen_on", "io_seen_on"]) {
      expect(await filtered(name, "LESS_THAN", "2024-05-31"), name).toBe("a");
    }
    const versioned = (version: string) => `_versioned.io_seen_on.${version}.date`;
    expect(await filtered(versioned("20240610120000"), "LESS_THAN", "2024-05-31")).toBe("a");
    expect(await filtered(versioned("20240610120001"), "LESS_THAN", "2024-05-31")).toBe("");
  });

  test("unknown properties match nothing", async () => {
    expect(await filtered("io.none", "EQUAL", "a")).toBe("");
    expect(await filtered("io.none", "EXISTS")).toBe("");
    expect(await typed("io.none:a")).toBe("");
    expect(await filtered("io.none:(,", "EQUAL", "a")).toBe("");
  });
});

test("facets count the values of a filter in their stored form", async () => {
  const facetOf = async (name: string, ...values: readonly string[]) => {
    const { body } = await search({ filter: filterOf(`${FIELD}.${name}`, "EQUAL", ...values) });
    const facets: readonly { name: string; aggregations: object }[] =
      body.value.metadata.searchResultMetadatas;
    return facets.find((one) => one.name.startsWith(FIELD));
  };
  expect(await facetOf("io.due", millis("2024-05-01"), "2024-06-01")).toEqual({
    name: `${FIELD}.io.due`,
    aggregations: { "2024-05-01": 1, "2024-06-01": 1 },
  });
  expect(await facetOf("io_due", millis("2024-05-01"))).toEqual({
    name: `${FIELD}.io_due`,
    aggregations: { "2024-05-01": 1 },
  });
  expect(await facetOf("io.rank", "9.0")).toMatchObject({ aggregations: { 9: 1 } });
  expect(await facetOf("io.due", "2024-06-01", "2024-05", "2024-07")).toMatchObject({
    aggregations: { "2024-05": 2, "2024-06-01": 1, "2024-07": 0 },
  });
});
