/** Flags of lineage searches: entities that do not count as hops, and the limit of each entity. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

const dataset = (name: string, platform = "hive") =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`;
const start = dataset("start");
const model = dataset("model", "dbt");
const table = dataset("table");
const far = dataset("far");
const many = [1, 2, 3].map((n) => dataset(`many${n}`));
const column = (urn: string) => `urn:li:schemaField:(${urn},id)`;

let service: RunningService;

beforeAll(async () => {
  service = await runningService();
  const upstreams: readonly (readonly [string, readonly string[]])[] = [
    [start, [model]],
    [model, [table]],
    [table, [far]],
    [far, many],
    ...many.map((urn) => [urn, []] as const),
  ];
  for (const [urn, sources] of upstreams) {
    await service.client.upsert(urn, "upstreamLineage", {
      upstreams: sources.map((one) => ({ dataset: one, type: "TRANSFORMED" })),
      fineGrainedLineages: sources.map((one) => ({
        upstreamType: "FIELD_SET",
        upstreams: [column(one)],
        downstreamType: "FIELD",
        downstreams: [column(urn)],
      })),
    });
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("a neighbour with a urn that no entity can have does not hide the others", async () => {
  const [urn, there] = [dataset("odd"), dataset("there")];
  await service.client.upsert(there, "status", { removed: false });
  const upstreams = [there, dataset("n".repeat(600))].map((one) => ({
    ...{ dataset: one, type: "TRANSFORMED" },
  }));
  expect((await service.client.upsert(urn, "upstreamLineage", { upstreams })).status).toBe(200);
  const query = `{ dataset(urn: "${urn}") { lineage(input: {direction: UPSTREAM, start: 0, count: 9}) {
    total filtered relationships { entity { urn } } } } }`;
  const { body } = await ask(service.client, query);
  expect(body.errors).toBeUndefined();
  expect(body.data.dataset.lineage).toMatchObject({
    ...{ total: 2, filtered: 1 },
    relationships: [{ entity: { urn: there } }],
  });
});

async function upstream(flags: string, options = "", urn = start) {
  const input = `urn: "${urn}", direction: UPSTREAM, query: "*", lineageFlags: {${flags}} ${options}`;
  const query = (root: string) => `{ ${root}(input: {${input}}) {
    isPartial searchResults { entity { urn } degree ignoredAsHop truncatedChildren
      paths { path { urn } } } } }`;
  const [searched, scrolled] = await Promise.all(
    ["searchAcrossLineage", "scrollAcrossLineage"].map(async (root) => {
      const { body } = await ask(service.client, query(root));
      expect(body.errors).toBeUndefined();
      return body.data[root];
    }),
  );
  expect(scrolled).toEqual(searched);
  return searched;
}

interface Found {
  readonly entity: { readonly urn: string };
  readonly degree: number;
  readonly ignoredAsHop: boolean;
  readonly truncatedChildren: boolean;
  readonly paths: readonly { readonly path: readonly { readonly urn: string }[] }[];
}

const degrees = ({ searchResults }: { searchResults: readonly Found[] }) =>
  searchResults.map(({ entity, degree, ignoredAsHop }) => [entity.urn, degree, ignoredAsHop]);
const firstDegree = 'orFilters: [{and: [{field: "degree", values: ["1"]}]}]';

test("entities that are ignored as hops have the degree of the entities that follow them", async () => {
  const dbt = 'ignoreAsHops: [{entityType: DATASET, platforms: ["urn:li:dataPlatform:dbt"]}]';
  const found = await upstream(dbt);
  expect(degrees(found)).toEqual([
    [model, 1, true],
    [table, 1, false],
    [far, 2, false],
    ...many.map((urn) => [urn, 3, false]),
  ]);
  expect(found.searchResults[1].paths).toEqual([
    { path: [start, model, table].map((urn) => ({ urn })) },
  ]);
  expect(degrees(await upstream(dbt, firstDegree))).toEqual([
    [model, 1, true],
    [table, 1, false],
  ]);
});

test("all entities of a type are ignored as hops if no platform is named", async () => {
  const all = [model, table, far, ...many].map((urn) => [urn, 1, true]);
  expect(degrees(await upstream("ignoreAsHops: [{entityType: DATASET}]", firstDegree))).toEqual(
    all,
  );
  expect(degrees(await upstream("ignoreAsHops: [{entityType: DATASET, platforms: []}]"))).toEqual(
    all,
  );
  expect(degrees(await upstream("ignoreAsHops: [{entityType: CHART}]", firstDegree))).toEqual([
    [model, 1, false],
  ]);
});

test("a column has the platform of its dataset", async () => {
  const flags =
    'ignoreAsHops: [{entityType: SCHEMA_FIELD, platforms: ["urn:li:dataPlatform:dbt"]}]';
  const options = `${firstDegree}, types: [DATASET]`;
  expect(degrees(await upstream(flags, options, column(start)))).toEqual([
    [model, 1, true],
    [table, 1, false],
  ]);
});

test("each entity leads to as many entities as the limit allows, and the results are partial", async () => {
  const limited = await upstream("entitiesExploredPerHopLimit: 2");
  expect(degrees(limited).slice(3)).toEqual(many.slice(0, 2).map((urn) => [urn, 4, false]));
  expect(limited.isPartial).toBe(true);
  const truncated = (found: { searchResults: readonly Found[] }) =>
    found.searchResults.filter((one) => one.truncatedChildren).map(({ entity }) => entity.urn);
  expect(truncated(limited)).toEqual([far]);
  const whole = await upstream("entitiesExploredPerHopLimit: 3");
  expect([whole.searchResults.length, whole.isPartial, truncated(whole)]).toEqual([6, false, []]);
});
