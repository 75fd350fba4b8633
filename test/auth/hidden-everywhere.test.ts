/**
 * Every read endpoint with its documented example, for a hidden dataset and for one that never
 * existed: a caller without permission cannot distinguish the two.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Example, readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { takesAsOf } from "../../src/http/request/as-of-parameters.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import type { Endpoint } from "../../src/http/schemas/endpoint.ts";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal, type Reply } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const MIRA = "urn:li:corpuser:mira";
const REVENUE = "urn:li:dataset:(urn:li:dataPlatform:snowflake,mart.revenue,PROD)";
const OPEN = "urn:li:dataset:(urn:li:dataPlatform:postgres,open.table,PROD)";
/** A word that only the hidden datasets contain. */
const MARK = "quincunx";
const orders = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.orders,PROD)";
const NAMES = /quincunx|shop\.public\.orders|mart\.revenue/;

let service: GuardedService;
let mina: Record<string, string>;
let position = 0;

async function write(urn: string, aspect: string, value: unknown): Promise<void> {
  const one = {
    ...proposal(urn, aspect, value),
    systemMetadata: { runId: "nightly-schema", lastObserved: 1_772_409_600_000 },
  };
  const path = "/aspects?action=ingestProposal";
  const reply = await service.client.call("POST", path, { proposal: one }, service.operator);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  position = reply.position ?? position;
}

const stamp = { time: 1, actor: MIRA };
const policy = (state: string, criteria: object[]) => ({
  ...{ displayName: "p", description: "", type: "METADATA", state, actors: { allUsers: true } },
  privileges: ["VIEW_ENTITY_PAGE"],
  resources: { filter: { criteria } },
});

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  for (const urn of [orders, REVENUE]) {
    await write(urn, "datasetProperties", { name: "orders", description: `per order ${MARK}` });
    await write(urn, "status", { removed: false });
    await write(urn, "globalTags", { tags: [{ tag: "urn:li:tag:gold" }] });
    await write(urn, "ownership", {
      owners: [{ owner: MIRA, type: "DATAOWNER" }],
      lastModified: stamp,
    });
    await write(urn, "container", { container: "urn:li:container:shop" });
    await write(urn, "browsePathsV2", { path: [{ id: "urn:li:container:shop" }, { id: MARK }] });
  }
  const from = (dataset: string) => ({
    upstreams: [{ dataset, type: "TRANSFORMED", auditStamp: stamp }],
  });
  await write(REVENUE, "upstreamLineage", from(orders));
  await write(orders, "upstreamLineage", from(OPEN));
  const timestampMillis = 1_772_400_000_000;
  await write(orders, "datasetProfile", { timestampMillis, rowCount: 424_243 });
  await write(orders, "datasetUsageStatistics", {
    ...{ timestampMillis, eventGranularity: { unit: "DAY", multiple: 1 } },
    ...{ uniqueUserCount: 424_243, totalSqlQueries: 424_243 },
  });
  await write(OPEN, "datasetProperties", { name: "open" });
  await write("urn:li:tag:gold", "tagProperties", { name: "gold" });
  const all = "urn:li:dataHubPolicy:view-entity-page-all";
  const seen = [
    { field: "URN", condition: "STARTS_WITH", values: [OPEN, "urn:li:tag:", "urn:li:corpuser:"] },
  ];
  await write("urn:li:dataHubPolicy:seen", "dataHubPolicyInfo", policy("ACTIVE", seen));
  await write(all, "dataHubPolicyInfo", policy("INACTIVE", []));
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const table = createRouteTable({
  ...{ version: "0", modelFingerprint: "0", openApi: () => ({}), docs: () => ({}), entities: [] },
  urnNamespace: "li",
  graphql: { server: {} as never, explorer: {} },
  events: { texts: {} as never },
});
const docsOf = readEndpointDocs();
const reading = table.endpoints
  .filter(
    ({ open, access, writes, path }) => !(open || access || writes || path === "/api/graphql"),
  )
  .map((endpoint) => ({ ...endpoint, example: docsOf(endpoint).example }));
type Shown = Pick<Endpoint, "method"> & { readonly example: Example };

const otherwise = (text: string): string =>
  text
    .replaceAll("shop.public.orders", "shop.public.nevers")
    .replaceAll("mart.revenue", "mart.neverwas");
/** Removes values that differ between requests. Requests also grow the log, by audit records. */
const comparable = ({ status, body }: Reply): string =>
  `${status} ${JSON.stringify(body).replace(/\d{10,}|"requestId":"[^"]*"|"position":\d+/g, "#")}`;

const same = (text: string): string => text;
const get = (path: string) => ({ method: "GET", example: { path } }) as const;

function asked(
  { method, example }: Shown,
  change: (text: string) => string,
  who: object,
): Promise<Reply> {
  const body = example.body === undefined ? undefined : change(JSON.stringify(example.body));
  const headers = { ...who, "X-Annals-Min-Position": String(position) };
  return service.client.call(method, change(example.path), body, headers);
}

