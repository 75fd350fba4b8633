/**
 * Points in time over HTTP: the endpoints that accept asOfPosition and asOfTime, valid spellings,
 * and rejections.
 */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { takesAsOf } from "../../src/http/request/as-of-parameters.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import type { Endpoint } from "../../src/http/schemas/endpoint.ts";
import { openTestServer, testConfig } from "./test-server.ts";

const { app, catalog } = openTestServer();
afterAll(() => app.close());
beforeEach(() => {
  catalog.calls.length = 0;
  catalog.fault = undefined;
});

const table = createRouteTable({
  ...testConfig,
  openApi: () => ({ json: "{}" }),
  docs: () => ({ html: "" }),
});
const rows = table.endpoints.map((one) => [`${one.method} ${one.path} ${one.name}`, one] as const);
const taking = rows.filter(([, one]) => takesAsOf(one));
const others = rows.filter(([, one]) => !takesAsOf(one) && one.access === undefined);

const docsOf = readEndpointDocs();

function ask(endpoint: Endpoint, pointInTime: string, headers: Record<string, string> = {}) {
  const { path, body } = docsOf(endpoint).example;
  return app.inject({
    method: endpoint.method,
    url: `${path}${path.includes("?") ? "&" : "?"}${pointInTime}`,
    headers,
    ...(body !== undefined && { payload: body }),
  });
}

const get = (pointInTime: string, headers: Record<string, string> = {}) =>
  app.inject({ method: "GET", url: `/entitiesV2/urn:li:tag:tides?${pointInTime}`, headers });

const wireForms: readonly Record<string, string>[] = [{}, { "X-RestLi-Protocol-Version": "2.0.0" }];

describe("a point in time is accepted by", () => {
  test("every read of entities, aspects and timeseries", () => {
    const names = taking.map(([, { name }]) => name).sort();
    expect(names).toEqual([
      ...["aspectExists", "aspectExistsV2", "batchGetByNames", "batchGetEntities"],
      ...["batchGetEntitiesV2", "batchGetGenericEntities", "entityExists", "entityExistsV2"],
      ...[
        "entityOfAnyTypeExists",
        "exists",
        "filterExistingUrns",
        "getAspect",
        "getEntities",
        "getEntity",
        "getSnapshot",
      ],
      ...["getSnapshots", "getTimeseriesAspectValues", "readAspect", "readAspectV2"],
      ...["readEntity", "readEntityOfAnyType", "readEntityV2", "readLatest"],
    ]);
  });

  test.each(taking)("%s, which then reads only from the past", async (_, endpoint) => {
    const reply = await ask(endpoint, "asOfPosition=3");
    expect(reply.statusCode, reply.body).toBeLessThan(300);
    expect(reply.headers["x-annals-position"]).toBe("4");
    expect(catalog.calls[0]).toEqual({ method: "asOf", args: [{ position: 3 }] });
    const asked = catalog.calls.slice(1).map(({ method }) => method);
    expect(asked.length).toBeGreaterThan(0);
    expect(Object.keys(await catalog.asOf({ time: 1 }))).toEqual(expect.arrayContaining(asked));
  });
});

test.each(others)("%s rejects a point in time", async (_, endpoint) => {
  for (const pointInTime of ["asOfPosition=3", "asOfTime=5"]) {
    const reply = await ask(endpoint, pointInTime);
    expect([reply.statusCode, reply.body]).toEqual([400, expect.stringContaining("takes no asOf")]);
  }
  expect(catalog.calls).toEqual([]);
});

describe("the point in time", () => {
  test.each([
    ["asOfPosition=0", { position: 0 }],
    ["asOfPosition=999999999999999", { position: 999_999_999_999_999 }],
    ["asOfTime=0", { time: 0 }],
    ["asOfTime=1772409600000", { time: 1_772_409_600_000 }],
    ["asOfTime=2026-03-02T00:00:00Z", { time: 1_772_409_600_000 }],
    ["asOfTime=2026-03-02T00:00Z", { time: 1_772_409_600_000 }],
    ["asOfTime=2026-03-02T01:30:00.5%2B01:30", { time: 1_772_409_600_500 }],
    ["asOfTime=2026-03-02T01:30:00+01:30", { time: 1_772_409_600_000 }],
    ["asOfTime=2024-02-29T23:59:59-01:00", { time: Date.UTC(2024, 2, 1, 0, 59, 59) }],
  ])("%s is valid", async (query, pointInTime) => {
    for (const headers of wireForms) {
      catalog.calls.length = 0;
      expect((await get(query, headers)).statusCode).toBe(200);
      expect(catalog.calls[0]).toEqual({ method: "asOf", args: [pointInTime] });
    }
  });

  test.each([
    ...["", "-1", "+1", "1.0", "0x10", "1e3", " 1", "1_000", "1234567890123456", "head", "١٢"].map(
      (value) => `asOfPosition=${encodeURIComponent(value)}`,
    ),
    ...["", "-1", "now", "2026-03-02", "2026-03-02T00:00:00", "2026-02-30T00:00:00Z"].map(
      (value) => `asOfTime=${value}`,
    ),
    ...["2026-13-01T00:00:00Z", "2026-03-02T25:00:00Z", "2026-03-02T00:00:00+99:00"].map(
      (value) => `asOfTime=${encodeURIComponent(value)}`,
    ),
    ...["Mon, 02 Mar 2026 00:00:00 GMT", "March 2026 (Z)", "9".repeat(5_000)].map(
      (value) => `asOfTime=${encodeURIComponent(value)}`,
    ),
    "asOfPosition=List(1,2)",
    "asOfPosition=1&asOfPosition=2",
    "asOfPosition[0]=1&asOfPosition[1]=2",
    "asOfTime=5&asOfTime=6",
    "asOfPosition=1&asOfTime=5",
    "asOfPosition=%zz",
    "asOfPosition=1%00",
  ])("%s is rejected", async (query) => {
    for (const headers of wireForms) {
      const reply = await get(query, headers);
      expect([reply.statusCode, catalog.calls]).toEqual([400, []]);
      expect(reply.body.length).toBeLessThan(600);
    }
  });

  test("is rejected together with a minimum position", async () => {
    const reply = await get("asOfPosition=3", { "X-Annals-Min-Position": "2" });
    expect([reply.statusCode, catalog.calls]).toEqual([400, []]);
    expect(reply.body).toContain("waits for no view");
  });
});

test("the documentation and the OpenAPI document describe the parameters", async () => {
  const { body } = await app.inject("/restli/docs");
  expect(body).toContain("asOfPosition");
  const { paths } = (await app.inject("/openapi.json")).json();
  const named = ({ parameters }: { parameters: readonly { name: string }[] }) =>
    parameters.map(({ name }) => name);
  expect(named(paths["/entitiesV2/{urn}"].get)).toContain("asOfTime");
  expect(named(paths["/aspects?action=getTimeseriesAspectValues"].post)).toContain("asOfPosition");
  expect(named(paths["/runs?action=describe"].post)).not.toContain("asOfPosition");
});
