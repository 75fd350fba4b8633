/** A query reads each kind of data once for all entities of a level, however many entities there are. */
import { expect, test } from "vitest";
import { createGraphqlServer } from "../../src/graphql/graphql-server.ts";
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

/** A server of datasets with one incident each, and the reads that its queries cause. */
function countingServer() {
  const reads: { readonly kind: string; readonly urns: number }[] = [];
  const catalog = {
    findEntities: async (urns: readonly string[]) => {
      reads.push({ kind: "entities", urns: urns.length });
      return urns.map(entityOf);
    },
    scrollRelationships: async ({
      types,
      destination,
    }: {
      types: string[];
      destination: { urns: string[] };
    }) => {
      reads.push({ kind: String(types), urns: destination.urns.length });
      const relationships = destination.urns.map((urn, n) => ({
        ...{ source: incident(n), type: types[0], destination: urn },
      }));
      return { relationships: types[0] === "IncidentOn" ? relationships : [] };
    },
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

test("entities of one level are one read, and so are their edges of one type", async () => {
  const { server, reads } = countingServer();
  const query = `query($urns: [String!]!) { entities(urns: $urns) { ... on Dataset {
    container { domain { domain { properties { name } } } }
    health { type status } incidents(start: 0, count: 1) { total } contract { urn } } } }`;
  const urns = Array.from({ length: COUNT }, (_, n) => dataset(n));
  const { json } = await server.execute({ query, variables: { urns } }, undefined);
  const { data, errors } = JSON.parse(json);
  expect(errors).toBeUndefined();
  expect(data.entities).toHaveLength(COUNT);
  expect(data.entities.at(-1)).toEqual({
    container: { domain: { domain: { properties: { name: `${COUNT - 1}` } } } },
    health: [{ type: "INCIDENTS", status: "FAIL" }],
    ...{ incidents: { total: 1 }, contract: null },
  });
  const ofEdges = reads.filter(({ kind }) => kind !== "entities");
  const once = ["Asserts", "ContractFor", "IncidentOn"].map((kind) => ({ kind, urns: COUNT }));
  expect(ofEdges.sort((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual(once);
  // Datasets, containers, domains and incidents; several may be of one level.
  const ofEntities = reads.filter(({ kind }) => kind === "entities");
  expect(ofEntities.length).toBeLessThanOrEqual(4);
  expect(ofEntities.reduce((sum, { urns }) => sum + urns, 0)).toBe(4 * COUNT);
});
