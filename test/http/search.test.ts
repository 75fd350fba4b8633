/** Searches over HTTP: their calls of the catalog, responses in two forms, and positions. */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { SearchRequest } from "../../src/catalog/search/requests.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { searchRoutes } from "../../src/http/routes/restli/search.ts";
import { searchLineageRoutes } from "../../src/http/routes/restli/search-lineage.ts";
import { openTestServer, rejection } from "./test-server.ts";

const { app, catalog } = openTestServer();
afterAll(() => app.close());
beforeEach(() => {
  catalog.calls.length = 0;
  catalog.fault = undefined;
});

const URN = "urn:li:tag:tides";
const asked = (): unknown => catalog.calls.map(({ method, args }) => [method, ...args]);
const act = (action: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: "POST", url: `/entities?action=${action}`, payload, headers });
const datahub = { "X-RestLi-Protocol-Version": "2.0.0" };

const entity = {
  entity: URN,
  matchedFields: [{ name: "name", value: "tides" }],
  score: 12.5,
  features: { SEARCH_BACKEND_SCORE: 12.5 },
};
const facet = {
  name: "_entityType",
  displayName: "Type",
  aggregations: { "urn:li:tag:x": 1 },
  filterValues: [{ value: "urn:li:tag:x", entity: "urn:li:tag:x", facetCount: 1, filtered: false }],
};
const facetMetadata = { name: "_entityType", aggregations: { "urn:li:tag:x": 1 } };
const metadata = {
  aggregations: [facet],
  suggestions: [],
  urns: [URN],
  matches: [{ matchedFields: entity.matchedFields }],
  searchResultMetadatas: [facetMetadata],
};
const both = {
  ...metadata,
  aggregations: [facet, { ...facet, name: "entity" }],
  searchResultMetadatas: [facetMetadata, { ...facetMetadata, name: "entity" }],
};

describe("a search over HTTP", () => {
  const body = { entity: "dataset", input: "tides", start: 0, count: 10 };

  test("is one call of the catalog with every parameter", async () => {
    const filter = { or: [{ and: [{ field: "name", value: "x" }] }] };
    const sort = { field: "name", order: "DESCENDING" };
    const first = { field: "urn", order: "ASCENDING" };
    const flags = { skipHighlighting: true, explain: true };
    await act("search", { ...body, filter, sort, sortCriteria: [first], searchFlags: flags });
    await act("searchAcrossEntities", { ...body, entity: undefined, entities: ["tag"] });
    await act("scrollAcrossEntities", { input: "*", count: 3, scrollId: "s", keepAlive: "5m" });
    await act("filter", { ...body, input: undefined, filter });
    expect(asked()).toEqual([
      [
        "search",
        { entities: ["dataset"], input: "tides", filter, sort: [first, sort], flags },
        { start: 0, count: 10 },
      ],
      ["search", { entities: ["tag"], input: "tides", sort: [] }, { start: 0, count: 10 }],
      ["scroll", { input: "*", sort: [] }, { scrollId: "s", count: 3 }],
      ["filter", { entities: ["dataset"], filter, sort: [] }, { start: 0, count: 10 }],
    ]);
  });

  test("ignores parameters of other actions", async () => {
    await act("searchAcrossEntities", { ...body, entities: ["tag"] });
    await act("scrollAcrossEntities", { ...body, entities: ["tag"] });
    await act("filter", { ...body, filter: {} });
    await act("list", body);
    const lineage = { ...body, entities: ["tag"], urn: URN, direction: "UPSTREAM" };
    await act("searchAcrossLineage", lineage);
    const requests = catalog.calls.map(({ method, args: [request] }) => {
      const { entities, input } = request as SearchRequest;
      return [method, entities, input];
    });
    expect(requests).toEqual([
      ["search", ["tag"], "tides"],
      ["scroll", ["tag"], "tides"],
      ["filter", ["dataset"], undefined],
      ["filter", ["dataset"], undefined],
      ["searchLineage", ["tag"], "tides"],
    ]);
  });

  test("has two forms that differ only in the entities", async () => {
    const page = { from: 0, pageSize: 10, numEntities: 1 };
    for (const action of ["search", "filter"]) {
      const request = { ...body, filter: {} };
      const plain = await act(action, request);
      expect(plain.json()).toEqual({ value: { ...page, metadata, entities: [URN] } });
      const known = await act(action, request, datahub);
      expect(known.json()).toEqual({ value: { ...page, metadata, entities: [entity] } });
    }
    const across = await act("searchAcrossEntities", body, datahub);
    expect(across.json()).toEqual({ value: { ...page, metadata: both, entities: [entity] } });
    const scroll = await act("scrollAcrossEntities", { input: "*", count: 1 }, datahub);
    expect(scroll.json()).toEqual({
      value: { pageSize: 10, numEntities: 1, scrollId: "next", metadata: both, entities: [entity] },
    });
  });

  test("of lineage has paths and degrees", async () => {
    const request = { urn: URN, direction: "UPSTREAM", input: "x", maxHops: 2 };
    const hit = {
      ...entity,
      ...{ degree: 1, degrees: [1], paths: [["urn:li:tag:a", URN]] },
      ...{ explored: true, truncatedChildren: false, ignoredAsHop: false },
    };
    const answer = { pageSize: 10, numEntities: 1, lineageSearchPath: "TORTOISE" };
    const page = await act("searchAcrossLineage", { ...request, start: 0, count: 10 });
    expect(page.json()).toEqual({
      value: { from: 0, ...answer, isPartial: false, metadata: both, entities: [hit] },
    });
    const scroll = await act("scrollAcrossLineage", { ...request, count: 10 }, datahub);
    expect(scroll.json()).toEqual({
      value: { ...answer, isPartial: true, scrollId: "next", metadata: both, entities: [hit] },
    });
    expect(asked()).toEqual([
      ["searchLineage", { ...request, sort: [] }, { start: 0, count: 10 }],
      ["scrollLineage", { ...request, sort: [] }, { count: 10 }],
    ]);
  });

  const documented = [...searchRoutes, ...searchLineageRoutes];
  test.each(documented)("of $name has the members of its documentation", async (route) => {
    const { body = {}, response } = readEndpointDocs()(route).example;
    const answer = (await act(route.name, body as object)).json().value;
    const shown = (response as { value: typeof answer }).value;
    const names = (of: object): string[] => Object.keys(of).sort();
    expect(names(answer)).toEqual(names(shown));
    expect(names(answer.metadata ?? {})).toEqual(names(shown.metadata ?? {}));
  });

  test("may be a list of urns, an autocompletion, or a browse", async () => {
    const list = await act("list", body);
    expect(list.json()).toEqual({ value: { entities: [URN], start: 0, count: 10, total: 1 } });
    const typed = { entity: "tag", query: "ti", field: "name", start: 1, limit: 5 };
    const suggestions = await act("autocomplete", typed);
    expect(suggestions.json()).toEqual({
      value: { query: "ti", suggestions: ["tides"], entities: [{ urn: URN }] },
    });
    const folder = { entity: "tag", path: "/prod", start: 0, limit: 10 };
    const browse = await act("browse", folder);
    const groups = [{ name: "hive", count: 2 }];
    expect(browse.json()).toEqual({
      value: {
        ...{ from: 0, pageSize: 10, numEntities: 1, numGroups: 1, numElements: 2, groups },
        metadata: { path: "/prod", totalNumEntities: 2, groups },
        entities: [{ name: URN, urn: URN }],
      },
    });
    const newer = await act("browseV2", {
      entities: ["tag"],
      path: ["a", "b"],
      start: 0,
      count: 10,
    });
    expect(newer.json()).toEqual({
      value: {
        ...{ start: 0, count: 10, total: 1 },
        groups: [{ name: "b", count: 2, hasSubGroups: true }],
        metadata: { path: "␟a", totalNumEntities: 2 },
      },
    });
    await act("browseV2", { entity: "tag", path: "␟a", start: 0, count: 10 });
    expect((await act("getBrowsePaths", { urn: URN })).json()).toEqual({ value: ["/prod/hive"] });
    expect(asked()).toEqual([
      [
        "filter",
        { entities: ["dataset"], sort: [], flags: { skipAggregates: true } },
        { start: 0, count: 10 },
      ],
      ["autocomplete", typed],
      ["browse", folder],
      ["browseV2", { entities: ["tag"], sort: [], path: "␟a␟b", start: 0, count: 10 }],
      ["browseV2", { entities: ["tag"], sort: [], path: "␟a", start: 0, count: 10 }],
      ["getBrowsePaths", URN],
    ]);
  });
});

