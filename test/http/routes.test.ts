import { fastify } from "fastify";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { REQUEST_PATH } from "../../src/catalog/catalog.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { openApiDocument } from "../../src/http/docs/openapi.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import type { Endpoint, Schema } from "../../src/http/schemas/endpoint.ts";
import { asOperator, openTestServer, rejection, testConfig } from "./test-server.ts";

const NOW = 1_772_409_600_000;
const { app, catalog, operations } = openTestServer({}, () => NOW);
afterAll(() => app.close());
beforeEach(() => {
  catalog.calls.length = 0;
  operations.calls.length = 0;
  catalog.fault = undefined;
});

const table = createRouteTable({
  ...testConfig,
  openApi: () => ({ json: "{}" }),
  docs: () => ({ html: "" }),
});
/** Accepts responses as bodies: a response that matches its schema is answered with 200. */
const checker = fastify({
  ajv: { customOptions: { allowUnionTypes: true, coerceTypes: false, keywords: ["components"] } },
});
const docsOf = readEndpointDocs();
const { components } = openApiDocument(table, { version: "1.0.0", entities: [] });
for (const [i, endpoint] of table.endpoints.entries()) {
  const { response } = docsOf(endpoint);
  const schema = { body: { ...response, components } };
  if (response !== undefined) checker.post(`/${i}`, { schema }, () => "fits");
}
const act = (path: string, payload: object, method: Endpoint["method"] = "POST") =>
  app.inject({ method, url: path, payload, headers: asOperator });
const asked = (): unknown => catalog.calls.map(({ method, args }) => [method, ...args]);

describe.each(
  table.endpoints.map(
    (endpoint) => [`${endpoint.method} ${docsOf(endpoint).example.path}`, endpoint] as const,
  ),
)("the example %s", (_, endpoint) => {
  const { example, response: schema } = docsOf(endpoint);

  test("is answered", async () => {
    const response = await app.inject({
      method: endpoint.method,
      url: example.path,
      headers: asOperator,
      ...(example.body === undefined ? {} : { payload: example.body }),
    });
    expect(response.statusCode).toBe(endpoint.status ?? 200);
    expect(response.headers["x-annals-position"] === undefined).toBe(
      endpoint.writes !== true && endpoint.reads === undefined,
    );
    const calls = [...catalog.calls, ...operations.calls];
    if (endpoint.kind !== "page") expect(calls).toHaveLength(1);
    if (schema === undefined) expect(response.payload).toBe("");
    else expect(response.payload).not.toBe("");
    expect(response.headers["content-type"]).toBe(
      schema === undefined
        ? undefined
        : `${endpoint.responseType ?? "application/json"}; charset=utf-8`,
    );
  });

  test("has a response that matches its schema", async () => {
    expect(example.response === undefined).toBe(schema === undefined);
    if (schema === undefined) return;
    const checked = await checker.inject({
      method: "POST",
      url: `/${table.endpoints.indexOf(endpoint)}`,
      payload: JSON.stringify(example.response),
      headers: { "content-type": "application/json" },
    });
    expect(checked.payload).toBe("fits");
  });

  test("is rejected without a required parameter", async () => {
    const required = endpoint.body?.type === "object" ? endpoint.body.required : undefined;
    for (const name of required ?? []) {
      const { [name]: _dropped, ...rest } = (example.body ?? {}) as Schema;
      expect((await act(example.path, rest, endpoint.method)).json()).toMatchObject(
        rejection(400, "malformed", `Parameter '${name}' is required`),
      );
    }
    expect([...catalog.calls, ...operations.calls]).toEqual([]);
  });
});

test("no two endpoints have the same name in the OpenAPI document", () => {
  const names = table.endpoints.map(({ kind, name, path }) =>
    kind === "action" ? path + name : name,
  );
  expect(new Set(names).size).toBe(names.length);
});

