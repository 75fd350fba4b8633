/** /schema-registry/api over HTTP, on an empty log. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { openApiDocument } from "../../src/http/docs/openapi.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import { guardedService, writeAsOperator } from "../auth/guarded-service.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import type { Client } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { testConfig } from "./test-server.ts";

const BASE = "/schema-registry/api";
const TOPIC = "MetadataChangeProposal_v1-value";
const PING = '{"type":"record","name":"Ping","fields":[{"name":"at","type":"long"}]}';
const media = {
  "Content-Type": "application/vnd.schemaregistry.v1+json",
  Accept: "application/vnd.schemaregistry.v1+json, application/json",
};

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const ask = (method: string, path: string, body?: unknown, client: Client = service.client) =>
  client.call(method, `${BASE}${path}`, body, media);

const table = createRouteTable({
  ...{ ...testConfig, openApi: () => ({ json: "{}" }), docs: () => ({ html: "" }) },
  // The table is only read here.
  schemaRegistry: { registry: {} as never },
});
const rows = table.endpoints.filter(({ group }) => group === "schema registry");

describe("the endpoints of the schema registry", () => {
  test("have examples that are answered", async () => {
    expect(rows.length).toBeGreaterThan(15);
    // Each example builds on the registrations before it.
    const statuses: string[] = [];
    const docsOf = readEndpointDocs();
    for (const row of rows) {
      const { method } = row;
      const example = docsOf(row).example;
      const path = example.path.slice(BASE.length);
      const { status } = await ask(method, path, example.body);
      if (status !== 200) statuses.push(`${method} ${path}: ${status}`);
    }
    expect(statuses).toEqual([]);
  });

  test("have a valid OpenAPI document", async () => {
    const document = openApiDocument(table, testConfig);
    const { errors = [] } = await new Validator().validate(structuredClone(document));
    expect(errors).toEqual([]);
  });
});

describe("a client of the schema registry", () => {
  test("registers a schema, and finds it by its id and its subject", async () => {
    const subject = encodeURIComponent(`${"ä/".repeat(60)}value`);
    const path = `/subjects/${subject}/versions`;
    const { status, body, headers } = await ask("POST", path, { schema: PING, references: [] });
    expect({ status, body }).toEqual({
      status: 200,
      body: { id: expect.any(Number), version: 1 },
    });
    expect(headers.get("content-type")).toBe(
      "application/vnd.schemaregistry.v1+json; charset=utf-8",
    );
    expect((await ask("GET", `/schemas/ids/${body.id}`)).body).toEqual({
      ...{ schema: PING, schemaType: "AVRO" },
    });
    expect((await ask("GET", `/schemas/ids/${body.id}/schema`)).body).toEqual(JSON.parse(PING));
    const version = {
      ...{ subject: decodeURIComponent(subject), version: 1, id: body.id },
      ...{ schema: PING, schemaType: "AVRO" },
    };
    for (const at of ["1", "latest", "-1"]) {
      expect((await ask("GET", `${path}/${at}`)).body).toEqual(version);
    }
    expect((await ask("POST", `/subjects/${subject}`, { schema: PING })).body).toEqual(version);
    expect((await ask("GET", "/subjects?subjectPrefix=ä/")).body).toEqual([version.subject]);
    expect((await ask("GET", "/schemas?subjectPrefix=ä/")).body).toEqual([version]);
    const latest = (await ask("GET", "/schemas?latestOnly=true")).body;
    const subjects = (await ask("GET", "/subjects")).body;
    expect(latest.map((one: { subject: string }) => one.subject)).toEqual(subjects);
  });

  test("reads under any prefix, and the empty associations of a topic", async () => {
    const { body } = await service.client.get(`/api/gms${BASE}/schemas/types`);
    expect(body).toEqual(["AVRO"]);
    const path = "/associations/resources/-/MetadataChangeProposal_v1?associationType=value";
    expect((await ask("GET", path)).body).toEqual([]);
    expect((await service.client.get(`${BASE}/`)).body).toEqual({});
  });

  test("has the errors of the registry in the OpenAPI document", async () => {
    const { paths, components } = (await service.client.get("/openapi.json")).body;
    const { responses } = paths[`${BASE}/subjects/{subject}/versions`].post;
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["400", "409", "422"]));
    expect(responses["422"].content).toEqual({
      "application/vnd.schemaregistry.v1+json": {
        schema: { $ref: "#/components/schemas/RegistryError" },
      },
    });
    expect(components.schemas.RegistryError.required).toEqual(["error_code", "message"]);
  });

  test.each([
    ["GET", "/subjects/none/versions", undefined, 404, 40401],
    ["GET", `/subjects/${TOPIC}/versions/9`, undefined, 404, 40402],
    ["GET", `/subjects/${TOPIC}/versions/x`, undefined, 422, 42202],
    ["GET", "/schemas/ids/999999", undefined, 404, 40403],
    ["GET", "/schemas/ids/x", undefined, 404, 40403],
    ["POST", `/subjects/${TOPIC}`, { schema: PING }, 404, 40403],
    ["POST", "/subjects/s/versions", { schema: "{" }, 422, 42201],
    ["POST", `/subjects/${TOPIC}/versions`, { schema: '"string"' }, 409, 409],
    ["POST", "/subjects/s/versions", {}, 400, 400],
    ["POST", "/subjects/s/versions", "{", 400, 400],
    ["POST", "/subjects/s/versions", { schema: PING, schemaType: "JSON" }, 400, 400],
    ["PUT", "/config", { compatibility: "SOME" }, 422, 42203],
    ["GET", "/nothing", undefined, 404, 404],
    ["GET", "/subjects//versions", undefined, 404, 40401],
    ["DELETE", "/subjects/s", undefined, 405, 405],
    ["DELETE", `/subjects/${TOPIC}/versions/1`, undefined, 405, 405],
  ])(
    "%s %s %j is rejected in the form of the registry",
    async (method, path, sent, status, code) => {
      const reply = await ask(method, path, sent);
      expect({ status: reply.status, body: reply.body }).toEqual({
        status,
        body: { error_code: code, message: expect.any(String) },
      });
      expect(reply.headers.get("content-type")).toContain("application/vnd.schemaregistry.v1+json");
      if (status === 405) expect(reply.body.message).toContain("versions cannot be deleted");
    },
  );
});

test("with authentication, schemas are read and looked up without a token, and registered with one", async () => {
  await using guarded = await guardedService();
  const { client } = guarded;
  const post = (headers: Record<string, string> = {}) =>
    client.call("POST", `${BASE}/subjects/s/versions`, { schema: PING }, headers);
  expect((await ask("GET", "/schemas/ids/16", undefined, client)).status).toBe(200);
  const { body: own } = await ask("GET", `/subjects/${TOPIC}/versions/1`, undefined, client);
  const known = { schema: own.schema };
  expect((await ask("POST", `/subjects/${TOPIC}/versions`, known, client)).body.id).toBe(16);
  const rejected = await post();
  expect(rejected).toMatchObject({ status: 401, body: { error_code: 401 } });
  expect(rejected.headers.get("www-authenticate")).toContain("Bearer");
  expect((await post({ Authorization: "Bearer x" })).status).toBe(401);
  // The rejection without a token does not reveal other errors of the schema.
  const other = { schema: '{"type":"record","name":"Other","fields":[]}' };
  for (const body of ["{", {}, { schema: "no schema" }, { schema: 7 }, other]) {
    const faulty = await client.call("POST", `${BASE}/subjects/${TOPIC}/versions`, body);
    expect(faulty, JSON.stringify(body)).toMatchObject({ status: 401, body: { error_code: 401 } });
  }
  const large = { schema: "x".repeat(2 ** 20) };
  expect((await client.call("POST", `${BASE}/subjects/s/versions`, large)).status).toBe(401);
  const shown = await client.call("POST", `${BASE}/subjects/s/versions`, "{", guarded.operator);
  expect(shown.status).toBe(400);
  expect((await post(guarded.operator)).status).toBe(200);
  expect((await post()).status).toBe(200);
  const level = { compatibility: "NONE" };
  expect(await ask("PUT", "/config", level, client)).toMatchObject({
    ...{ status: 401, body: { error_code: 401 } },
  });
});

test("a user needs the privilege Manage Schema Registry to register schemas and to set levels", async () => {
  await using guarded = await guardedService();
  const { client, operator } = guarded;
  const mina = "urn:li:corpuser:mina";
  const token = asBearer((await makeToken(client, { actorUrn: mina }, operator)).token);
  const attempts = async () => [
    await client.call("POST", `${BASE}/subjects/s/versions`, { schema: PING }, token),
    await client.call("PUT", `${BASE}/config`, { compatibility: "NONE" }, token),
    await client.call("PUT", `${BASE}/config/s`, { compatibility: "NONE" }, token),
  ];
  for (const { status, body } of await attempts()) {
    expect({ status, body }).toEqual({
      status: 403,
      body: { error_code: 403, message: expect.stringContaining("Manage Schema Registry") },
    });
  }
  expect((await ask("GET", "/config", undefined, client)).body).toEqual({
    compatibilityLevel: "BACKWARD",
  });
  await writeAsOperator(guarded, "urn:li:dataHubPolicy:registry", "dataHubPolicyInfo", {
    ...{ displayName: "", description: "", type: "PLATFORM", state: "ACTIVE" },
    ...{ privileges: ["MANAGE_SCHEMA_REGISTRY"], actors: { users: [mina] } },
  });
  expect((await attempts()).map(({ status }) => status)).toEqual([200, 200, 200]);
  // Even then, a topic of the service accepts no foreign schema.
  const path = `${BASE}/subjects/${TOPIC}/versions`;
  const foreign = await client.call("POST", path, { schema: PING }, token);
  expect(foreign).toMatchObject({ status: 409, body: { error_code: 409 } });
  const own = await client.call("PUT", `${BASE}/config/${TOPIC}`, { compatibility: "NONE" }, token);
  expect(own).toMatchObject({ status: 422, body: { error_code: 42203 } });
});
