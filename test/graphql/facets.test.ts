/** Facets of searches over GraphQL, and filters beside those that the service adds. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
const retention = "urn:li:structuredProperty:retention.days";
let service: RunningService;
let position = 0;

beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  for (const [id, showInSearchFilters] of [
    ["retention.days", true],
    ["hidden", false],
  ] as const) {
    const urn = `urn:li:structuredProperty:${id}`;
    await service.client.upsert(urn, "propertyDefinition", {
      ...{ qualifiedName: id, displayName: id, valueType: "urn:li:dataType:datahub.number" },
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    });
    await service.client.upsert(urn, "structuredPropertySettings", { showInSearchFilters });
  }
  const { position: last } = await service.client.upsert(dataset, "structuredProperties", {
    properties: ["retention.days", "hidden"].map((id) => ({
      ...{ propertyUrn: `urn:li:structuredProperty:${id}`, values: [{ double: 30 }] },
    })),
  });
  position = last ?? 0;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function data(query: string, variables = {}) {
  const least = { "X-Annals-Min-Position": String(position) };
  const { body } = await ask(service.client, query, variables, least);
  expect(body.errors).toBeUndefined();
  return body.data;
}

const FACETS = "facets { field entity { urn } aggregations { value count } }";
const fieldsOf = ({ facets }: { facets: readonly { field: string }[] }) =>
  facets.map(({ field }) => field);

test("facets of structured properties are returned on request, if searches show them", async () => {
  const search = (flag: string) =>
    data(`{ searchAcrossEntities(input: {query: "*", types: [DATASET], searchFlags: {${flag}}}) {
      ${FACETS} } }`);
  const { searchAcrossEntities: found } = await search("includeStructuredPropertyFacets: true");
  expect(found.facets).toContainEqual({
    ...{ field: "structuredProperties.retention.days", entity: { urn: retention } },
    aggregations: [{ value: "30", count: 1 }],
  });
  expect(fieldsOf(found)).toContain("platform");
  expect(fieldsOf(found)).not.toContain("structuredProperties.hidden");
  const plain = await search("maxAggValues: 5");
  expect(fieldsOf(plain.searchAcrossEntities).join()).not.toContain("structuredProperties");
});

test("the facet of entity types also has its older name, except for a single type", async () => {
  const { all, one, asked } = await data(`{
    all: searchAcrossEntities(input: {query: "*", types: [DATASET]}) { ${FACETS} }
    one: search(input: {query: "*", type: DATASET}) { ${FACETS} }
    asked: aggregateAcrossEntities(input: {query: "*", types: [DATASET], facets: ["entity"]}) { ${FACETS} } }`);
  const older = { field: "entity", entity: null, aggregations: [{ value: "DATASET", count: 1 }] };
  expect(all.facets).toContainEqual(older);
  expect(fieldsOf(one)).toContain("_entityType");
  expect(fieldsOf(one)).not.toContain("entity");
  expect(asked.facets).toEqual([older]);
});

test("a filter with the most criteria may search documents", async () => {
  const orFilters = Array.from({ length: 1_000 }, (_, n) => ({
    and: [{ field: "urn", values: [n === 0 ? dataset : `urn:li:tag:t${n}`] }],
  }));
  const { searchAcrossEntities: found } = await data(
    `query($orFilters: [AndFilterInput!]) {
      searchAcrossEntities(input: {query: "*", orFilters: $orFilters}) { total } }`,
    { orFilters },
  );
  expect(found.total).toBe(1);
});