describe("/aspects", () => {
  const proposal = {
    entityType: "tag",
    entityUrn: "urn:li:tag:a",
    changeType: "UPSERT",
    aspectName: "status",
    aspect: { value: '{"removed":false}', contentType: "application/json" },
  };

  test("ingestProposalBatch passes the proposals on in order", async () => {
    const proposals = [proposal, { ...proposal, changeType: "DELETE" }];
    const response = await act("/aspects?action=ingestProposalBatch", { proposals, async: "true" });
    expect(response.payload).toBe('{"value":"success"}');
    expect(asked()).toEqual([["ingest", proposals, {}]]);
  });

  test("system metadata may be JSON text, in a proposal and in each of a batch", async () => {
    const systemMetadata = '{"runId":"r-1","lastObserved":7}';
    const opened = { ...proposal, systemMetadata: { runId: "r-1", lastObserved: 7 } };
    await act("/aspects?action=ingestProposal", { proposal: { ...proposal, systemMetadata } });
    await act("/aspects?action=ingestProposalBatch", {
      proposals: [proposal, { ...proposal, systemMetadata }],
    });
    expect(asked()).toEqual([
      ["ingest", [opened], {}],
      ["ingest", [proposal, opened], {}],
    ]);
  });

  test.each([
    ["{", "systemMetadata is text that is no JSON object. Expected property name"],
    ["[]", "systemMetadata is text that is no JSON object. Send it as an object"],
    ['{"runId":"a","runId":"b"}', 'Member "runId" appears twice'],
    ['{"runId":7}', "/proposal/systemMetadata/runId :: 7 cannot be coerced to String"],
  ])("system metadata of %s is rejected", async (systemMetadata, message) => {
    const response = await act("/aspects?action=ingestProposal", {
      proposal: { ...proposal, systemMetadata },
    });
    expect(response.json()).toEqual(rejection(400, "malformed", expect.stringContaining(message)));
  });

  test.each(["true", "false", "unset", true, false])("async may be %j", async (async) => {
    expect((await act("/aspects?action=ingestProposal", { proposal, async })).statusCode).toBe(200);
  });

  test.each(["maybe", 1, null, "TRUE"])("async may not be %j", async (async) => {
    const response = await act("/aspects?action=ingestProposal", { proposal, async });
    expect(response.json()).toEqual(
      rejection(
        400,
        "malformed",
        expect.stringContaining(`/async :: ${JSON.stringify(async)} is not an enum symbol`),
      ),
    );
  });

  test("getTimeseriesAspectValues passes its query on, and returns the text", async () => {
    const query = {
      urn: "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)",
      entity: "dataset",
      aspect: "datasetProfile",
      startTimeMillis: 1,
      endTimeMillis: 2,
      limit: 3,
      latestValue: false,
      filter: { or: [{ and: [{ field: "rowCount", value: "1", condition: "EQUAL" }] }] },
      sort: { field: "timestampMillis", order: "ASCENDING" },
    };
    const response = await act("/aspects?action=getTimeseriesAspectValues", query);
    expect(response.payload).toBe('{"value":{"values":[]}}');
    expect(asked()).toEqual([["getTimeseriesValues", query]]);
  });

  test.each([
    [{ limit: "5" }, '/limit :: "5" cannot be coerced to Long'],
    [{ limit: 1.5 }, "/limit :: 1.5 cannot be coerced to Long"],
    [{ startTimeMillis: null }, "/startTimeMillis :: null cannot be coerced to Long"],
    [{ latestValue: "true" }, '/latestValue :: "true" cannot be coerced to Boolean'],
    [{ filter: [] }, "/filter :: record type is not backed by a DataMap"],
    [{ filter: { or: {} } }, "/filter/or :: array type is not backed by a DataList"],
    [{ sort: { field: "a", order: "UP" } }, '/sort/order :: "UP" is not an enum symbol'],
  ])("getTimeseriesAspectValues rejects %j", async (wrong, message) => {
    const query = { urn: "urn:li:tag:a", entity: "tag", aspect: "x", ...wrong };
    const response = await act("/aspects?action=getTimeseriesAspectValues", query);
    expect(response.json()).toEqual(rejection(400, "malformed", expect.stringContaining(message)));
  });

  test("getCount passes the pattern on", async () => {
    await act("/aspects?action=getCount", { aspect: "status" });
    const response = await act("/aspects?action=getCount", { aspect: "status", urnLike: "%hive%" });
    expect(response.payload).toBe('{"value":5}');
    expect(asked()).toEqual([
      ["countAspect", "status", undefined],
      ["countAspect", "status", "%hive%"],
    ]);
  });

  test.each([
    ["aspect=status", 0],
    ["aspect=status&version=0", 0],
    ["version=-3&aspect=status", -3],
    ["aspect=status&version=%2B7", 7],
    ["aspect=status&version=9999999999999999999", 1e19],
  ])("GET with %s reads version %i", async (query, version) => {
    expect((await app.inject(`/aspects/urn:li:tag:a?${query}`)).statusCode).toBe(200);
    expect(asked()).toEqual([["getAspect", "urn:li:tag:a", "status", version]]);
  });

  test.each([
    ["version=0", "Parameter 'aspect' is required"],
    ["aspect=", "Parameter 'aspect' is required"],
    [
      "aspect=a&version=abc",
      "Argument parameter 'version' value 'abc' must be of type 'java.lang.Long'",
    ],
    [
      "aspect=a&version=1.0",
      "Argument parameter 'version' value '1.0' must be of type 'java.lang.Long'",
    ],
    ["aspect=a&version=", "Argument parameter 'version' value '' must be of type 'java.lang.Long'"],
    ["aspect=a&aspect=b", 'parameter "aspect" is given 2 times. Give it once'],
  ])("GET with %s is rejected", async (query, message) => {
    expect((await app.inject(`/aspects/urn:li:tag:a?${query}`)).json()).toEqual(
      rejection(400, "malformed", message),
    );
    expect(catalog.calls).toEqual([]);
  });
});

