/**
 * Attempts to bypass authentication: paths that resemble open ones, and repeated or similar
 * headers. Only the endpoint that answers decides whether a request needs a token.
 */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import { makeToken, ROOT } from "../graphql/graphql-client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
let service: GuardedService;
let token: string;
beforeAll(async () => {
  service = await guardedService();
  ({ token } = await makeToken(service.client, { actorUrn: MINA }, service.operator));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** Sends a request head unchanged and returns the status and body. */
function send(
  line: string,
  headers: readonly string[] = [],
): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(service.address);
  const request = [
    line,
    "Host: localhost",
    "Connection: close",
    "Content-Length: 0",
    ...headers,
    "",
    "",
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request.join("\r\n")));
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", body = ""] = text.split("\r\n\r\n");
      resolve({ status: Number(head.split(" ")[1]), body });
    });
  });
}

describe("a path that resembles an open one", () => {
  const targets = [
    "/config;/../entitiesV2/urn:li:tag:a",
    "/config;x=y",
    "/config/../entitiesV2/urn:li:tag:a",
    "/config/..;/entitiesV2/urn:li:tag:a",
    "/config%2f..%2fentitiesV2%2furn:li:tag:a",
    "/config%252f..%252fentitiesV2",
    "/health/%2e%2e/entitiesV2/urn:li:tag:a",
    "/health/../../entitiesV2/urn:li:tag:a",
    "/health/live/../../aspects/urn:li:tag:a?aspect=status",
    "/restli/docs/..%5c..%5centitiesV2",
    "/entitiesV2/urn:li:tag:a?/config",
    "/entitiesV2/urn:li:tag:a#/config",
    "/entitiesV2/..%2f..%2fconfig",
    "/entitiesV2/../config",
    "/entitiesV2;/config",
    "/%65ntitiesV2/get",
    "/%61spects/action/ingestProposal",
    "//entitiesV2/urn:li:tag:a",
    "/./entitiesV2/urn:li:tag:a",
    "/gms/entitiesV2/urn:li:tag:a",
    "/api/gms/entitiesV2/urn:li:tag:a",
    "/gms//entitiesV2/urn:li:tag:a",
    "/gms/gms/entitiesV2/urn:li:tag:a",
    "/gms;/entitiesV2/urn:li:tag:a",
    "/CONFIG/../entitiesV2/urn:li:tag:a",
    "/openapi.json/../entitiesV2/urn:li:tag:a",
    "/openapi.json%00/entitiesV2",
    "http://127.0.0.1/entitiesV2/urn:li:tag:a",
    "http://127.0.0.1@evil.example/entitiesV2/urn:li:tag:a",
    "/api/gms@evil.example/entitiesV2",
    ...["/openapi/v3/../../config/entitiesV2", "/openapi/v3/entity/tag/urn:li:tag:a;/config"],
    ...[
      "/openapi.json/../openapi/v3/entity/tag/urn:li:tag:a",
      "/gms/openapi/v3/entity/tag/urn:li:tag:a",
    ],
    ...["/api/gms/openapi/v3/entity/tag/urn:li:tag:a", "/openapi//v3/entity/tag/urn:li:tag:a"],
    ...["/OPENAPI/v3/entity/tag/urn:li:tag:a", "/openapi%2fv3/entity/tag/urn:li:tag:a"],
    ...["/api/graphql;x", "/api/graphql/..%2f..%2fentitiesV2", "/api/v2/graphql/../../config"],
    ...["/gms/api/graphql/x", "/api/gms/api/v2/graphql/x", "/api/gms/gms/config/../entitiesV2"],
    ...["/schema-registry/api/../../entitiesV2"],
    "*",
    "/-",
    "/nowhere",
  ];
  test.each(targets)("%s requires a token", async (target) => {
    for (const method of ["GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS"]) {
      const { status, body } = await send(`${method} ${target} HTTP/1.1`);
      expect([400, 401, 421], `${method} ${status} ${body}`).toContain(status);
      expect(body).not.toContain("urn:li:tag:a");
    }
  });

  test("no write is done through such a path", async () => {
    for (const target of [
      "/config/../aspects?action=ingestProposal",
      "/aspects?action=ingestProposal&/config",
      "/aspects/action/ingestProposal",
    ]) {
      expect((await send(`POST ${target} HTTP/1.1`)).status).toBe(401);
    }
  });
});

