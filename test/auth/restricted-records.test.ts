/**
 * Records of tokens, secrets and passwords are restricted: they are absent for users without the
 * privilege, through every endpoint.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configuredModel } from "../../src/app/load-model.ts";
import { restrictedNames } from "../../src/auth/access/restricted-entities.ts";
import { readConfig } from "../../src/config/config.ts";
import { asBearer, ask, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, grantPolling, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const SECRET = "urn:li:dataHubSecret:warehouse";
/** Restricted aspects of entities that every user may read. */
const oidc = { enabled: true, clientId: "a", clientSecret: "hunter2", discoveryUri: "http://a" };
const request = {
  ...{ task: "RUN_INGEST", args: { recipe: "hunter2" }, executorId: "default" },
  ...{ source: { type: "MANUAL" }, requestedAt: 1 },
};
const secrets: readonly (readonly [urn: string, aspect: string, value: object])[] = [
  [
    "urn:li:globalSettings:other",
    "globalSettingsInfo",
    { sso: { baseUrl: "http://a", oidcSettings: oidc } },
  ],
  [
    "urn:li:dataHubConnection:slack",
    "dataHubConnectionDetails",
    { type: "JSON", name: "slack", json: { encryptedBlob: "hunter2" } },
  ],
  [
    "urn:li:service:mcp",
    "mcpServerProperties",
    { url: "http://a", customHeaders: { Authorization: "hunter2" } },
  ],
  [
    "urn:li:dataHubIngestionSource:night",
    "dataHubIngestionSourceInfo",
    { name: "night", type: "snowflake", config: { recipe: "hunter2" } },
  ],
  ["urn:li:dataHubExecutionRequest:1", "dataHubExecutionRequestInput", request],
  [
    "urn:li:dataHubExecutionRequest:1",
    "dataHubExecutionRequestResult",
    { status: "SUCCESS", report: "hunter2" },
  ],
];
let service: GuardedService;
let mina: Record<string, string>;
/** The urn of another user's token. */
let other: string;
let position: number | undefined;

const post = (path: string, body: object, headers = mina) =>
  service.client.call("POST", path, body, headers);
const get = (path: string, headers = mina) => service.client.call("GET", path, undefined, headers);
/** Headers that make every view cover the writes. */
const current = (headers: Record<string, string>) => ({
  ...headers,
  "X-Annals-Min-Position": String(position),
});