describe("/entities", () => {
  const value = {
    "com.linkedin.metadata.snapshot.TagSnapshot": { urn: "urn:li:tag:a", aspects: [] },
  };
  const systemMetadata = { runId: "r-1" };

  test("ingest passes the snapshot on and returns only the position", async () => {
    const response = await act("/entities?action=ingest", { entity: { value }, systemMetadata });
    expect(response.payload).toBe("");
    expect(response.headers).toMatchObject({ "x-annals-position": "7", "content-length": "0" });
    expect(asked()).toEqual([["ingest", [{ value, systemMetadata }], {}]]);
  });

  test("batchIngest assigns system metadata to each snapshot", async () => {
    const entities = [{ value }, { value }];
    await act("/entities?action=batchIngest", { entities });
    await act("/entities?action=batchIngest", {
      entities,
      systemMetadata: [systemMetadata, '{"runId":"r-2"}'],
    });
    expect(asked()).toEqual([
      ["ingest", [{ value }, { value }], {}],
      [
        "ingest",
        [
          { value, systemMetadata },
          { value, systemMetadata: { runId: "r-2" } },
        ],
        {},
      ],
    ]);
  });

  test("batchIngest rejects system metadata of another number", async () => {
    const response = await act("/entities?action=batchIngest", {
      entities: [{ value }, { value }],
      systemMetadata: [systemMetadata],
    });
    expect(response.json()).toEqual(
      rejection(
        412,
        "mismatched",
        expect.stringContaining("systemMetadata has 1 members for 2 entities"),
      ),
    );
    expect(catalog.calls).toEqual([]);
  });

  test.each([
    [{}, "/entity/value :: a union value has one member, not 0"],
    [{ a: { urn: "u" }, b: { urn: "v" } }, "/entity/value :: a union value has one member, not 2"],
    [{ a: "x" }, "/entity/value/a :: record type is not backed by a DataMap"],
    [{ a: { aspects: [] } }, "/entity/value/a/urn :: field is required but not found"],
    [
      { a: { urn: "u", aspects: {} } },
      "/entity/value/a/aspects :: array type is not backed by a DataList",
    ],
  ])("a snapshot of %j is rejected", async (wrong, message) => {
    const response = await act("/entities?action=ingest", { entity: { value: wrong } });
    expect(response.json()).toEqual(rejection(400, "malformed", expect.stringContaining(message)));
  });

  test("delete passes the range on and returns the counts", async () => {
    const request = {
      urn: "urn:li:tag:gone",
      aspectName: "datasetProfile",
      startTimeMillis: 1,
      endTimeMillis: 2,
      dryRun: true,
    };
    const response = await act("/entities?action=delete", request);
    expect(response.json()).toEqual({
      value: { urn: "urn:li:tag:gone", rows: 4, timeseriesRows: 0 },
    });
    expect(response.headers["x-annals-position"]).toBe("9");
    expect(asked()).toEqual([["delete", request, {}]]);
  });

  test("exists and filterExistingUrns include removed entities by default", async () => {
    await act("/entities?action=exists", { urn: "u" });
    await act("/entities?action=exists", { urn: "u", includeSoftDelete: false });
    await act("/entities?action=filterExistingUrns", { request: { urns: ["u"] } });
    const response = await act("/entities?action=filterExistingUrns", {
      request: { urns: ["u"], includeSoftDelete: false },
    });
    expect(response.json()).toEqual({ value: ["urn:li:tag:there"] });
    expect(asked()).toEqual([
      ["exists", "u", { includeSoftDelete: true }],
      ["exists", "u", { includeSoftDelete: false }],
      ["filterExisting", ["u"], { includeSoftDelete: true }],
      ["filterExisting", ["u"], { includeSoftDelete: false }],
    ]);
  });

  test("listUrns limits the size of its pages only", async () => {
    const response = await act("/entities?action=listUrns", {
      entity: "tag",
      start: 2,
      count: 1e300,
    });
    expect(response.json()).toEqual({
      value: { entities: ["urn:li:tag:a"], start: 0, count: 1, total: 3 },
    });
    await act("/entities?action=listUrns", { entity: "tag", start: 1e300, count: 0 });
    expect(asked()).toEqual([
      ["listUrns", "tag", { start: 2, count: 10_000 }],
      ["listUrns", "tag", { start: Number.MAX_SAFE_INTEGER, count: 0 }],
    ]);
  });

  test.each([
    [{ start: -1 }, "/start :: -1 is below 0"],
    [{ count: -5 }, "/count :: -5 is below 0"],
    [{ count: "5" }, '/count :: "5" cannot be coerced to Long'],
    [{ start: 0.5 }, "/start :: 0.5 cannot be coerced to Long"],
  ])("listUrns rejects %j", async (wrong, message) => {
    const response = await act("/entities?action=listUrns", {
      entity: "tag",
      start: 0,
      count: 1,
      ...wrong,
    });
    expect(response.json()).toEqual(rejection(400, "malformed", expect.stringContaining(message)));
  });

  test("counts return a number for one type, and a map for several", async () => {
    const one = await act("/entities?action=getTotalEntityCount", { entity: "dataset" });
    const many = await act("/entities?action=batchGetTotalEntityCount", { entities: ["dataset"] });
    expect([one.payload, many.payload]).toEqual(['{"value":12}', '{"value":{"dataset":12}}']);
    expect(asked()).toEqual([
      ["countEntities", ["dataset"]],
      ["countEntities", ["dataset"]],
    ]);
  });

  test("reads pass on the requested aspects, or all", async () => {
    await app.inject("/entities/urn%3Ali%3Atag%3Aa?aspects=List(status)");
    await app.inject("/entities?ids=List(a,b)");
    await app.inject("/entities?ids=a&ids=b&aspects=status&aspects=ownership");
    await app.inject("/entities/b?aspects=status,ownership");
    expect(asked()).toEqual([
      ["getSnapshot", "urn:li:tag:a", ["status"]],
      ["getSnapshots", ["a", "b"], undefined],
      ["getSnapshots", ["a", "b"], ["status", "ownership"]],
      ["getSnapshot", "b", ["status", "ownership"]],
    ]);
  });
});

