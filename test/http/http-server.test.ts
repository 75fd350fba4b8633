import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { CatalogError, type ErrorCode } from "../../src/core/errors.ts";
import { statusOf } from "../../src/http/response/errors.ts";
import { openTestServer, rejection } from "./test-server.ts";

const api = openTestServer();
const { app, catalog, log } = api;
afterAll(() => app.close());
beforeEach(() => {
  catalog.calls.length = 0;
  catalog.fault = undefined;
  log.length = 0;
});

const proposal = {
  entityType: "tag",
  entityUrn: "urn:li:tag:a",
  changeType: "UPSERT",
  aspectName: "tagProperties",
  aspect: { value: '{"name":"a"}', contentType: "application/json" },
};
const post = (url: string, payload: string | object, headers: Record<string, string> = {}) =>
  app.inject({
    method: "POST",
    url,
    payload,
    headers: { "content-type": "application/json", ...headers },
  });
const ingest = (payload: string | object, headers?: Record<string, string>) =>
  post("/aspects?action=ingestProposal", payload, headers);
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

describe("a write over HTTP", () => {
  test("reaches the catalog unchanged, and its response has the position", async () => {
    const reply = await ingest(
      { proposal, async: "false" },
      { "x-restli-protocol-version": "2.0.0" },
    );
    expect(reply.statusCode).toBe(200);
    expect(reply.payload).toBe('{"value":"success"}');
    expect(reply.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-restli-protocol-version": "2.0.0",
      "x-annals-position": "7",
      "x-content-type-options": "nosniff",
    });
    expect(catalog.calls).toEqual([{ method: "ingest", args: [[proposal], {}] }]);
  });

  test("without changes returns the position of entity reads", async () => {
    const { app, catalog } = openTestServer();
    catalog.ingest = async () => ({ position: undefined, changed: [] });
    const reply = await app.inject({
      method: "POST",
      url: "/aspects?action=ingestProposalBatch",
      payload: { proposals: [] },
    });
    expect(reply.headers["x-annals-position"]).toBe("6");
    await app.close();
  });

  test.each(["/gms", "/api/gms"])("is also answered under %s", async (prefix) => {
    const reply = await post(`${prefix}/aspects/?action=ingestProposal`, { proposal });
    expect(reply.statusCode).toBe(200);
    expect(catalog.calls).toHaveLength(1);
  });

  test("passes on the actor and the idempotency key", async () => {
    await ingest({ proposal }, { "X-Service-Actor": "mira", "Idempotency-Key": "k-1" });
    expect(catalog.calls[0]?.args[1]).toEqual({
      actor: "urn:li:corpuser:mira",
      idempotencyKey: "k-1",
    });
  });

  test("with an actor is rejected before its body is read when the header is not trusted", async () => {
    const open = openTestServer({ actorHeaderTrusted: false });
    const reply = await open.app.inject({
      method: "POST",
      url: "/aspects?action=ingestProposal",
      payload: "{",
      headers: { "x-datahub-actor": "mira" },
    });
    expect(reply.json()).toEqual(rejection(403, "forbidden", expect.stringContaining("loopback")));
    expect(open.catalog.calls).toEqual([]);
    await open.app.close();
  });

  test("from a page of another site is rejected; from its own page or a program it is accepted", async () => {
    const reply = await ingest({ proposal }, { "sec-fetch-site": "cross-site" });
    expect(reply.json()).toEqual(
      rejection(403, "forbidden", expect.stringContaining("another site")),
    );
    expect(catalog.calls).toEqual([]);
    for (const site of ["same-origin", "same-site", "none"]) {
      expect((await ingest({ proposal }, { "sec-fetch-site": site })).statusCode).toBe(200);
    }
  });
});

describe("a request body", () => {
  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/vnd.api+json",
  ])("is read as JSON under %s", async (type) => {
    expect((await ingest(JSON.stringify({ proposal }), { "content-type": type })).statusCode).toBe(
      200,
    );
  });

  test.each(["text/html", "multipart/form-data; boundary=x", "nonsense", "application/xml"])(
    "is rejected under %s",
    async (type) => {
      const reply = await ingest("<a/>", { "content-type": type });
      expect(reply.json()).toEqual(
        rejection(
          400,
          "malformed",
          `content type "${type}" is not read. Send JSON with Content-Type: application/json`,
        ),
      );
    },
  );

  test("that is absent is the empty object", async () => {
    const bare = await app.inject({ method: "POST", url: "/aspects?action=ingestProposal" });
    expect(bare.json()).toEqual(rejection(400, "malformed", "Parameter 'proposal' is required"));
    const empty = await ingest("");
    expect(empty.json()).toEqual(rejection(400, "malformed", "Parameter 'proposal' is required"));
  });

  test("that is not JSON is rejected with the parse error", async () => {
    const reply = await ingest('{"proposal": ');
    expect(reply.json()).toEqual(
      rejection(400, "malformed", "Cannot parse request entity. Unexpected end of JSON input"),
    );
  });

  test("over the limit is rejected with both sizes", async () => {
    const reply = await ingest(`{"a":"${"x".repeat(5000)}"}`);
    expect(reply.json()).toEqual(
      rejection(
        413,
        "too_large",
        "request body has 5008 bytes; at most 4096 are allowed. Send it in several requests",
      ),
    );
  });

  test("at the limit is accepted", async () => {
    const frame = JSON.stringify({ proposal, pad: "" });
    const reply = await ingest(JSON.stringify({ proposal, pad: "x".repeat(4096 - frame.length) }));
    expect(reply.statusCode).toBe(200);
  });
});

