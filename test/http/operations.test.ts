/** /operations over HTTP: authentication, and the forms of requests and responses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { createRouteTable, resourceOf, routerPath } from "../../src/http/route-table.ts";
import { asOperator, openTestServer, rejection, testConfig } from "./test-server.ts";

const { app, operations } = openTestServer();
afterAll(() => app.close());
beforeEach(() => void operations.calls.splice(0));

const table = createRouteTable({
  ...testConfig,
  openApi: () => ({ json: "{}" }),
  docs: () => ({ html: "" }),
});
const rows = table.endpoints.filter((endpoint) => resourceOf(endpoint) === "operations");

const act = (action: string, payload: object, headers: Record<string, string> = asOperator) =>
  app.inject({ method: "POST", url: `/operations?action=${action}`, payload, headers });

describe("every route of operations", () => {
  test("requires the admin token", () => {
    expect(rows.map(({ name }) => name)).toEqual([
      "getEsTaskStatus",
      "truncateTimeseriesAspect",
      "restoreIndices",
      "getIndexSizes",
      "listJobs",
      "getJob",
      "cancelJob",
      "rebuildViews",
      "scavengeLog",
      "listParked",
      "retryParked",
      "dropParked",
      "verify",
      "listDifferences",
      "listAuditEvents",
      "getStatus",
    ]);
    for (const endpoint of rows) expect(endpoint.access, routerPath(endpoint)).toBe("operator");
  });

  describe.each(rows.map((endpoint) => [endpoint.name, endpoint] as const))("%s", (_, endpoint) => {
    const { path, body = {} } = readEndpointDocs()(endpoint).example;
    const rejected = rejection(401, "unauthenticated", expect.stringMatching(/admin token/));

    test.each(["", "/gms", "/api/gms"])(
      "is rejected without the token under %j",
      async (prefix) => {
        const reply = await app.inject({ method: "POST", url: prefix + path, payload: body });
        expect(reply.statusCode).toBe(401);
        expect(reply.json()).toEqual(rejected);
        expect(reply.headers["www-authenticate"]).toBe('Bearer realm="annals"');
        expect(operations.calls).toEqual([]);
      },
    );

    test.each([
      "Bearer",
      "Bearer ",
      "Bearer wrong",
      "for-tests",
      "Basic Zm9yLXRlc3Rz",
      "Bearer for-tests, Bearer for-tests",
    ])("is rejected with %j", async (authorization) => {
      const reply = await app.inject({
        ...{ method: "POST", url: path, payload: body, headers: { authorization } },
      });
      expect(reply.json()).toEqual(rejected);
    });

    test("is rejected before its body is read", async () => {
      const reply = await app.inject({ method: "POST", url: path, payload: "no json" });
      expect(reply.statusCode).toBe(401);
    });

    test("is answered with the token under every prefix", async () => {
      for (const prefix of ["", "/gms", "/api/gms"]) {
        const url = prefix + path;
        const reply = await app.inject({ method: "POST", url, payload: body, headers: asOperator });
        expect(reply.statusCode).toBe(200);
      }
      expect(operations.calls).toHaveLength(3);
    });
  });

  test("a repeated Authorization header is rejected", async () => {
    await app.listen({ port: 0 });
    const { port } = app.server.address() as { port: number };
    const { request } = await import("node:http");
    const status = await new Promise((resolve, reject) => {
      const sent = request({ port, method: "POST", path: "/operations?action=listJobs" }, (reply) =>
        resolve(reply.resume().statusCode),
      );
      sent.setHeader("authorization", [asOperator.authorization, asOperator.authorization]);
      sent.on("error", reject).end("{}");
    });
    expect(status).toBe(401);
  });
});

describe("the OpenAPI document", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the test reads the document by path.
  let document: any;
  beforeAll(async () => {
    document = (await app.inject("/openapi.json")).json();
  });

  test("declares that operations require a bearer token", () => {
    expect(document.paths["/operations?action=getStatus"].post.security).toEqual([
      { operator: [] },
    ]);
    expect(document.components.securitySchemes.operator).toMatchObject({
      type: "http",
      scheme: "bearer",
    });
    expect(document.paths["/aspects?action=ingestProposal"].post.security).toBeUndefined();
  });
});

describe("the limit of restoreIndices", () => {
  const asked = async (body: object, headers = {}) => {
    await act("restoreIndices", body, { ...asOperator, ...headers });
    const [request] = operations.calls.at(-1)?.args ?? [];
    const { batchSize, limit } = request as { batchSize: number; limit: number };
    return { batchSize, limit };
  };
  const urn = "urn:li:tag:a";
  const datahub = { "X-RestLi-Protocol-Version": "2.0.0" };

  test.each([
    [{}, 10],
    [{ urnLike: "%", batchSize: 3 }, 3],
    [{ batchSize: 30, limit: 20 }, 20],
    [{ batchSize: 20, limit: 30 }, 20],
    [{ limit: 700 }, 700],
    [{ urn }, 0],
    [{ urn, batchSize: 2 }, 2],
    [{ urn, limit: 4 }, 4],
  ])("of %j is the number of rows", async (body, limit) => {
    expect((await asked(body)).limit).toBe(limit);
  });

  test.each([
    [{}, { batchSize: 500, limit: 0 }],
    [
      { urnLike: "%", batchSize: 3 },
      { batchSize: 3, limit: 0 },
    ],
    [
      { batchSize: 3, limit: 7 },
      { batchSize: 3, limit: 7 },
    ],
    [{ urn }, { batchSize: 500, limit: 0 }],
    [
      { urn, batchSize: 2 },
      { batchSize: 2, limit: 0 },
    ],
  ])("of %j is that of a batch for DataHub clients", async (body, expected) => {
    expect(await asked(body, datahub)).toEqual(expected);
  });
});

test("getIndexSizes has DataHub's index names, and sizes in millions of bytes", async () => {
  expect((await act("getIndexSizes", {})).json()).toEqual({
    value: {
      indexSizes: [
        {
          indexName: "datajob_datahubingestioncheckpointaspect_v1",
          entityName: "datajob",
          aspectName: "datahubingestioncheckpoint",
          sizeInMb: 0.0015,
          sizeMb: 0.0015,
        },
      ],
    },
  });
});

test.each([
  ["truncateTimeseriesAspect", { entityType: "dataset", aspect: "a", endTimeMillis: "1" }],
  ["truncateTimeseriesAspect", { entityType: "dataset", aspect: "a", endTimeMillis: 1.5 }],
  ["truncateTimeseriesAspect", { entityType: "dataset", aspect: "a", endTimeMillis: 1e300 }],
  ["truncateTimeseriesAspect", { entityType: 7, aspect: "a", endTimeMillis: 1 }],
  [
    "truncateTimeseriesAspect",
    { entityType: "dataset", aspect: "a", endTimeMillis: 1, batchSize: 0 },
  ],
  [
    "truncateTimeseriesAspect",
    { entityType: "dataset", aspect: "a", endTimeMillis: 1, timeoutSeconds: -1 },
  ],
  ["truncateTimeseriesAspect", { entityType: "d", aspect: "a", endTimeMillis: 1, dryRun: "no" }],
  ["restoreIndices", { urn: ["urn:li:tag:a"] }],
  ["restoreIndices", { start: -1 }],
  ["restoreIndices", { batchSize: 0 }],
  ["restoreIndices", { limit: -1 }],
  ["restoreIndices", { gePitEpochMs: -5 }],
  ["restoreIndices", { aspectNames: "ownership" }],
  ["restoreIndices", { batchDelayMs: 1e9 }],
  ["getEsTaskStatus", { taskId: "7", nodeId: "a" }],
  ["listJobs", { start: -1 }],
  ["listJobs", { count: 1.5 }],
  ["getJob", { id: 7 }],
  ["cancelJob", {}],
])("%s rejects %j", async (action, body) => {
  const reply = await act(action, body);
  expect(reply.json()).toEqual(rejection(400, "malformed", expect.any(String)));
  expect(operations.calls).toEqual([]);
});

describe("the server", () => {
  test("counts each request under its route", async () => {
    const { app: counted, observed } = openTestServer();
    await counted.inject({ method: "POST", url: "/gms/operations?action=listJobs", payload: {} });
    await counted.inject({ url: "/entitiesV2/urn%3Ali%3Atag%3Asecret" });
    await counted.inject({ url: "/nowhere/urn%3Ali%3Atag%3Asecret" });
    await counted.inject({ url: "/metrics" });
    expect(observed).toMatchObject([
      { route: "/operations?action=listJobs", method: "POST", status: 401 },
      { route: "/entitiesV2/{urn}", method: "GET", status: 200 },
      { route: "none", method: "none", status: 404 },
      { route: "/metrics", method: "GET", status: 200 },
    ]);
    for (const { seconds } of observed) expect(seconds).toBeGreaterThan(0);
    await counted.close();
  });

  test("is not ready while a view is stalled", async () => {
    const { app: stalled, operations: stalling } = openTestServer();
    stalling.stalledViews = () => [{ view: "graph", position: position(7), head: position(9) }];
    const reply = await stalled.inject("/health/ready");
    expect(reply.json()).toEqual(
      rejection(
        503,
        "unavailable",
        expect.stringContaining('"graph" is stalled at position 7 of 9'),
      ),
    );
    await stalled.close();
  });
});