describe("/entitiesV2", () => {
  test.each([
    ["/entitiesV2/u", ["getEntity", "u", undefined]],
    ["/entitiesV2/u?aspects=List(status,ownership)", ["getEntity", "u", ["status", "ownership"]]],
    ["/entitiesV2/u?aspects=List()", ["getEntity", "u", []]],
    ["/entitiesV2/u?aspects=", ["getEntity", "u", []]],
    ["/entitiesV2/u?aspects=status,ownership", ["getEntity", "u", ["status", "ownership"]]],
    [
      "/entitiesV2?ids=u&aspects=List(status,%20ownership)",
      ["getEntities", ["u"], ["status", "ownership"]],
    ],
    ["/entitiesV2/u?alwaysIncludeKeyAspect=true&aspects=status", ["getEntity", "u", ["status"]]],
    [
      "/entitiesV2/u?alwaysIncludeKeyAspect=false&aspects=status",
      ["getEntity", "u", ["status"], { keyAlways: false }],
    ],
    [
      "/entitiesV2?ids=List(u)&alwaysIncludeKeyAspect=false",
      ["getEntities", ["u"], undefined, { keyAlways: false }],
    ],
    ["/entitiesV2?ids=List(u,v)", ["getEntities", ["u", "v"], undefined]],
    ["/entitiesV2/?ids=List()", ["getEntities", [], undefined]],
    ["/entitiesV2?aspects=List(status)&ids[0]=u", ["getEntities", ["u"], ["status"]]],
    ["/entitiesV2?ids%5B0%5D=u&ids%5b1%5d=v", ["getEntities", ["u", "v"], undefined]],
  ])("%s is parsed", async (url, call) => {
    const response = await app.inject(url);
    expect(response.payload).toBe('{"answered":true}');
    expect(asked()).toEqual([call]);
  });

  test("parses lists in the same way under every protocol", async () => {
    for (const version of ["1.0.0", "2.0.0"]) {
      catalog.calls.length = 0;
      await app.inject({
        url: "/entitiesV2/u?aspects=List(status)",
        headers: { "x-restli-protocol-version": version },
      });
      expect(asked()).toEqual([["getEntity", "u", ["status"]]]);
    }
  });

  test("answers HEAD like GET without a body", async () => {
    const response = await app.inject({ method: "HEAD", url: "/entitiesV2/u" });
    expect(response.statusCode).toBe(200);
    expect(response.payload).toBe("");
  });
});