describe("the positions of reads", () => {
  const exists = (headers: Record<string, string>) => act("exists", { urn: URN }, headers);
  const search = (headers: Record<string, string> = {}) =>
    act("search", { entity: "tag", input: "x", start: 0, count: 1 }, headers);
  const least = { "X-Annals-Min-Position": "42" };

  test("are returned by every read", async () => {
    expect((await search()).headers["x-annals-position"]).toBe("12");
    expect((await exists({})).headers["x-annals-position"]).toBe("6");
    const health = await app.inject({ method: "GET", url: "/health" });
    expect(health.headers).not.toHaveProperty("x-annals-position");
  });

  test("are awaited before the read when a request names one", async () => {
    await search(least);
    await exists(least);
    await app.inject({
      method: "GET",
      url: `/relationships?urn=${URN}&direction=INCOMING&types=A`,
      headers: least,
    });
    expect(catalog.calls.map(({ method, args }) => (method === "reach" ? args : method))).toEqual([
      ["search", 42],
      "search",
      ["entities", 42],
      "exists",
      ["relationships", 42],
      "listRelationships",
    ]);
  });

  test("that are invalid are rejected", async () => {
    for (const value of ["", "-1", "x", "1, 2", "1.0", "9".repeat(16)]) {
      const reply = await search({ "X-Annals-Min-Position": value });
      const message = expect.stringContaining("header X-Annals-Min-Position is");
      expect(reply.json()).toEqual(rejection(400, "malformed", message));
    }
    expect(catalog.calls).toEqual([]);
  });

  test("that are not reached in time are answered with 503", async () => {
    catalog.fault = new CatalogError("unavailable", 'the view "search" is at position 7');
    const reply = await search(least);
    expect(reply.json()).toEqual(
      rejection(503, "unavailable", 'the view "search" is at position 7'),
    );
    expect(reply.headers["retry-after"]).toBe("1");
    expect(catalog.calls.map(({ method }) => method)).toEqual(["reach"]);
  });
});