describe("an open endpoint", () => {
  const open = ["/config", "/health", "/health/live", "/restli/docs", "/openapi.json"];

  test.each(open)("%s ignores invalid tokens", async (path) => {
    for (const value of ["Bearer x", "Basic eDp5", `Bearer ${token}x`]) {
      const { status, body } = await send(`GET ${path} HTTP/1.1`, [`Authorization: ${value}`]);
      expect(status, body).toBe(200);
    }
  });

  test("control: other endpoints reject an invalid token", async () => {
    for (const target of ["GET /entitiesV2/urn:li:tag:a", "GET /status", "POST /api/graphql"]) {
      const { status } = await send(`${target} HTTP/1.1`, ["Authorization: Bearer x"]);
      expect(status).toBe(401);
    }
  });
});

describe("header smuggling", () => {
  const me = "POST /api/graphql HTTP/1.1";
  const bearer = (value: string) => `Authorization: Bearer ${value}`;

  test("a repeated Authorization header is rejected, in any letter case and order", async () => {
    const operator = service.operator.Authorization?.slice("Bearer ".length) ?? "";
    for (const headers of [
      [bearer(token), bearer(token)],
      [bearer(token), bearer(operator)],
      [bearer("x"), bearer(token)],
      [bearer(token), "authorization: Basic x"],
      [bearer(token), "AUTHORIZATION:"],
    ]) {
      const { status, body } = await send("GET /config HTTP/1.1", headers);
      expect(status, body).toBe(400);
      expect(JSON.parse(body).message).toContain("given twice");
    }
  });

  test("an actor header without a token is rejected", async () => {
    for (const name of ["X-Service-Actor", "X-DataHub-Actor", "x-datahub-ACTOR"]) {
      expect((await send(me, [`${name}: ${ROOT}`])).status).toBe(401);
    }
  });

  test("an actor header that names another user than the token is rejected", async () => {
    for (const headers of [
      [`X-Service-Actor: ${ROOT}`],
      ["X-DataHub-Actor: datahub"],
      [`X-Service-Actor: ${MINA}`, `X-DataHub-Actor: ${ROOT}`],
      [`X-Service-Actor: ${MINA}`, `x-service-actor: ${ROOT}`],
      ["X-DataHub-Actor: urn:li:corpuser:__datahub_system"],
    ]) {
      const { status, body } = await send("GET /entitiesV2/urn:li:tag:a HTTP/1.1", [
        bearer(token),
        ...headers,
      ]);
      expect([400, 403], body).toContain(status);
    }
    const own = await send("GET /entitiesV2/urn:li:tag:a HTTP/1.1", [
      bearer(token),
      "X-DataHub-Actor: mina",
    ]);
    expect(own.status).toBe(200);
  });

  test("header names with blanks or underscores are not the Authorization header", async () => {
    for (const name of [
      "Authorization ",
      "Authorization_",
      "X-Authorization",
      "HTTP_AUTHORIZATION",
      "Proxy-Authorization",
    ]) {
      const { status } = await send("GET /entitiesV2/urn:li:tag:a HTTP/1.1", [
        `${name}: Bearer ${token}`,
      ]);
      expect([400, 401]).toContain(status);
    }
  });
});

