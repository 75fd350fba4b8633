import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openTestServer, rejection } from "./test-server.ts";

const { app, catalog } = openTestServer();
afterAll(() => app.close());
beforeEach(() => {
  catalog.calls.length = 0;
  catalog.fault = undefined;
});

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a/b c,d,PROD)";
const key = encodeURIComponent(urn);
const asked = (): unknown => catalog.calls.map(({ method, args }) => [method, ...args]);
const get = (query: string, headers = {}) =>
  app.inject({ method: "GET", url: `/relationships?${query}`, headers });

describe("GET /relationships", () => {
  const query = `urn=${key}&direction=OUTGOING`;

  test.each([
    ["once", "types=OwnedBy", ["OwnedBy"]],
    ["repeated", "types=OwnedBy&types=TaggedWith", ["OwnedBy", "TaggedWith"]],
    ["with commas", "types=OwnedBy,TaggedWith", ["OwnedBy", "TaggedWith"]],
    ["with encoded commas", "types=OwnedBy%2CTaggedWith", ["OwnedBy", "TaggedWith"]],
    ["as a list", "types=List(OwnedBy,TaggedWith)", ["OwnedBy", "TaggedWith"]],
    ["as an encoded list", "types=List%28OwnedBy%2CTaggedWith%29", ["OwnedBy", "TaggedWith"]],
    ["with indexes", "types[0]=OwnedBy&types[1]=TaggedWith", ["OwnedBy", "TaggedWith"]],
    ["as lists and more", "types=List(A)&types=B,C", ["A", "B", "C"]],
    ["as an empty list", "types=List()", []],
  ])("accepts types %s, in every protocol", async (_, types, expected) => {
    for (const version of [undefined, "1.0.0", "2.0.0"]) {
      const headers = version === undefined ? {} : { "X-RestLi-Protocol-Version": version };
      expect((await get(`${query}&${types}`, headers)).statusCode).toBe(200);
    }
    const call = ["listRelationships", { urn, direction: "OUTGOING", types: expected }];
    expect(asked()).toEqual([call, call, call]);
  });

  test("responds in both forms at once", async () => {
    const reply = await get(`${query}&types=OwnedBy&start=2&count=7`);
    expect(asked()).toEqual([
      ["listRelationships", { urn, direction: "OUTGOING", types: ["OwnedBy"], start: 2, count: 7 }],
    ]);
    expect(reply.json()).toEqual({
      start: 0,
      count: 1,
      total: 1,
      relationships: [{ type: "OwnedBy", entity: "urn:li:corpuser:ada" }],
      entities: ["urn:li:corpuser:ada"],
    });
  });

  test.each([
    ["direction=OUTGOING&types=A", "Parameter 'urn' is required"],
    ["urn=&direction=OUTGOING&types=A", "Parameter 'urn' is required"],
    [`urn=${key}&direction=OUTGOING`, "Parameter 'types' is required"],
    [`urn=${key}&direction=OUTGOING&types=`, "Parameter 'types' is required"],
    [
      `urn=${key}&types=A`,
      "Parameter 'direction' is required. Send one of INCOMING, OUTGOING, UNDIRECTED",
    ],
    [
      `urn=${key}&direction=OUTGOING&types=A&count=many`,
      "Argument parameter 'count' value 'many' must be of type 'java.lang.Long'",
    ],
    [`urn=${key}&urn=other&direction=OUTGOING&types=A`, expect.stringContaining('"urn" is given')],
  ])("rejects %s", async (parameters, message) => {
    const reply = await get(parameters);
    expect(reply.json()).toEqual(rejection(400, "malformed", message));
    expect(catalog.calls).toEqual([]);
  });

  test("rejects other methods and keys with the supported requests", async () => {
    for (const [method, url] of [
      ["GET", `/relationships/${key}`],
      ["PUT", `/relationships?urn=${key}`],
      ["POST", `/relationships?urn=${key}`],
      ["DELETE", `/relationships/${key}`],
      ["DELETE", `/aspects?urn=${key}`],
      ["GET", "/relationships?ids=List(a)"],
    ] as const) {
      const reply = await app.inject({ method, url });
      expect(reply.statusCode).toBe(400);
      expect(reply.json().message).toContain("Use ");
    }
    const [wrong] = [await get(`${query}&types=A`, { "X-RestLi-Method": "batch_get" })];
    expect(wrong?.json().message).toContain("GET /relationships, or DELETE /relationships");
    expect((await get(`${query}&types=A`, { "X-RestLi-Method": "get" })).statusCode).toBe(200);
  });

  test("answers HEAD without a body", async () => {
    const reply = await app.inject({ method: "HEAD", url: `/relationships?${query}&types=A` });
    expect([reply.statusCode, reply.payload]).toEqual([200, ""]);
  });
});