describe("a body with invalid members", () => {
  const failed = (what: string, hint: string) =>
    `Parameters of method 'ingestProposal' failed validation with error 'ERROR :: ${what}'. ${hint}`;
  const text = "Send text, in quotes";
  const object = (found: string) => `Send an object there, {…}, instead of ${found}`;
  test.each([
    [
      { ...proposal, entityUrn: null },
      failed("/proposal/entityUrn :: null cannot be coerced to String", text),
    ],
    [
      { ...proposal, aspectName: 7 },
      failed("/proposal/aspectName :: 7 cannot be coerced to String", text),
    ],
    [
      { ...proposal, changeType: "EXPLODE" },
      failed(
        '/proposal/changeType :: "EXPLODE" is not an enum symbol',
        "Use one of UPSERT, CREATE, CREATE_ENTITY, UPDATE, RESTATE, PATCH, DELETE",
      ),
    ],
    [
      { ...proposal, entityType: undefined },
      failed(
        "/proposal/entityType :: field is required but not found and has no default value",
        "Add it",
      ),
    ],
    [
      { ...proposal, aspect: "x" },
      failed("/proposal/aspect :: record type is not backed by a DataMap", object('"x"')),
    ],
    [
      { ...proposal, aspect: { value: {} } },
      failed("/proposal/aspect/value :: {} cannot be coerced to String", text),
    ],
    [
      { ...proposal, headers: { a: 1 } },
      failed("/proposal/headers/a :: 1 cannot be coerced to String", text),
    ],
    [
      { ...proposal, systemMetadata: { lastObserved: "1" } },
      failed(
        '/proposal/systemMetadata/lastObserved :: "1" cannot be coerced to Long',
        "Send a whole number, without quotes",
      ),
    ],
    [
      { ...proposal, systemMetadata: null },
      failed("/proposal/systemMetadata :: record type is not backed by a DataMap", object("null")),
    ],
    [[], failed("/proposal :: record type is not backed by a DataMap", object("[]"))],
  ])("is rejected with DataHub's message and a hint: %#", async (invalid, message) => {
    const reply = await ingest({ proposal: invalid });
    expect(reply.json()).toEqual(rejection(400, "malformed", message));
    expect(catalog.calls).toEqual([]);
  });

  test("has long values shortened in the message", async () => {
    const reply = await ingest({ proposal: { ...proposal, changeType: "x".repeat(1000) } });
    expect(reply.json().message.length).toBeLessThan(300);
  });

  test("may have unknown members", async () => {
    const extended = { ...proposal, auditHeader: { x: 1 }, unknown: [1] };
    expect((await ingest({ proposal: extended, other: 1 })).statusCode).toBe(200);
  });
});

describe("the Rest.li protocol version", () => {
  test.each([
    [{}, { "x-restli-protocol-version": "1.0.0" }, undefined],
    [{ "x-restli-protocol-version": "2.0.0" }, { "x-restli-protocol-version": "2.0.0" }, undefined],
    [
      { "x-framework-protocol-version": "2.0.0" },
      { "x-restli-protocol-version": "2.0.0", "x-framework-protocol-version": "2.0.0" },
      "2.0.0",
    ],
  ])("%j is returned", async (sent, headers, framework) => {
    for (const reply of [
      await get("/entitiesV2/urn%3Ali%3Atag%3Aa", sent),
      await get("/aspects/x", sent),
    ]) {
      expect(reply.headers).toMatchObject(headers);
      expect(reply.headers["x-framework-protocol-version"]).toBe(framework);
    }
  });

  test("9.0.0 is rejected before anything is done", async () => {
    const reply = await ingest({ proposal }, { "x-restli-protocol-version": "9.0.0" });
    expect(reply.json()).toEqual(
      rejection(
        400,
        "malformed",
        "Rest.li protocol version 9.0.0 used by the client is not supported!",
      ),
    );
    expect(reply.headers).toMatchObject({
      "x-restli-protocol-version": "9.0.0",
      "x-restli-error-response": "true",
    });
    expect(catalog.calls).toEqual([]);
  });

  test("is ignored outside the resources", async () => {
    const reply = await get("/config", {
      "x-restli-protocol-version": "9.0.0",
      "x-datahub-actor": "a b",
    });
    expect(reply.statusCode).toBe(200);
    expect(reply.headers["x-restli-protocol-version"]).toBeUndefined();
  });

  test("selects the header that marks errors", async () => {
    const old = await get("/aspects/x");
    expect(old.headers["x-linkedin-error-response"]).toBe("true");
    const current = await get("/aspects/x", { "x-restli-protocol-version": "2.0.0" });
    expect(current.headers["x-restli-error-response"]).toBe("true");
  });
});

