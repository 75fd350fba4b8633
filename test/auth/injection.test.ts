/** Injection: text in a request is a value to every store, and never part of a query. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, type Reply } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const TAG = "urn:li:tag:kept";
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;

/** For SQL, full-text search, Cypher, Lucene, JSON, JavaScript and file names. */
const hostile = [
  `x'; DROP TABLE entity; --`,
  `x" OR "1"="1`,
  "x') UNION SELECT * FROM aspect --",
  "x%' OR urn LIKE '%",
  'x" NEAR/2 y* NOT (z',
  "x`}) DETACH DELETE n //",
  "x'})-[:OwnedBy*]->(m) RETURN m //",
  "*:* OR _exists_:tags",
  '{"$gt": ""}',
  "__proto__",
  "constructor",
  "../../../etc/passwd",
  "x\u0000y",
  "x\r\nX-Injected: 1",
  "\u{1f331}\ud800",
];

let service: RunningService;
let position = 0;
beforeAll(async () => {
  service = await runningService();
  for (const urn of [TAG, "urn:li:tag:other"]) {
    position = (await service.client.upsert(urn, "tagProperties", { name: urn })).position ?? 0;
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const post = (path: string, body: object): Promise<Reply> =>
  service.client.call("POST", path, body, { "X-Annals-Min-Position": String(position) });
const search = (body: object, action = "search") =>
  post(`/entities?action=${action}`, { entity: "tag", start: 0, count: 10, ...body });

/** Expects a regular response or rejection without matches and without internals of a store. */
function harmless(reply: Reply, given: string): void {
  expect([200, 400, 404, 422], given).toContain(reply.status);
  expect(reply.headers.get("x-injected"), given).toBeNull();
  const text = JSON.stringify(reply.body);
  expect(text, given).not.toMatch(/SQLITE|syntax error|no such (table|column)|fts5|Cypher|root:/i);
  if (reply.status === 200) expect(text, given).not.toContain(TAG);
}

describe.each(hostile)("the text %j", (given) => {
  test("in a urn is harmless", async () => {
    for (const urn of [`urn:li:tag:${given}`, dataset(given), given]) {
      harmless(await service.client.get(`/entitiesV2/${encoded(urn.toWellFormed())}`), urn);
      harmless(await post("/entities?action=exists", { urn }), urn);
    }
  });

  test("in the urn of a write names that entity or is rejected", async () => {
    const urn = dataset(given);
    const written = await service.client.upsert(urn, "status", { removed: false });
    expect([200, 400, 422]).toContain(written.status);
    if (written.status !== 200) return;
    position = written.position ?? position;
    const { body } = await post("/entities?action=exists", { urn });
    expect(body.value).toBe(true);
  });

  test("in the types and the urn of relationships and lineage is harmless", async () => {
    const text = encoded(given.toWellFormed());
    const path = "/relationships?direction=INCOMING&types=";
    harmless(await service.client.get(`${path}${text}&urn=${encoded(dataset("a"))}`), given);
    harmless(await service.client.get(`${path}OwnedBy&urn=${text}`), given);
    harmless(
      await post("/relationships?action=getLineage", { urn: given, direction: given, maxHops: 2 }),
      given,
    );
  });

  test("in the field, value, condition or order of a filter is harmless", async () => {
    const filter = (criterion: object) => ({ or: [{ and: [criterion] }] });
    for (const criterion of [
      { field: given, values: ["x"] },
      { field: "name", values: [given] },
      { field: "name", values: [given], condition: "CONTAIN" },
      { field: "name", values: [given], condition: "START_WITH" },
      { field: "name", values: ["x"], condition: given },
    ]) {
      harmless(await search({ input: "*", filter: filter(criterion) }), given);
    }
    const sorted = await search({ input: "x", sort: { field: given, order: "ASCENDING" } });
    expect(sorted.status).toBe(400);
    harmless(await search({ query: given, limit: 5 }, "autocomplete"), given);
    harmless(await search({ path: `/${given}`, limit: 5 }, "browse"), given);
  });

  test("as a query is words or an expression, and never an error", async () => {
    const found = await search({ input: given });
    expect(found.status).toBe(200);
    const quoted = await search({ input: `name:"${given.replaceAll('"', "")}"` });
    expect(quoted.status).toBe(200);
    expect(quoted.body.value.numEntities).toBe(0);
  });

  test("in names of entity types and aspects, patterns and scroll ids is harmless", async () => {
    harmless(await post("/entities?action=listUrns", { entity: given, start: 0, count: 5 }), given);
    harmless(await post("/aspects?action=getCount", { aspect: given }), given);
    const counted = await post("/aspects?action=getCount", {
      aspect: "tagProperties",
      urnLike: `${given.replaceAll("%", "")}`,
    });
    expect([200, 400]).toContain(counted.status);
    if (counted.status === 200) expect(counted.body.value).toBe(0);
    const text = encoded(given.toWellFormed());
    harmless(
      await service.client.get(`/aspects/${encoded("urn:li:tag:x")}?aspect=${text}&version=0`),
      given,
    );
    const scrolled = { input: "*", entities: ["tag"], scrollId: given };
    expect((await search(scrolled, "scrollAcrossEntities")).status).toBe(400);
  });
});

test("the catalog is unchanged after the attacks", async () => {
  const { body } = await service.client.get(`/entitiesV2/${encoded(TAG)}`);
  expect(body.aspects.tagProperties.value.name).toBe(TAG);
  const listed = await post("/entities?action=listUrns", { entity: "tag", start: 0, count: 10 });
  expect(listed.body.value.total).toBe(2);
  expect((await service.client.get("/health")).status).toBe(200);
});
