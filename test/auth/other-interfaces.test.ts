/**
 * OpenAPI and GraphQL authorize like Rest.li: hidden entities are absent, and only permitted users
 * change access.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, faultOf, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService, writeAsOperator } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const OPEN = dataset("open.seeds");
const HIDDEN = dataset("hidden.seeds");
const NEVER = dataset("never.seeds");

let service: GuardedService;
let mina: Record<string, string>;
let position = 0;

const call = (method: string, path: string, body?: unknown, headers = mina) =>
  service.client.call(method, path, body, headers);

async function write(urn: string, aspect: string, value: unknown) {
  position = await writeAsOperator(service, urn, aspect, value);
}

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  await write("urn:li:dataHubPolicy:mina", "dataHubPolicyInfo", {
    ...{ displayName: "open", description: "", type: "METADATA", state: "ACTIVE" },
    ...{ privileges: ["VIEW_ENTITY_PAGE"], actors: { users: [MINA] } },
    resources: { filter: { criteria: [{ field: "URN", values: [OPEN], condition: "EQUALS" }] } },
  });
  await write("urn:li:dataHubPolicy:view-entity-page-all", "dataHubPolicyInfo", {
    ...{ displayName: "all", description: "", type: "METADATA", state: "INACTIVE" },
    ...{ privileges: ["VIEW_ENTITY_PAGE"], actors: { allUsers: true } },
  });
  for (const urn of [OPEN, HIDDEN]) await write(urn, "datasetProperties", { name: "seeds" });
  await write(HIDDEN, "upstreamLineage", { upstreams: [{ dataset: OPEN, type: "COPY" }] });
  await call("GET", "/openapi/v3/entity/dataset", undefined, {
    ...{ ...service.operator, "X-Annals-Min-Position": String(position) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const v3 = "/openapi/v3/entity/dataset";
const post = (path: string, body: (urn: string) => unknown) =>
  [`POST ${path}`, (urn: string) => call("POST", path, body(urn))] as const;
const get = (path: (urn: string) => string, method = "GET") =>
  [`${method} ${path("…")}`, (urn: string) => call(method, path(encoded(urn)))] as const;
const query = (text: string) =>
  [text, (urn: string) => ask(service.client, text, { urn }, mina)] as const;

describe("a hidden entity is answered like one that never existed:", () => {
  test.each([
    get((urn) => `${v3}/${urn}`),
    get((urn) => `${v3}/${urn}`, "HEAD"),
    get((urn) => `${v3}/${urn}/datasetProperties`),
    get((urn) => `${v3}/${urn}/datasetProperties?version=1`),
    get((urn) => `${v3}/${urn}/datasetProperties`, "HEAD"),
    get((urn) => `/openapi/v2/entity/dataset/${urn}`),
    get((urn) => `/openapi/entities/v1/latest?urns=${urn}`),
    get((urn) => `/openapi/v3/relationship/dataset/${urn}`),
    get((urn) => `/openapi/v3/relationship/dataset/${urn}?direction=INCOMING`),
    post(`${v3}/batchGet`, (urn) => [{ urn, datasetProperties: {} }]),
    post("/openapi/v3/entity/generic/batchGet", (urn) => ({ dataset: [{ urn }] })),
    post("/openapi/v2/entity/batch/dataset", (urn) => ({ urns: [urn] })),
    post("/openapi/v3/lineage/scroll", (urn) => ({ urns: [urn] })),
    post(`/openapi/v1/trace/write/${"0".repeat(32)}?onlyIncludeErrors=false`, (urn) => ({
      [urn]: ["datasetProperties"],
    })),
    query("query($urn: String!) { entity(urn: $urn) { urn } entityExists(urn: $urn) }"),
    query("query($urn: String!) { entities(urns: [$urn]) { urn } dataset(urn: $urn) { name } }"),
    query(
      'mutation($urn: String!) { updateDescription(input: {resourceUrn: $urn, description: "x"}) }',
    ),
    query(
      "mutation($urn: String!) { batchUpdateSoftDeleted(input: {urns: [$urn], deleted: true}) }",
    ),
  ])("%s", async (_, asked) => {
    const answerOf = async (urn: string) => {
      const { status, body } = await asked(urn);
      const text = JSON.stringify(body).replaceAll("hidden.seeds", "never.seeds");
      return { status, text: text.replace(/"time":\d+/g, "") };
    };
    expect(await answerOf(HIDDEN)).toEqual(await answerOf(NEVER));
  });

  test("is absent in lists and among neighbours", async () => {
    const answers = [
      await call("GET", v3),
      await call("POST", "/openapi/v3/entity/scroll", { entities: ["dataset"], aspects: [] }),
      await call("POST", "/openapi/v3/relationship/scroll", {}),
      await call("POST", "/openapi/v3/lineage/scroll", { urns: [OPEN] }),
      await ask(
        service.client,
        `query($urn: String!) {
          dataset(urn: $urn) { name relationships(input: {types: ["DownstreamOf"], direction: INCOMING}) { total relationships { entity { urn } } } }
          scrollAcrossEntities(input: {query: "*"}) { total searchResults { entity { urn } } }
          searchAcrossLineage(input: {urn: $urn, direction: DOWNSTREAM}) { total searchResults { entity { urn } } }
        }`,
        { urn: OPEN },
        mina,
      ),
    ];
    for (const { status, body } of answers) {
      expect(status, JSON.stringify(body)).toBe(200);
      expect(JSON.stringify(body)).not.toContain("hidden");
    }
    expect(answers[0]?.body.totalCount).toBe(1);
    expect(answers[4]?.body.data).toMatchObject({
      dataset: { name: "seeds", relationships: { total: 0 } },
      searchAcrossLineage: { total: 0 },
    });
    const whole = await call(
      "POST",
      "/openapi/v3/lineage/scroll",
      { urns: [OPEN] },
      service.operator,
    );
    expect(JSON.stringify(whole.body)).toContain("hidden");
  });
});

describe("a change of access requires its privilege:", () => {
  const policy = { displayName: "x", description: "", type: "PLATFORM", state: "ACTIVE" };
  const grants = { ...policy, privileges: ["MANAGE_POLICIES"], actors: { users: [MINA] } };
  const urn = "urn:li:dataHubPolicy:taken";

  test.each([
    ["POST", "/openapi/v3/entity/dataHubPolicy", [{ urn, dataHubPolicyInfo: { value: grants } }]],
    ["POST", "/openapi/v3/entity/DATAHUBPOLICY", [{ urn, DATAHUBPOLICYINFO: { value: grants } }]],
    [
      "POST",
      "/openapi/v2/entity/dataHubPolicy",
      [{ urn, aspects: { dataHubPolicyInfo: { value: grants } } }],
    ],
    ["POST", `/openapi/v3/entity/dataHubPolicy/${urn}/dataHubPolicyInfo`, { value: grants }],
    [
      "POST",
      "/openapi/v3/entity/generic",
      { dataHubPolicy: [{ urn, dataHubPolicyInfo: { value: grants } }] },
    ],
    [
      "POST",
      "/openapi/entities/v1",
      [
        {
          entityType: "dataHubPolicy",
          entityUrn: urn,
          aspectName: "dataHubPolicyInfo",
          aspect: grants,
        },
      ],
    ],
    ["POST", "/openapi/platform/entities/v1", [proposal(urn, "dataHubPolicyInfo", grants)]],
    ["DELETE", "/openapi/v3/entity/dataHubPolicy/urn:li:dataHubPolicy:mina", []],
    ["DELETE", "/openapi/entities/v1?soft=false&urns=urn:li:dataHubPolicy:mina", undefined],
    [
      "PATCH",
      `/openapi/v3/entity/corpuser/${MINA}/roleMembership`,
      { patch: [{ op: "add", path: "/roles", value: ["urn:li:dataHubRole:Admin"] }] },
    ],
  ])("%s %s", async (method, path, body) => {
    const reply = await call(method, path, body);
    expect([reply.status, reply.body.code], JSON.stringify(reply.body)).toEqual([403, "forbidden"]);
  });

  test.each([
    `batchAssignRole(input: {roleUrn: "urn:li:dataHubRole:Admin", actors: ["${MINA}"]})`,
    'createGroup(input: {name: "mine"})',
  ])("mutation %s", async (field) => {
    const reply = await ask(service.client, `mutation { ${field} }`, {}, mina);
    const { code } = faultOf(reply).extensions;
    // A user that mina may not read does not exist for her, herself included.
    expect([403, 404]).toContain(code);
  });
});
