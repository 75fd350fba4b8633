import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { CatalogError } from "../../src/core/errors.ts";
import { compileFilter } from "../../src/core/query/filter.ts";
import { conditions } from "../../src/http/docs/docs-filters.ts";
import { callOf } from "../../src/http/docs/docs-page.ts";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import { endpointId } from "../../src/http/schemas/endpoint.ts";
import { openTestServer, testConfig } from "./test-server.ts";

const { app } = openTestServer();
afterAll(() => app.close());
const table = createRouteTable({
  ...testConfig,
  openApi: () => ({ json: "{}" }),
  docs: () => ({ html: "" }),
});

const docsOf = readEndpointDocs();

const page = async (host = "catalog.example:8443") =>
  app.inject({ url: "/restli/docs", headers: { host } });

/** The text that a reader sees and copies. */
const shown = (html: string): string =>
  html
    .replace(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

describe("the documentation page", () => {
  test("shows every endpoint with a call to copy, its response and its errors", async () => {
    const text = shown((await page()).payload);
    for (const endpoint of table.endpoints) {
      expect(text).toContain(
        callOf(endpoint, docsOf(endpoint).example, "http://catalog.example:8443"),
      );
      const { summary, errors } = docsOf(endpoint);
      expect(text).toContain(summary);
      for (const { when } of errors) expect(text).toContain(when.replaceAll("`", ""));
      for (const { name } of endpoint.parameters ?? []) expect(text).toContain(name);
      const { response } = docsOf(endpoint).example;
      if (response !== undefined && endpoint.responseType === undefined) {
        expect(text).toContain(JSON.stringify(response, null, 2));
      }
    }
    expect(text).toContain("proposals[].entityUrn");
  });

  test.each(["/restli/docs", "/restli/docs/", "/gms/restli/docs", "/api/gms/restli/docs"])(
    "is served at %s",
    async (url) => {
      const reply = await app.inject(url);
      expect(reply.statusCode).toBe(200);
      expect(reply.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(reply.payload).toMatch(/^<!doctype html>/);
    },
  );

  test.each(["/restli/docs", "/gms/restli/docs", "/api/gms/restli/docs"])(
    "links from %s to the OpenAPI document",
    async (url) => {
      const { payload } = await app.inject(url);
      const href = /href="([^"#]*openapi\.json)"/.exec(payload)?.[1] ?? "none";
      const target = new URL(href, `http://h${url}`).pathname;
      expect((await app.inject(target)).json()).toMatchObject({ openapi: "3.1.0" });
    },
  );

  test("loads nothing from elsewhere and runs no script", async () => {
    const reply = await page();
    const style = /<style>(.*)<\/style>/s.exec(reply.payload)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(reply.headers["content-security-policy"]).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(reply.headers["x-content-type-options"]).toBe("nosniff");
    expect(reply.payload).not.toMatch(/<script|<link|<img|style=|@import|url\(| on\w+=/);
  });

  test("replaces an invalid host by the default one", async () => {
    for (const host of ['"><script>alert(1)</script>', "a b"]) {
      const { payload } = await page(host);
      expect(payload).toContain("http://localhost:8080/aspects?action=ingestProposal");
      expect(payload).not.toContain("<script");
    }
  });

  test("the page says that the APIs are subject to change, and marks deprecated endpoints", async () => {
    const page = (await app.inject("/restli/docs")).body;
    expect(page).toContain("The APIs are subject to change");
    expect(page.match(/<strong>Deprecated\.<\/strong>/g)).toHaveLength(4);
  });

  test("has one anchor for each entry of its index", async () => {
    const { payload } = await page();
    const targets = [...payload.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    const ids = [...payload.matchAll(/<(?:article|section) id="([^"]+)"/g)].map(([, id]) => id);
    expect(targets.length).toBe(table.endpoints.length + 4);
    expect(new Set(targets).size).toBe(targets.length);
    expect(ids.toSorted()).toEqual(targets.toSorted());
  });

  test("lists entity types with their urns and aspects", async () => {
    const text = shown((await page()).payload);
    expect(text).toContain("2 entity types with 5 aspects");
    expect(text).toContain("urn:li:dataset:(<platform>,<name>,<origin>)");
    expect(text).toContain("datasetKey ownershipTimeseries: datasetProfile");
    expect(text).toContain("urn:li:tag:<name>");
  });

  test("describes every condition of a filter, and the actor header", async () => {
    const text = shown((await page()).payload);
    let hint = "";
    try {
      compileFilter({ criteria: [{ field: "f", value: "v", condition: "NONE" }] });
    } catch (error) {
      hint = String((error as CatalogError).hint);
    }
    expect(Object.keys(conditions)).toEqual(hint.replace("Use one of ", "").split(", "));
    for (const [name, meaning] of Object.entries(conditions)) {
      expect(text).toContain(`${name}${meaning}`);
    }
    expect(text).toContain("X-Service-Actor");
  });

  test("shows the admin token in every call that needs it", () => {
    const needing = table.endpoints.filter(({ access }) => access === "operator");
    expect(new Set(needing.map(({ method }) => method))).toEqual(new Set(["GET", "POST"]));
    const showing = table.endpoints.filter((endpoint) =>
      callOf(endpoint, docsOf(endpoint).example).includes("Authorization"),
    );
    expect(showing.map(({ name }) => name)).toEqual(needing.map(({ name }) => name));
  });

  test("has calls that a shell parses as intended", () => {
    const [endpoint] = table.endpoints;
    if (endpoint === undefined) throw new Error("the table is empty");
    const body = { note: `it's "quoted" $HOME \`x\` \\` };
    const call = callOf(endpoint, { ...docsOf(endpoint).example, body }, "http://h");
    const printed = execFileSync("sh", ["-c", call.replace("curl", "printf '%s\\n'")], {
      encoding: "utf8",
    });
    expect(JSON.parse(printed.slice(printed.indexOf("{")))).toEqual(body);
  });
});

test("every endpoint has an example, and every example is of an endpoint", () => {
  const whole = createRouteTable({
    ...{ ...testConfig, openApi: () => ({ json: "{}" }), docs: () => ({ html: "" }) },
    graphql: { server: {} as never, explorer: {} },
    schemaRegistry: { registry: {} as never },
    events: { texts: {} as never },
    mcp: {} as never,
    signIn: {} as never,
  });
  const folder = new URL("../../src/http/docs/endpoints/", import.meta.url);
  const ids = readdirSync(folder).flatMap((file) =>
    Object.keys(JSON.parse(readFileSync(new URL(file, folder), "utf8"))),
  );
  expect(ids.sort()).toEqual(whole.endpoints.map(endpointId).sort());
});