describe("an unsupported request to a resource", () => {
  const offers =
    "Use GET /aspects/<urn>, or POST /aspects?action=ingestProposal|ingestProposalBatch|getTimeseriesAspectValues|getCount";
  test.each([
    [
      "POST",
      "/aspects?action=fly",
      "POST operation named fly not supported on resource 'com.linkedin.metadata.resources.entity.AspectResource' URI: '/aspects?action=fly'",
    ],
    [
      "POST",
      "/aspects",
      "POST operation not supported for URI: '/aspects' with X-RestLi-Method: ''",
    ],
    [
      "POST",
      "/aspects/urn%3Ali%3Atag%3Aa?action=getCount",
      "POST operation named getCount not supported on resource",
    ],
    [
      "GET",
      "/aspects?action=ingestProposal",
      "All action methods (specified via 'action' in URI) must be submitted as a POST (was GET)",
    ],
    ["PUT", "/aspects?action=getCount", "must be submitted as a POST (was PUT)"],
    ["GET", "/aspects", "GET operation not supported for URI: '/aspects' with X-RestLi-Method: ''"],
    [
      "DELETE",
      "/aspects/urn%3Ali%3Atag%3Aa",
      "DELETE operation not supported for URI: '/aspects/urn%3Ali%3Atag%3Aa'",
    ],
    ["PATCH", "/gms/aspects/x", "PATCH operation not supported for URI: '/gms/aspects/x'"],
  ] as const)("%s %s is rejected with the supported requests", async (method, url, message) => {
    const reply = await app.inject({ method, url });
    expect(reply.json()).toEqual(rejection(400, "malformed", expect.stringContaining(message)));
    expect(reply.json().message).toContain(offers);
    expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("is rejected before the body is read", async () => {
    expect((await post("/aspects?action=fly", "{")).json().message).toContain("named fly");
  });

  test("has a long target shortened in the message", async () => {
    const reply = await get(`/usageStats/${"x".repeat(3000)}`);
    expect(reply.json()).toMatchObject({ status: 400 });
    expect(reply.json().message.length).toBeLessThan(500);
  });

  test("X-RestLi-Method must not contradict the request, in any letter case", async () => {
    const batch = "/entitiesV2?ids=List(urn%3Ali%3Atag%3Aa)";
    expect((await get(batch, { "x-restli-method": "batch_get" })).statusCode).toBe(200);
    expect((await get(batch, { "X-RestLi-Method": "BATCH_GET" })).statusCode).toBe(200);
    expect((await get(batch, { "x-restli-method": "DELETE" })).json()).toEqual(
      rejection(400, "malformed", expect.stringContaining("with X-RestLi-Method: 'DELETE'")),
    );
    const count = "/aspects?action=getCount";
    const body = { aspect: "status" };
    expect((await post(count, body, { "x-restli-method": "action" })).statusCode).toBe(200);
    expect((await post(count, body, { "x-restli-method": "GET" })).json()).toEqual(
      rejection(400, "malformed", expect.stringContaining("with X-RestLi-Method: 'GET'")),
    );
  });
});

describe("other paths", () => {
  test.each(["/nowhere", "/-", "/aspectsX", "/entities2/a", "/restli", "/aspects%2Fx"])(
    "%s is answered with 404",
    async (url) => {
      const reply = await get(url);
      expect(reply.statusCode).toBe(404);
      expect(reply.json()).toEqual(
        rejection(404, "not_found", expect.stringContaining("GET /restli/docs lists all paths")),
      );
    },
  );

  test("a body sent to an unknown path is not read", async () => {
    expect((await post("/nowhere", "{")).statusCode).toBe(404);
    expect((await post("/nowhere", "<a/>", { "content-type": "text/html" })).statusCode).toBe(404);
  });

  test("a wrong method is answered with the allowed ones", async () => {
    const reply = await post("/config", {});
    expect(reply.statusCode).toBe(405);
    expect(reply.headers.allow).toBe("GET, HEAD");
    expect(reply.json()).toEqual(
      rejection(405, "malformed", 'POST is not allowed for "/config". Use GET or HEAD'),
    );
    const entity = await post("/openapi/v3/entity/tag/urn:li:tag:a", {});
    expect(entity.headers.allow).toBe("HEAD, GET, DELETE");
  });

  const urn = "urn%3Ali%3Atag%3Aa";
  test.each([
    ["/config", "GET, HEAD"],
    ["/gms/config?x=%ff", "GET, HEAD"],
    ["/openapi/v3/entity/tag/urn:li:tag:a", "HEAD, GET, DELETE"],
    ["/openapi/v3/entity/tag/urn:li:tag:a/b", "HEAD, GET, DELETE"],
    ["/aspects", "POST"],
    ["/aspects?action=fly", "POST"],
    [`/aspects/${urn}`, "GET, HEAD"],
    ["/entitiesV2", "GET, HEAD"],
    ["/relationships", "GET, HEAD, DELETE, POST"],
  ])("OPTIONS %s returns the methods of the path", async (url, methods) => {
    const reply = await app.inject({ method: "OPTIONS", url, payload: "{" });
    expect([reply.statusCode, reply.body]).toEqual([204, ""]);
    expect(reply.headers.allow).toBe(`${methods}, OPTIONS`);
    expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test.each(["/nowhere", "/-", "/runs/x", "/aspects%2Fx"])(
    "OPTIONS %s is answered with 404",
    async (url) => {
      const reply = await app.inject({ method: "OPTIONS", url });
      expect(reply.statusCode).toBe(404);
      expect(reply.json().code).toBe("not_found");
    },
  );

  test("a path that cannot be decoded is rejected", async () => {
    expect((await get("/%zz")).statusCode).toBe(400);
    expect((await get("/entitiesV2/%ff")).json()).toEqual(
      rejection(400, "malformed", expect.stringContaining("UTF-8")),
    );
    expect((await get("/entitiesV2/urn:li:tag:a?aspects=%ff")).statusCode).toBe(400);
  });
});

describe("an error response", () => {
  test.each(Object.entries(statusOf).filter(([code]) => code !== "internal"))(
    "%s of the catalog has status %i",
    async (code, status) => {
      catalog.fault = new CatalogError(code as ErrorCode, "something is wrong", {
        hint: "Do this",
      });
      const reply = await ingest({ proposal });
      expect(reply.statusCode).toBe(status);
      expect(reply.json()).toEqual(rejection(status, code, "something is wrong. Do this"));
      expect(reply.headers["x-annals-position"]).toBeUndefined();
      expect(log).toEqual([]);
    },
  );

  test("that is temporary has Retry-After", async () => {
    catalog.fault = new CatalogError("unavailable", "closed");
    expect((await ingest({ proposal })).headers["retry-after"]).toBe("1");
    catalog.fault = new CatalogError("invalid", "never");
    expect((await ingest({ proposal })).headers["retry-after"]).toBeUndefined();
  });

  test.each([
    new Error("secret /path at line 7"),
    new TypeError("x is not a function"),
    new CatalogError("internal", "secret"),
  ])("for an internal error hides the error, which is logged with its stack: %s", async (fault) => {
    catalog.fault = fault;
    const reply = await ingest({ proposal });
    const { message } = reply.json() as { message: string };
    expect(reply.json()).toEqual(
      rejection(500, "internal", expect.stringMatching(/^internal error\. /)),
    );
    expect(reply.payload).not.toMatch(/secret|function|stack|\.ts/);
    expect(log).toHaveLength(1);
    const [fields, line] = log[0] ?? [{}, ""];
    expect(line).toBe("request failed");
    expect(fields).toMatchObject({
      err: fault,
      method: "POST",
      url: "/aspects?action=ingestProposal",
    });
    expect(message).toContain(String(fields.requestId));
  });

  test("for a missing value names no exception", async () => {
    catalog.fault = new CatalogError("not_found", "no such aspect");
    const aspect = await get("/aspects/urn%3Ali%3Atag%3Aa?aspect=status");
    expect(aspect.json()).toMatchObject({
      status: 404,
      exceptionClass: "com.linkedin.metadata.restli.NonExceptionHttpErrorResponse",
    });
    const entity = await get("/entitiesV2/urn%3Ali%3Aship%3Aa");
    expect(entity.json()).toEqual(rejection(404, "not_found", "no such aspect"));
  });

  test("has class names under the configured prefix", async () => {
    const other = openTestServer({ recordPrefix: "org.acme" });
    const reply = await other.app.inject({ method: "POST", url: "/aspects?action=fly" });
    expect(reply.json()).toMatchObject({
      exceptionClass: "org.acme.restli.server.RestLiServiceException",
      message: expect.stringContaining("'org.acme.metadata.resources.entity.AspectResource'"),
    });
    await other.app.close();
  });
});