describe("/usageStats", () => {
  const resource = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";

  test("batchIngest writes the events of buckets", async () => {
    const buckets = [{ bucket: 7, duration: "DAY", resource, metrics: { totalSqlQueries: 3 } }];
    const response = await act("/usageStats?action=batchIngest", { buckets });
    expect(response.payload).toBe("");
    expect(response.headers["x-annals-position"]).toBe("7");
    expect(asked()).toEqual([
      [
        "ingest",
        [
          {
            entityType: "dataset",
            entityUrn: resource,
            changeType: "UPSERT",
            aspectName: "datasetUsageStatistics",
            [REQUEST_PATH]: "buckets[0]",
            aspect: {
              contentType: "application/json",
              value:
                '{"timestampMillis":7,"eventGranularity":{"unit":"DAY","multiple":1},"totalSqlQueries":3}',
            },
          },
        ],
        {},
      ],
    ]);
  });

  test("query passes its range on, and queryRange ends its range now", async () => {
    const query = { resource, duration: "DAY", startTime: 1, endTime: 2, maxBuckets: 3 };
    const response = await act("/usageStats?action=query", query);
    expect(response.json()).toEqual({ value: { buckets: [], aggregations: {} } });
    await act("/usageStats?action=queryRange", {
      resource,
      duration: "HOUR",
      rangeFromEnd: "WEEK",
    });
    await act("/usageStats?action=queryRange", {
      resource,
      duration: "HOUR",
      rangeFromEnd: "WEEK",
      startTime: 5,
    });
    expect(asked()).toEqual([
      ["queryUsage", query],
      [
        "queryUsage",
        { resource, duration: "HOUR", startTime: NOW - 8 * 86_400_000 - 1, endTime: NOW },
      ],
      ["queryUsage", { resource, duration: "HOUR", startTime: 5, endTime: NOW }],
    ]);
  });

  test.each([
    ["query", { duration: "DECADE" }, '/duration :: "DECADE" is not an enum symbol'],
    ["query", { maxBuckets: -1 }, "/maxBuckets :: -1 is below 0"],
    ["queryRange", { rangeFromEnd: "EPOCH" }, '/rangeFromEnd :: "EPOCH" is not an enum symbol'],
  ])("%s rejects %j", async (action, wrong, message) => {
    const response = await act(`/usageStats?action=${action}`, {
      resource,
      duration: "DAY",
      rangeFromEnd: "DAY",
      ...wrong,
    });
    expect(response.json()).toEqual(rejection(400, "malformed", expect.stringContaining(message)));
  });
});