describe("a hidden entity is absent at", () => {
  for (const endpoint of reading) {
    const { method, path, name, example } = endpoint;
    test(`${method} ${path} ${name}`, async () => {
      const found = await asked(endpoint, same, mina);
      const request = `${example.path} ${JSON.stringify(example.body ?? "")}`;
      if (otherwise(request) === request) {
        expect(JSON.stringify(found.body)).not.toMatch(NAMES);
        return;
      }
      const never = await asked(endpoint, otherwise, mina);
      expect(otherwise(comparable(found))).toBe(comparable(never));
      expect(JSON.stringify(found.body)).not.toMatch(/quincunx|424243/);
    });
  }

  test("most read endpoints show the dataset to the operator", async () => {
    let showing = 0;
    for (const endpoint of reading) {
      const { body } = await asked(endpoint, same, service.operator);
      if (NAMES.test(JSON.stringify(body))) showing++;
    }
    expect(showing).toBeGreaterThan(reading.length / 2);
  });
});

/** A read as of a point in time, without a minimum position. */
async function askedThen(
  { method, example }: Shown,
  pointInTime: string,
  { change = same, who = mina } = {},
): Promise<Reply> {
  const body = example.body === undefined ? undefined : change(JSON.stringify(example.body));
  const path = `${change(example.path)}${example.path.includes("?") ? "&" : "?"}${pointInTime}`;
  return service.client.call(method, path, body, who);
}

describe("an entity that is hidden now is absent in the past at", () => {
  for (const endpoint of reading.filter(takesAsOf)) {
    const { method, path, name } = endpoint;
    test(`${method} ${path} ${name}`, async () => {
      // Everything was readable before the policies, which are the last two records.
      for (const pointInTime of [`asOfPosition=${position - 2}`, `asOfTime=${Date.now()}`]) {
        const found = await askedThen(endpoint, pointInTime);
        const never = await askedThen(endpoint, pointInTime, { change: otherwise });
        expect(otherwise(comparable(found))).toBe(comparable(never));
        expect(found.position).toBe(never.position);
        expect(JSON.stringify(found.body)).not.toMatch(/quincunx|424243/);
      }
    });
  }

  test("past reads show the dataset to the operator", async () => {
    const bodies = [];
    for (const endpoint of reading.filter(takesAsOf)) {
      const who = service.operator;
      bodies.push((await askedThen(endpoint, `asOfPosition=${position - 2}`, { who })).body);
    }
    expect(JSON.stringify(bodies)).toContain("424243");
    expect(bodies.filter((one) => NAMES.test(JSON.stringify(one))).length).toBeGreaterThan(8);
  });
});

test("a hidden entity is absent in GraphQL, also below readable entities", async () => {
  const query = `query($urn: String!, $open: String!) {
    hidden: dataset(urn: $urn) { urn properties { description } ownership { owners { type } } }
    entity(urn: $urn) { urn type }
    seen: dataset(urn: $open) { urn relationships(input: { types: ["DownstreamOf"], direction: INCOMING, start: 0, count: 10 }) { total relationships { entity { urn } } } }
    search(input: { type: DATASET, query: "order", start: 0, count: 10 }) { total searchResults { entity { urn } } }
  }`;
  const answers = [];
  for (const urn of [orders, otherwise(orders)]) {
    const reply = await ask(service.client, query, { urn, open: OPEN }, mina);
    expect(reply.body.data, JSON.stringify(reply.body)).toBeTruthy();
    expect(JSON.stringify(reply.body)).not.toContain(MARK);
    expect(reply.body.data.search.total).toBe(0);
    answers.push(otherwise(comparable(reply)));
  }
  expect(answers[0]).toBe(answers[1]);
  const whole = await ask(service.client, query, { urn: orders, open: OPEN }, service.operator);
  expect(JSON.stringify(whole.body)).toContain(MARK);
});

test("no write endpoint changes a hidden entity", async () => {
  const read = async () => {
    const lists = `List(${[orders, REVENUE].map(encoded).join(",")})`;
    const entities = await asked(get(`/entitiesV2?ids=${lists}`), same, service.operator);
    const edges = await asked(
      get(`/relationships?direction=INCOMING&types=DownstreamOf&urn=${encoded(orders)}`),
      same,
      service.operator,
    );
    const profile = { urn: orders, entity: "dataset", aspect: "datasetProfile" };
    const path = "/aspects?action=getTimeseriesAspectValues";
    const events = await service.client.call("POST", path, profile, service.operator);
    return [entities, edges, events].map((reply) => JSON.stringify(reply.body));
  };
  const before = await read();
  expect(before.join()).toContain(MARK);
  const writing = table.endpoints.filter(({ writes, access }) => writes && access === undefined);
  expect(writing.length).toBeGreaterThan(10);
  for (const endpoint of writing) {
    const reply = await asked({ ...endpoint, example: docsOf(endpoint).example }, same, mina);
    const { method, path, name } = endpoint;
    expect(await read(), `${method} ${path} ${name} ${reply.status}`).toEqual(before);
    position = reply.position ?? position;
  }
});