describe("DELETE /relationships", () => {
  const url = `/gms/relationships?urn=${key}`;

  test("deletes the edges for the caller, and returns the position of the record", async () => {
    const headers = { "X-DataHub-Actor": "urn:li:corpuser:otto", "Idempotency-Key": "k" };
    const reply = await app.inject({ method: "DELETE", url, headers });
    expect([reply.statusCode, reply.payload]).toEqual([200, ""]);
    expect(reply.headers["x-annals-position"]).toBe("10");
    expect(asked()).toEqual([
      ["forgetRelationships", urn, { actor: "urn:li:corpuser:otto", idempotencyKey: "k" }],
    ]);
  });

  test("is rejected for pages of other sites", async () => {
    const headers = { "Sec-Fetch-Site": "cross-site" };
    const reply = await app.inject({ method: "DELETE", url, headers });
    expect(reply.statusCode).toBe(403);
    expect(catalog.calls).toEqual([]);
  });
});

describe("getLineage", () => {
  const act = (payload: object) =>
    app.inject({ method: "POST", url: "/relationships?action=getLineage", payload });

  test("passes the request on and wraps the response", async () => {
    const body = { urn, direction: "UPSTREAM", start: 0, count: 10, maxHops: 3 };
    const reply = await act(body);
    expect(asked()).toEqual([["getLineage", body]]);
    expect(reply.json()).toEqual({
      value: { start: 0, count: 100, total: 0, partial: false, relationships: [] },
    });
  });

  test.each([
    [{ direction: "UPSTREAM" }, "Parameter 'urn' is required"],
    [{ urn }, "Parameter 'direction' is required"],
    [{ urn, direction: "SIDEWAYS" }, expect.stringContaining("UPSTREAM, DOWNSTREAM")],
    [{ urn, direction: "UPSTREAM", count: -1 }, expect.stringContaining("/count")],
    [{ urn, direction: "UPSTREAM", maxHops: 0 }, expect.stringContaining("/maxHops")],
    [{ urn, direction: "UPSTREAM", maxHops: "3" }, expect.stringContaining("maxHops")],
  ])("rejects %j", async (body, message) => {
    expect((await act(body)).json()).toEqual(rejection(400, "malformed", message));
    expect(catalog.calls).toEqual([]);
  });
});

describe("GET /openapi/relationships/v1", () => {
  test.each(["", "/"])("responds in the newer form at the path with %j", async (slash) => {
    const types = "relationshipTypes=OwnedBy&relationshipTypes=TaggedWith";
    const reply = await app.inject(
      `/openapi/relationships/v1${slash}?urn=${key}&direction=INCOMING&${types}&start=200`,
    );
    expect(asked()).toEqual([
      [
        "listRelationships",
        { urn, direction: "INCOMING", types: ["OwnedBy", "TaggedWith"], start: 200, count: 200 },
      ],
    ]);
    expect(reply.json()).toEqual({
      start: 0,
      count: 1,
      total: 1,
      entities: [{ relationshipType: "OwnedBy", urn: "urn:li:corpuser:ada" }],
    });
  });

  test("rejects an incomplete request", async () => {
    const reply = await app.inject(`/openapi/relationships/v1/?urn=${key}&relationshipTypes=A`);
    expect(reply.json()).toMatchObject({ status: 400, code: "malformed" });
  });
});