describe("every endpoint of the route table", () => {
  const table = createRouteTable({
    version: "0",
    modelFingerprint: "0",
    openApi: () => ({}),
    docs: () => ({}),
    urnNamespace: "li",
    graphql: {
      server: { execute: async () => ({ json: "", position: undefined, audited: [] }) },
      explorer: {},
    },
    schemaRegistry: { registry: {} as never },
    events: { texts: {} as never },
  });
  /** All open endpoints. A new open endpoint must be added here. */
  const open = [
    "GET /config",
    "GET /health",
    "GET /health/live",
    "GET /health/ready",
    "GET /openapi.json",
    "GET /restli/docs",
    "GET /api/graphql",
    ...[
      "GET ",
      "GET /schemas/types",
      "GET /schemas",
      "GET /schemas/ids/{id}",
      "GET /schemas/ids/{id}/schema",
      "GET /schemas/ids/{id}/subjects",
      "GET /schemas/ids/{id}/versions",
      "GET /subjects",
      "GET /subjects/{subject}/versions",
      "GET /subjects/{subject}/versions/{version}",
      "GET /subjects/{subject}/versions/{version}/schema",
      // Registering an existing schema needs no token; the registry authorizes new ones.
      "POST /subjects/{subject}/versions",
      "POST /subjects/{subject}",
      "POST /compatibility/subjects/{subject}/versions",
      "POST /compatibility/subjects/{subject}/versions/{version}",
      "GET /config",
      "GET /config/{subject}",
      "GET /mode",
      "GET /mode/{subject}",
      "GET /associations/resources/{namespace}/{name}",
    ].map((row) => row.replace(" ", " /schema-registry/api")),
  ];

  test("requires a token unless it is in this list", () => {
    const found = table.endpoints.filter((endpoint) => endpoint.open === true);
    expect(found.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...open].sort());
    expect(found.filter(({ access }) => access !== undefined)).toEqual([]);
  });

  test("under /operations requires a privilege, also without authentication", () => {
    const found = table.endpoints.filter(({ path }) => path.startsWith("/operations"));
    expect(found.length).toBeGreaterThan(3);
    expect(found.filter(({ access }) => access !== "operator")).toEqual([]);
    // A rollback is a write with a wide effect.
    const rollbacks = table.endpoints.filter(
      ({ path, name }) => `${path} ${name}` === "/runs rollback",
    );
    expect(rollbacks.map(({ access }) => access)).toEqual(["watcher"]);
  });

  /** Bodies that no endpoint accepts. */
  const malformed = [
    "{",
    '{"a":1,"a":2}',
    "[[",
    "",
    '"\\ud800"',
    '{"__proto__":{"x":1}}',
    "null",
    "7",
  ];
  const docsOf = readEndpointDocs();
  /** Endpoints whose response depends on the caller, for every body. */
  const authorizing = table.endpoints.filter(
    ({ method, open, closedToNew }) =>
      method !== "GET" && method !== "HEAD" && (open !== true || closedToNew === true),
  );

  test.each(
    authorizing.map((endpoint) => [
      `${endpoint.method} ${endpoint.path} ${endpoint.name}`,
      endpoint,
    ]),
  )("authenticates a request before its body is read: %s", async (_, endpoint) => {
    const { method } = endpoint;
    const types = ["application/json", "text/csv", "application/json-patch+json"];
    for (const type of types) {
      for (const body of malformed) {
        const { status } = await service.client.call(method, docsOf(endpoint).example.path, body, {
          "Content-Type": type,
        });
        expect({ status, type, body }).toEqual({ status: 401, type, body });
      }
    }
  });

  test("control: registerSchema is the only open endpoint that authorizes", () => {
    expect(authorizing.length).toBeGreaterThan(60);
    const open = authorizing.filter((endpoint) => endpoint.open === true);
    expect(open.map(({ name }) => name)).toEqual(["registerSchema"]);
  });

  for (const endpoint of table.endpoints) {
    const { method, path } = endpoint;
    if (endpoint.open === true) continue;
    const example = docsOf(endpoint).example;
    test(`${method} ${path} ${endpoint.name} requires a token, and its privilege if it has one`, async () => {
      for (const prefix of ["", "/gms", "/api/gms"]) {
        const without = await service.client.call(method, prefix + example.path, example.body);
        const registry = endpoint.errorForm === "registry";
        expect(without.status).toBe(401);
        if (method === "HEAD") continue;
        expect(without.body).toMatchObject(
          registry ? { error_code: 401 } : { code: "unauthenticated" },
        );
      }
      if (endpoint.access === undefined) return;
      const lacking = await service.client.call(method, example.path, example.body, {
        Authorization: `Bearer ${token}`,
      });
      expect({ status: lacking.status, code: lacking.body.code }).toEqual({
        status: 403,
        code: "forbidden",
      });
    });
  }
});
