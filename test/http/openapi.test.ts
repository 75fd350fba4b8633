import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRouteTable } from "../../src/http/route-table.ts";
import { openTestDoor, testConfig } from "./test-door.ts";

const { app } = openTestDoor();
afterAll(() => app.close());
const table = createRouteTable({ ...testConfig, openApi: () => "{}", docs: () => ({ html: "" }) });

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into by path here.
let document: any;
beforeAll(async () => {
  document = (await app.inject("/gms/openapi.json")).json();
});

describe("the OpenAPI document", () => {
  test("is one, by its own schema", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("has every endpoint of the table, and its actions under one POST", () => {
    for (const endpoint of table.endpoints) {
      const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
      expect(operation, `${endpoint.method} ${endpoint.path}`).toBeDefined();
      if (endpoint.kind === "action") {
        expect(operation.parameters[0].schema.enum).toContain(endpoint.name);
      } else {
        expect(operation.operationId).toBe(endpoint.name);
      }
    }
  });

  test("lists the aspects of every entity type", () => {
    expect(document["x-entities"]).toEqual({
      dataset: {
        key: ["platform", "name", "origin"],
        aspects: ["datasetKey", "ownership", "datasetProfile"],
      },
      tag: { key: ["name"], aspects: ["tagKey"] },
    });
  });

  test("resolves all its references", () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, name = ""] of references)
      expect(document.components.schemas).toHaveProperty(name);
  });

  test("describes its own examples, those of actions too", () => {
    const ajv = new Ajv2020({ strict: false, allowUnionTypes: true, validateFormats: false });
    const faults: unknown[] = [];
    let looked = 0;
    // biome-ignore lint/suspicious/noExplicitAny: a document is looked into by path here.
    const look = (where: string, { schema, example, examples = {} }: any): void => {
      const fits = ajv.compile({ ...schema, components: document.components });
      const told = example === undefined ? examples : { ...examples, [where]: { value: example } };
      for (const [name, { value }] of Object.entries<{ value: unknown }>(told)) {
        looked++;
        if (!fits(value)) faults.push([where, name, ajv.errorsText(fits.errors)]);
      }
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      for (const { requestBody, responses } of Object.values<any>(methods as object)) {
        const asked = requestBody?.content["application/json"];
        const told = responses["200"].content?.["application/json"];
        if (asked !== undefined) look(`to ${path}`, asked);
        if (told !== undefined) look(`from ${path}`, told);
      }
    }
    expect(faults).toEqual([]);
    expect(looked).toBeGreaterThan(60);
  });

  test("names records instead of repeating them", () => {
    expect(document.components.schemas.AspectsIngestProposal.properties.proposal).toEqual({
      $ref: "#/components/schemas/MetadataChangeProposal",
    });
    expect(document.components.schemas.MetadataChangeProposal.properties.systemMetadata).toEqual({
      $ref: "#/components/schemas/SystemMetadata",
    });
  });

  test("tells the statuses of errors with their reasons", () => {
    const { responses } = document.paths["/aspects"].post;
    expect(Object.keys(responses)).toEqual(["200", "400", "403", "409", "413", "422", "503"]);
    expect(responses["422"].description).toContain("`invalid`: ");
    expect(responses["422"].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/Error",
    });
  });
});
