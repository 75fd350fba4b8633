import { Validator } from "@seriousme/openapi-schema-validator";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBodyCompiler } from "../../src/http/request/body/body-schemas.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import { openTestServer, testConfig } from "./test-server.ts";

const { app } = openTestServer();
afterAll(() => app.close());
const table = createRouteTable({
  ...testConfig,
  openApi: () => ({ json: "{}" }),
  docs: () => ({ html: "" }),
});

// biome-ignore lint/suspicious/noExplicitAny: the test reads the document by path.
let document: any;
beforeAll(async () => {
  document = (await app.inject("/gms/openapi.json")).json();
});

describe("the OpenAPI document", () => {
  test("is valid by the schema of OpenAPI", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("has an operation for every endpoint, also for each action", () => {
    const ids = new Set<string>();
    for (const { kind, name, path, method } of table.endpoints) {
      const key = kind === "action" ? `${path}?action=${name}` : path;
      const operation = document.paths[key]?.[method.toLowerCase()];
      expect(operation, `${method} ${key}`).toBeDefined();
      expect(operation.summary).not.toBe("");
      ids.add(operation.operationId);
    }
    expect(ids.size).toBe(table.endpoints.length);
    expect([...ids]).toEqual(expect.arrayContaining(["entitiesSearch", "aspectsIngestProposal"]));
    expect(document.paths["/entities"].post).toBeUndefined();
  });

  test("requires a token for every operation except open ones", () => {
    const { security, components, paths } = document;
    expect(security).toEqual([{ token: [] }, {}]);
    expect(Object.keys(components.securitySchemes)).toEqual(["token", "operator", "systemClient"]);
    expect(paths["/config"].get.security).toEqual([]);
    expect(paths["/entities?action=search"].post.security).toBeUndefined();
    expect(paths["/operations?action=verify"].post.security).toEqual([{ operator: [] }]);
  });

  test("the document says that the APIs are subject to change, and marks deprecated endpoints", () => {
    expect(document.info.description).toContain("subject to change");
    const { paths } = document;
    for (const path of ["/entities/{urn}", "/entities"]) {
      expect(paths[path].get).toMatchObject({ deprecated: true });
      expect(paths[path].get.description).toContain("entitiesV2");
    }
    for (const name of ["ingest", "batchIngest"]) {
      expect(paths[`/entities?action=${name}`].post).toMatchObject({ deprecated: true });
    }
    expect(paths["/entities?action=search"].post.deprecated).toBeUndefined();
    expect(paths["/entitiesV2/{urn}"].get.deprecated).toBeUndefined();
  });

  test("has body schemas that compile", () => {
    const compile = createBodyCompiler();
    for (const { name, body } of table.endpoints) {
      if (body !== undefined) expect(() => compile(body), name).not.toThrow();
    }
  });

  test("lists the aspects of every entity type", () => {
    expect(document["x-entities"]).toEqual({
      dataset: {
        key: ["platform", "name", "origin"],
        aspects: ["datasetKey", "ownership", "datasetProfile"],
      },
      tag: { key: ["name"], aspects: ["tagKey", "tagProperties"] },
    });
  });

  test("has no broken references", () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, name = ""] of references)
      expect(document.components.schemas).toHaveProperty(name);
  });

  test("has examples that match their schemas, also for actions", async () => {
    // The framework validates bodies by JSON Schema, here without any coercion.
    const exactly = { coerceTypes: false, removeAdditional: false, useDefaults: false };
    const validator = fastify({ ajv: { customOptions: { ...exactly, strict: false } } });
    const examplesFound: {
      readonly where: string;
      readonly url: string;
      readonly value: unknown;
    }[] = [];
    let urlsUsed = 0;
    // biome-ignore lint/suspicious/noExplicitAny: the test reads the document by path.
    const note = (where: string, content: any): void => {
      if (content === undefined) return;
      const { schema, example, examples = {} } = content;
      const url = `/${urlsUsed++}`;
      const body = { ...schema, components: document.components };
      validator.post(url, { schema: { body } }, async () => "fits");
      if (example !== undefined) examplesFound.push({ where, url, value: example });
      for (const [name, { value }] of Object.entries<{ value: unknown }>(examples))
        examplesFound.push({ where: `${where} ${name}`, url, value });
    };
    for (const [path, methods] of Object.entries<object>(document.paths)) {
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      for (const [method, { requestBody, responses }] of Object.entries<any>(methods)) {
        note(`to ${method} ${path}`, requestBody?.content["application/json"]);
        note(`from ${method} ${path}`, responses["200"]?.content?.["application/json"]);
      }
    }
    const mismatches: string[] = [];
    for (const { where, url, value } of examplesFound) {
      const headers = { "content-type": "application/json" };
      const payload = JSON.stringify(value);
      const reply = await validator.inject({ method: "POST", url, headers, payload });
      if (reply.statusCode !== 200) mismatches.push(`${where}: ${reply.json().message}`);
    }
    await validator.close();
    expect(mismatches).toEqual([]);
    expect(examplesFound.length).toBeGreaterThan(60);
  });

  test("refers to records instead of repeating them", () => {
    expect(document.components.schemas.AspectsIngestProposal.properties.proposal).toEqual({
      $ref: "#/components/schemas/MetadataChangeProposal",
    });
    expect(document.components.schemas.MetadataChangeProposal.properties.systemMetadata).toEqual({
      $ref: "#/components/schemas/SystemMetadata",
    });
  });

  test("describes the statuses of errors with their causes", () => {
    const { responses } = document.paths["/aspects?action=ingestProposal"].post;
    const statuses = ["200", "400", "401", "403", "404", "409", "410", "413", "422", "429", "503"];
    expect(Object.keys(responses)).toEqual(statuses);
    expect(responses["422"].description).toContain("`invalid`: ");
    expect(responses["422"].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/Error",
    });
  });

  test("has a 202 response where async is a parameter", () => {
    const write = document.paths["/openapi/v3/entity/{entity}"];
    expect(write.post.responses["202"].content).toEqual(write.post.responses["200"].content);
    expect(write.get.responses).not.toHaveProperty("202");
  });
});