beforeAll(async () => {
  service = await guardedService();
  await grantPolling(service);
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  const made = await makeToken(service.client, { name: "of the root" }, service.operator);
  other = `urn:li:dataHubAccessToken:${made.id}`;
  for (const one of [
    proposal(SECRET, "dataHubSecretValue", { name: "warehouse", value: "hunter2" }),
    proposal(ROOT, "corpUserInfo", { active: true, displayName: "Root" }),
    ...secrets.map(([urn, aspect, value]) => proposal(urn, aspect, value)),
  ]) {
    const reply = await post("/aspects?action=ingestProposal", { proposal: one }, service.operator);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    position = reply.position;
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const types = ["dataHubAccessToken", "dataHubSecret"];
type Asked = readonly [name: string, request: () => readonly [path: string, body?: object]];
const asked: readonly Asked[] = [
  ["entitiesV2", () => [`/entitiesV2/${encoded(other)}`]],
  ["entitiesV2 of several", () => [`/entitiesV2?ids=List(${encoded(other)},${encoded(SECRET)})`]],
  ["an aspect", () => [`/aspects/${encoded(other)}?aspect=dataHubAccessTokenInfo&version=0`]],
  ["its first version", () => [`/aspects/${encoded(SECRET)}?aspect=dataHubSecretValue&version=1`]],
  ["existence", () => ["/entities?action=exists", { urn: other }]],
  ...secrets.flatMap(([urn, aspect]): readonly Asked[] => [
    [`${aspect}, with its entity`, () => [`/entitiesV2/${encoded(urn)}`]],
    [`${aspect}`, () => [`/aspects/${encoded(urn)}?aspect=${aspect}&version=0`]],
    [`${aspect}, version 1`, () => [`/aspects/${encoded(urn)}?aspect=${aspect}&version=1`]],
    [`${aspect} in OpenAPI`, () => [`/openapi/v3/entity/${urn.split(":")[2]}/${encoded(urn)}`]],
    [`changes of ${aspect}`, () => [`/changes?from=start&aspect=${aspect}`]],
    [
      `a search with ${aspect}`,
      () => [
        "/openapi/v3/entity/scroll",
        { entities: [urn.split(":")[2]], aspects: [aspect], query: "*" },
      ],
    ],
  ]),
  ...types.flatMap((entity): readonly Asked[] => [
    [`a list of ${entity}`, () => ["/entities?action=listUrns", { entity, start: 0, count: 9 }]],
    [
      `a search of ${entity}`,
      () => ["/entities?action=search", { entity, input: "*", start: 0, count: 9 }],
    ],
    [
      `a filter of ${entity}`,
      () => [
        "/entities?action=filter",
        { entity, filter: { or: [{ and: [] }] }, start: 0, count: 9 },
      ],
    ],
    [
      `suggestions of ${entity}`,
      () => [
        "/entities?action=autocomplete",
        { entity, query: entity === types[0] ? "of" : "ware", limit: 9 },
      ],
    ],
    [`a count of ${entity}`, () => ["/entities?action=getTotalEntityCount", { entity }]],
  ]),
  [
    "a search of everything",
    () => [
      "/entities?action=searchAcrossEntities",
      { entities: [...types, "tag"], input: "*", start: 0, count: 20 },
    ],
  ],
  [
    "a scroll",
    () => ["/entities?action=scrollAcrossEntities", { entities: types, input: "*", count: 20 }],
  ],
  ["a count of aspects", () => ["/aspects?action=getCount", { aspect: "dataHubAccessTokenInfo" }]],
  [
    "a run, with its aspects",
    () => [
      "/runs?action=describe",
      { runId: "no-run-id-provided", start: 0, count: 1_000, includeAspect: true },
    ],
  ],
  ["the feed", () => ["/changes?from=start&limit=1000&previous=true"]],
  [
    "events that are polled",
    () => [
      "/openapi/v1/events/poll?topic=MetadataChangeLog_Versioned_v1&offsetId=0&limit=1000&pollTimeoutSeconds=0",
    ],
  ],
];
/** Texts that no response to other users may contain: names, creators, hashes, secrets. */
const revealing =
  /of the root|hunter2|createdAt|"numEntities":[1-9]|"value":(?:[1-9]|true)|AccessToken:|Secret:/;

describe("a user without the privilege does not find restricted records by", () => {
  test.each(asked)("%s", async (_, request) => {
    const [path, body] = request();
    const method = body === undefined ? "GET" : "POST";
    const whole = await service.client.call(method, path, body, current(service.operator));
    expect(JSON.stringify(whole.body), "the operator finds it").toMatch(revealing);
    const own = await service.client.call(method, path, body, current(mina));
    const text = JSON.stringify(own.body).replace(
      /^\/(entitiesV2|aspects)\/?/.test(path)
        ? /urn:li:dataHub(?:AccessToken|Secret):[\w-]+/g
        : /$^/,
      "",
    );
    expect(text).not.toMatch(revealing);
  });
});

test("a user without the privilege does not find restricted records as of a point in time", async () => {
  const reads = asked.filter(([, request]) =>
    /^\/(entitiesV2|aspects|entities)\/|ids=|exists/.test(request()[0]),
  );
  expect(reads.length).toBeGreaterThan(6);
  for (const [name, request] of reads) {
    const [path, body] = request();
    const method = body === undefined ? "GET" : "POST";
    for (const pointInTime of [`asOfPosition=${position}`, `asOfTime=${Date.now()}`]) {
      const then = `${path}${path.includes("?") ? "&" : "?"}${pointInTime}`;
      const whole = await service.client.call(method, then, body, service.operator);
      expect(JSON.stringify(whole.body), `the operator finds ${name}`).toMatch(revealing);
      const own = await service.client.call(method, then, body, mina);
      const text = JSON.stringify(own.body).replace(
        /urn:li:dataHub(?:AccessToken|Secret):[\w-]+/g,
        "",
      );
      expect(text, name).not.toMatch(revealing);
    }
  }
});

test("the change feed and reads of users show their other aspects", async () => {
  expect(
    (await get(`/entitiesV2/${encoded(ROOT)}`)).body.aspects.corpUserInfo.value.displayName,
  ).toBe("Root");
  const { body } = await get("/changes?from=start&limit=1000");
  expect(JSON.stringify(body)).toContain("corpUserInfo");
});

test("a GraphQL search for tokens finds no restricted records", async () => {
  const query = `{ searchAcrossEntities(input: {types: [ACCESS_TOKEN], query: "*"}) { total } }`;
  const own = await ask(service.client, query, {}, current(mina));
  expect(own.body.data?.searchAcrossEntities.total ?? 0).toBe(0);
});

test("a user whose name begins like another name gets no further permission", async () => {
  const actorUrn = "urn:li:corpuser:datahub dataHubAccessToken";
  const { token } = await makeToken(service.client, { actorUrn }, service.operator);
  const { body } = await get(`/entitiesV2/${encoded(other)}`, asBearer(token));
  expect(Object.keys(body.aspects)).toEqual(["dataHubAccessTokenKey"]);
});

test("a user without the privilege cannot write secrets", async () => {
  const one = proposal(SECRET, "dataHubSecretValue", { name: "warehouse", value: "mine" });
  expect((await post("/aspects?action=ingestProposal", { proposal: one })).status).toBe(403);
  for (const [urn, aspect, value] of secrets.slice(0, 2)) {
    const written = { proposal: proposal(urn, aspect, value) };
    expect((await post("/aspects?action=ingestProposal", written)).status).toBe(403);
    expect((await post("/entities?action=delete", { urn })).status).toBe(403);
    const path = `/openapi/v3/entity/${urn.split(":")[2]}`;
    expect((await post(path, [{ urn, [aspect]: { value } }] as object)).status).toBe(403);
  }
});

test("a user without the privilege cannot patch them, because the response shows the value", async () => {
  for (const [urn, aspect] of secrets) {
    const type = urn.split(":")[2];
    const path = `/openapi/v3/entity/${type}/${encoded(urn)}/${aspect}`;
    const patch = { patch: [{ op: "add", path: "/name", value: "x" }], arrayPrimaryKeys: {} };
    const { status, body } = await service.client.call("PATCH", path, patch, mina);
    expect(status, aspect).toBe(403);
    expect(JSON.stringify(body)).not.toContain("hunter2");
  }
});

test("relationships of restricted entity types and aspects show no secret", () => {
  const { model, rules } = configuredModel(readConfig({}, {}));
  const { entityTypes, aspects } = restrictedNames(model);
  expect([...entityTypes].sort()).toEqual([...types, "inviteToken"].sort());
  expect([...aspects].sort()).toEqual(
    [
      ...["corpUserCredentials", "dataHubAccessTokenInfo", "dataHubAccessTokenKey"],
      ...["dataHubSecretKey", "dataHubSecretValue", "inviteToken", "inviteTokenKey"],
      ...secrets.map(([, aspect]) => aspect),
    ].sort(),
  );
  // Edges to the default view, and to the source that a request runs.
  expect([...aspects].filter((aspect) => rules.graph.has(aspect))).toEqual([
    ...["globalSettingsInfo", "dataHubExecutionRequestInput"],
  ]);
});

test("the details of a connection are restricted like its aspect", async () => {
  const query =
    '{ connection(urn: "urn:li:dataHubConnection:slack") { details { name json { blob } } } }';
  const { body } = await ask(service.client, query, {}, mina);
  expect(body.data.connection?.details ?? {}).not.toMatchObject({ name: "slack" });
});
