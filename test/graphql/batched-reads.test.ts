/** A query reads each kind of data once for all entities of a level, however many entities there are. */
import { expect, test } from "vitest";
import { createGraphqlServer } from "../../src/graphql/graphql-server.ts";
import { batching } from "../../src/storage/batching.ts";
import { defaultModel as model } from "../model/default-model.ts";

const COUNT = 200;
const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,t${n},PROD)`;
const incident = (n: number) => `urn:li:incident:${n}`;

/** Values by entity type: each dataset has a container, each container a domain. */
const aspects: Readonly<Record<string, (id: string) => Readonly<Record<string, object>>>> = {
  dataset: (id) => ({ container: { container: `urn:li:container:${id}` } }),
  container: (id) => ({ domains: { domains: [`urn:li:domain:${id}`] } }),
  domain: (id) => ({ domainProperties: { name: id } }),
  incident: () => ({ incidentInfo: { type: "CUSTOM", status: { state: "ACTIVE" } } }),
};

function entityOf(urn: string) {
  const [, , type = "", ...rest] = urn.split(":");
  const id = /\d+/.exec(rest.join(":"))?.[0] ?? "";
  const values = Object.entries(aspects[type]?.(id) ?? {});
  const found = values.map(([name, value]) => ({ name, value: JSON.stringify(value), system: {} }));
  return { urn, exists: true, aspects: [{ name: "key", value: "{}", system: {} }, ...found] };
}

type Answer = (query: never) => unknown;

/** Answers of one entity, by the method of the catalog. Each dataset has one incident. */
const answers: Readonly<Record<string, Answer>> = {
  listRelationships({ urn, types, start }: { urn: string; types: string[]; start: number }) {
    const type = types.join();
    const n = /\d+/.exec(urn)?.[0] ?? "";
    const other = type === "IncidentOn" ? incident(Number(n)) : `urn:li:corpuser:${n}`;
    const relationships =
      type === "Asserts" || type === "ContractFor" ? [] : [{ type, urn: other }];
    return { start, count: relationships.length, total: relationships.length, relationships };
  },
  getTimeseriesValues({ urn }: { urn: string }) {
    const value = JSON.stringify({ timestampMillis: 1, rowCount: urn.length });
    return { json: JSON.stringify({ value: { values: [{ aspect: { value } }] } }) };
  },
  queryUsage: () => ({ buckets: [], aggregations: { totalSqlQueries: 7 } }),
  search: () => ({ from: 0, pageSize: 0, total: 3, hits: [], facets: [], position: 1 }),
  getLineage({ urn }: { urn: string }) {
    const one = { entity: urn.replace("t", "source"), type: "DownstreamOf", degree: 1, paths: [] };
    return { start: 0, count: 1, total: 1, partial: false, relationships: [one] };
  },
};

/** A server of datasets, and the reads that its queries cause: those of one event-loop iteration are one read. */
function countingServer() {
  const reads: { readonly kind: string; readonly urns: number }[] = [];
  const counted = (method: string, answer: Answer) => {
    const kindOf = (query: { types?: readonly string[]; aspect?: string }) =>
      [method, query.aspect ?? query.types?.join()].filter(Boolean).join(" ");
    return batching<never, unknown>(async (queries) => {
      reads.push({ kind: kindOf(queries[0] as never), urns: queries.length });
      return queries.map((query) => answer(query));
    }, kindOf);
  };
  const catalog = {
    findEntities: async (urns: readonly string[]) => {
      reads.push({ kind: "entities", urns: urns.length });
      return urns.map(entityOf);
    },
    filterExisting: async (urns: readonly string[]) => urns,
    ...Object.fromEntries(Object.entries(answers).map(([name, of]) => [name, counted(name, of)])),
  };
  const server = createGraphqlServer({
    entityNames: model.entities.keys(),
    catalogFor: () => catalog,
    namespace: "li",
    now: () => 1,
    onFault: (fault: unknown) => {
      throw fault;
    },
  } as unknown as Parameters<typeof createGraphqlServer>[0]);
  return { server, reads };
}

const query = `query($urns: [String!]!) { entities(urns: $urns) { ... on Dataset {
  container { domain { domain { properties { name } } } }
  health { type status } incidents(start: 0, count: 1) { total } contract { urn }
  owners: relationships(input: {types: ["OwnedBy"], direction: OUTGOING, start: 0, count: 10}) {
    total relationships { entity { ... on CorpUser { urn
      members: relationships(input: {types: ["IsMemberOf"], direction: OUTGOING}) { total } } } } }
  lineage(input: {direction: UPSTREAM, start: 0, count: 10}) { total relationships { entity { urn } } }
  datasetProfiles(limit: 1) { rowCount } operations(limit: 1) { timestampMillis }
  usageStats(range: MONTH) { aggregations { totalSqlQueries } }
  relatedDocuments(input: {}) { total } } } }`;

/** The answer for datasets, and the reads of each kind. */
async function asked(count: number) {
  const { server, reads } = countingServer();
  const urns = Array.from({ length: count }, (_, n) => dataset(n));
  const { json } = await server.execute({ query, variables: { urns } }, undefined);
  const { data, errors } = JSON.parse(json);
  expect(errors).toBeUndefined();
  return { data, reads: reads.sort((a, b) => (a.kind < b.kind ? -1 : 1)) };
}

test("entities of one level are one read, and so are their edges, events and searches", async () => {
  const { data, reads } = await asked(COUNT);
  expect(data.entities).toHaveLength(COUNT);
  const last = COUNT - 1;
  const user = { urn: `urn:li:corpuser:${last}`, members: { total: 1 } };
  expect(data.entities.at(-1)).toEqual({
    container: { domain: { domain: { properties: { name: `${last}` } } } },
    health: [{ type: "INCIDENTS", status: "FAIL" }],
    ...{ incidents: { total: 1 }, contract: null },
    owners: { total: 1, relationships: [{ entity: user }] },
    lineage: {
      total: 1,
      relationships: [{ entity: { urn: dataset(last).replace("t", "source") } }],
    },
    datasetProfiles: [{ rowCount: dataset(last).length }],
    operations: [{ timestampMillis: 1 }],
    usageStats: { aggregations: { totalSqlQueries: 7 } },
    relatedDocuments: { total: 3 },
  });
  const once = [
    ...["getLineage", "getTimeseriesValues datasetProfile", "getTimeseriesValues operation"],
    ...["listRelationships Asserts", "listRelationships ContractFor"],
    ...["listRelationships IncidentOn", "listRelationships IsMemberOf"],
    ...["listRelationships OwnedBy", "queryUsage", "search"],
  ];
  const others = reads.filter(({ kind }) => kind !== "entities");
  expect(others.map(({ kind }) => kind)).toEqual(once);
  // Incidents are read for two fields.
  const shared = (kind: string) => (kind === "listRelationships IncidentOn" ? 2 : 1);
  expect(others.every(({ kind, urns }) => urns === shared(kind) * COUNT)).toBe(true);
  const ofEntities = reads.filter(({ kind }) => kind === "entities");
  expect(ofEntities.length).toBeLessThanOrEqual(4);
});

test("the number of reads does not depend on the number of entities", async () => {
  const kinds = async (count: number) => (await asked(count)).reads.map(({ kind }) => kind);
  expect(await kinds(COUNT)).toEqual(await kinds(2));
});
