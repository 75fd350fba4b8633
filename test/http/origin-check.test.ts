/** Requests of web pages: the origin that a browser adds, and the responses that pages may read (CORS). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkOrigin } from "../../src/http/hooks/origin-check.ts";
import { tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { asOperator, openTestServer, rejection } from "./test-server.ts";

const allowed = new Set(["https://catalog.example.org"]);
const host = "annals.test:8080";
const check = (headers: Record<string, string>, method = "GET") =>
  checkOrigin({ headers: { host, ...headers }, method }, allowed);

describe("a request is accepted", () => {
  test.each([
    ["without an origin", {}],
    ["of a link on another site", { "sec-fetch-site": "cross-site" }],
    ["of the service's own page", { origin: "http://annals.test:8080" }],
    [
      "of its own page on the default port",
      { host: "annals.test:80", origin: "http://annals.test" },
    ],
    [
      "of its own page behind a proxy that ends TLS",
      { host: "Annals.test", "x-forwarded-proto": "https", origin: "https://annals.test" },
    ],
    ["of an allowed origin", { origin: "https://catalog.example.org" }],
    ["of any origin with a bearer token", { origin: "null", authorization: "Bearer x" }],
  ])("%s", (_, headers) => {
    expect(() => check(headers)).not.toThrow();
    expect(() => check(headers, "OPTIONS")).not.toThrow();
  });
});

describe("a request is rejected", () => {
  test.each([
    ["of another site", { origin: "https://evil.example" }],
    ["of another port of the same machine", { origin: "http://annals.test:3000" }],
    ["of the same host with another scheme", { origin: "https://annals.test:8080" }],
    ["of the default port", { origin: "http://annals.test" }],
    ["of an opaque origin", { origin: "null" }],
    ["of an empty origin", { origin: "" }],
    ["of two origins", { origin: "http://annals.test:8080, https://evil.example" }],
    ["of an allowed host on another port", { origin: "https://catalog.example.org:8443" }],
    ["of an allowed host with another scheme", { origin: "http://catalog.example.org" }],
    ["of a name that begins with its own", { origin: "http://annals.test:8080.evil.example" }],
    // Browsers send these without the page.
    ["with a basic login", { origin: "https://evil.example", authorization: "Basic YTpi" }],
    ["with an empty token", { origin: "https://evil.example", authorization: "Bearer " }],
    ["with a cookie", { origin: "https://evil.example", cookie: "session=x" }],
  ])("%s", (_, headers) => {
    const hint: unknown = expect.stringContaining("--cors-origin");
    expect(() => check(headers)).toThrowError(expect.objectContaining({ code: "forbidden", hint }));
    expect(() => check(headers, "POST")).toThrow(/may not use this service/);
  });

  test("a write of another site is rejected without an origin, too", () => {
    expect(() => check({ "sec-fetch-site": "cross-site" }, "POST")).toThrow("another site");
  });
});

describe("without --cors-origin", () => {
  const foreign = { host, origin: "http://annals.test:3000" };

  test.each([
    ["GET", "/config"],
    ["GET", "/changes?from=start"],
    ["GET", "/aspects/urn%3Ali%3Atag%3Aa?aspect=status&version=0"],
    ["POST", "/entities?action=search"],
    ["GET", "/nowhere"],
    ["DELETE", "/aspects/x"],
  ] as const)("%s %s of another origin gets 403", async (method, url) => {
    const { app, catalog } = openTestServer();
    const reply = await app.inject({ method, url, headers: foreign });
    expect(reply.json()).toEqual(
      rejection(403, "forbidden", expect.stringContaining(`"${foreign.origin}"`)),
    );
    expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    expect(catalog.calls).toEqual([]);
    await app.close();
  });

  test("a response names no origin, and OPTIONS returns the methods of the path", async () => {
    const { app } = openTestServer();
    const preflight = { ...foreign, "access-control-request-method": "POST" };
    const options = await app.inject({ method: "OPTIONS", url: "/config", headers: preflight });
    expect([options.statusCode, options.headers.allow]).toEqual([204, "GET, HEAD, OPTIONS"]);
    const withToken = { ...foreign, ...asOperator };
    const read = await app.inject({ method: "GET", url: "/config", headers: withToken });
    expect(read.statusCode).toBe(200);
    for (const { headers } of [options, read]) {
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(headers.vary).toBeUndefined();
    }
    await app.close();
  });
});

describe("with --cors-origin", () => {
  const origin = "http://localhost:3000";
  let service: RunningService;
  beforeAll(async () => {
    service = await runningService({ auth: "on", corsOrigin: `https://a.example,${origin}` });
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const call = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`${service.address}${path}`, { method, headers: { Origin: origin, ...headers } });

  test("a preflight of an allowed origin needs no token", async () => {
    const reply = await call("OPTIONS", "/aspects?action=ingestProposal", {
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type",
    });
    expect(reply.status).toBe(204);
    const header = (name: string) => reply.headers.get(name);
    expect(header("access-control-allow-origin")).toBe(origin);
    expect(header("access-control-allow-methods")).toContain("POST");
    expect(header("access-control-allow-headers")).toBe("authorization,content-type");
    expect(header("access-control-allow-credentials")).toBeNull();
    expect(header("vary")).toContain("Origin");
  });

  test("a preflight of another origin is answered like any OPTIONS", async () => {
    const reply = await call("OPTIONS", "/config", {
      Origin: "http://localhost:3001",
      "Access-Control-Request-Method": "GET",
    });
    expect(reply.status).toBe(401);
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a page of an allowed origin reads responses, errors, and their headers", async () => {
    const authorized = tokenOf(service.directory);
    for (const [path, headers, status] of [
      ["/changes?from=start", authorized, 200],
      ["/changes?from=start", {}, 401],
      ["/nowhere", authorized, 404],
    ] as const) {
      const reply = await call("GET", path, headers);
      expect(reply.status).toBe(status);
      expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
      expect(reply.headers.get("access-control-expose-headers")).toContain("X-Annals-Position");
      await reply.body?.cancel();
    }
  });

  test("a change feed is for allowed origins and pages with a token", async () => {
    const stream = { Accept: "text/event-stream", ...tokenOf(service.directory) };
    const own = await call("GET", "/changes", stream);
    expect(own.status).toBe(200);
    expect(own.headers.get("access-control-allow-origin")).toBe(origin);
    await own.body?.cancel();
    const foreign = { Accept: "text/event-stream", Origin: "http://localhost:3001" };
    expect((await call("GET", "/changes", foreign)).status).toBe(403);
  });
});