describe("the pages of the service", () => {
  test("/config has the values that clients expect", async () => {
    const config = (await app.inject("/config?verbose=true")).json();
    expect(config).toMatchObject({
      noCode: "true",
      statefulIngestionCapable: true,
      patchCapable: true,
      datahub: { serverEnv: "core" },
      telemetry: { enabledCli: false },
      versions: {
        "acryldata/datahub": { version: "v1.6.0", commit: expect.stringMatching(/^[0-9a-f]{40}$/) },
      },
      annals: { version: "0.1.0" },
    });
  });

  test("the commit in /config changes only with the model", async () => {
    const commitOf = async (modelFingerprint: string) => {
      const api = openTestServer({ modelFingerprint });
      const config = (await api.app.inject("/config")).json();
      await api.app.close();
      return config.versions["acryldata/datahub"].commit;
    };
    const [one, again, other] = await Promise.all(["a", "a", "b"].map(commitOf));
    expect(one).toBe(again);
    expect(one).not.toBe(other);
  });

  test("/health names views with differences and stale views", async () => {
    const { getStatus } = operations;
    const status = await getStatus();
    const { aspects } = status.views;
    if (aspects === undefined) throw new Error("no view");
    operations.getStatus = async () => ({
      ...status,
      views: {
        aspects: { ...aspects, verifiedPosition: 7 as never, differences: 0 },
        graph: { ...aspects, verifiedPosition: 7 as never, differences: 3 },
        search: { ...aspects, stale: true },
      },
    });
    const { statusCode, body } = await app.inject("/health");
    operations.getStatus = getStatus;
    expect([statusCode, JSON.parse(body)]).toEqual([
      200,
      { views: { graph: { differences: 3, verifiedPosition: 7 }, search: { stale: true } } },
    ]);
  });

  test("/health fails with the catalog, and names the failing parts", async () => {
    expect((await app.inject("/health")).json()).toEqual({});
    const healthy = catalog.health;
    catalog.health = async () => ({
      ok: false,
      log: 7 as never,
      logError: 'log "a" could not be written',
      views: {
        aspects: { position: 3 as never, error: "disk full" },
        timeseries: { position: 7 as never },
      },
    });
    expect((await app.inject("/health")).json()).toEqual(
      rejection(
        503,
        "unavailable",
        expect.stringContaining('log "a" could not be written; view "aspects": disk full'),
      ),
    );
    expect((await app.inject("/health/live")).statusCode).toBe(200);
    catalog.health = healthy;
    catalog.fault = new CatalogError("unavailable", "the log is closed");
    expect((await app.inject("/health")).statusCode).toBe(503);
  });
});
