/**
 * The past of a deleted entity: callers whose permission depends on its aspects do not read it,
 * neither after the delete nor after it is created again. Callers with permission on the urn or
 * type do.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const SECRET = "quincunx";
const mallory = "urn:li:corpuser:mallory";
const typer = "urn:li:corpuser:typer";
const namer = "urn:li:corpuser:namer";
const table = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,past.${name},PROD)`;

let service: GuardedService;
const bearers: Record<string, Record<string, string>> = {};
let position = 0;

async function write(urn: string, aspect: string, value: unknown, more = {}, who?: string) {
  const reply = await service.client.call(
    "POST",
    "/aspects?action=ingestProposal",
    { proposal: proposal(urn, aspect, value, more) },
    who === undefined ? service.operator : bearers[who],
  );
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.position ?? 0;
}

const policy = (state: string, user: string | undefined, criteria: readonly object[]) => ({
  ...{ displayName: "p", description: "", type: "METADATA", state },
  actors: user === undefined ? { allUsers: true } : { users: [user] },
  privileges: ["VIEW_ENTITY_PAGE", "CREATE_ENTITY"],
  resources: { filter: { criteria } },
});
const datasets = { field: "TYPE", condition: "EQUALS", values: ["dataset"] };
const notSecret = { field: "DOMAIN", condition: "NOT_EQUALS", values: ["urn:li:domain:sec"] };

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  for (const actorUrn of [mallory, typer, namer]) {
    const { token } = await makeToken(service.client, { actorUrn }, service.operator);
    bearers[actorUrn] = asBearer(token);
  }
  const all = "urn:li:dataHubPolicy:view-entity-page-all";
  await write(all, "dataHubPolicyInfo", policy("INACTIVE", undefined, []));
  const named = { field: "URN", condition: "STARTS_WITH", values: [table("").slice(0, -6)] };
  const rules = { mallory: [datasets, notSecret], typer: [datasets], namer: [named] };
  for (const [name, criteria] of Object.entries(rules)) {
    const own = policy("ACTIVE", `urn:li:corpuser:${name}`, criteria);
    await write(`urn:li:dataHubPolicy:${name}`, "dataHubPolicyInfo", own);
  }
  for (const urn of [table("gone"), table("again")]) {
    await write(urn, "domains", { domains: ["urn:li:domain:sec"] });
    await write(urn, "datasetProperties", { name: "t", description: SECRET });
    position = await write(urn, "datasetProfile", { timestampMillis: 1, rowCount: 424_243 });
  }
  for (const urn of [table("gone"), table("again")]) {
    const reply = await service.client.call(
      "POST",
      "/entities?action=delete",
      { urn },
      service.operator,
    );
    expect(reply.status).toBe(200);
  }
  await write(table("again"), "datasetProperties", { name: "of this life" });
});
afterAll(() => service?.[Symbol.asyncDispose]());

const key = (urn: string) => encoded(urn);
type Read = readonly [name: string, path: (urn: string) => string];
const timelineRead: Read = [
  "a timeline",
  (urn) => `/openapi/v2/timeline/v1/${key(urn)}?categories=DOCUMENTATION,DOMAIN&raw=true`,
];
const reads: readonly Read[] = [
  ["a version", (urn) => `/aspects/${key(urn)}?aspect=datasetProperties&version=1`],
  ["as of a position", (urn) => `/entitiesV2/${key(urn)}?asOfPosition=${position}`],
  ["OpenAPI", (urn) => `/openapi/v3/entity/dataset/${key(urn)}?asOfPosition=${position}`],
  ["changes", (urn) => `/changes?urn=${key(urn)}&after=0&previous=true`],
  timelineRead,
  [
    "versions",
    (urn) => `/entitiesVersionedV2?ids=List((urn:${key(urn)},versionStamp:datasetProperties%3A1))`,
  ],
];
const textOf = async (path: string, who: string): Promise<string> => {
  const { body } = await service.client.call("GET", path, undefined, bearers[who]);
  return JSON.stringify(body);
};

describe.each(["gone", "again"])("the deleted entity past.%s", (name) => {
  test.each(reads)(
    "%s shows no deleted values to a caller who was not permitted then",
    async (_, path) => {
      const text = await textOf(path(table(name)), mallory);
      expect(text).not.toMatch(/quincunx|domain:sec|424243/);
    },
  );

  test("events as of that position are hidden, too", async () => {
    const query = { urn: table(name), entity: "dataset", aspect: "datasetProfile" };
    const path = `/aspects?action=getTimeseriesAspectValues&asOfPosition=${position}`;
    const values = async (who: string) =>
      (await service.client.call("POST", path, query, bearers[who])).body.value.values;
    expect(await values(mallory)).toEqual([]);
    expect(await values(typer)).toHaveLength(1);
  });

  test.each([typer, namer])("%s reads the past, permitted by the type or urn", async (who) => {
    for (const [what, path] of reads.slice(0, 4)) {
      expect(await textOf(path(table(name)), who), what).toContain(SECRET);
    }
  });

  test("a timeline shows the past before a hard delete to no caller", async () => {
    const [, path] = timelineRead;
    for (const who of [typer, namer]) {
      expect(await textOf(path(table(name)), who)).not.toContain(SECRET);
    }
  });
});

test("the present and every later write are readable", async () => {
  const path = `/aspects/${key(table("again"))}?aspect=datasetProperties&version=`;
  expect(await textOf(`${path}0`, mallory)).toContain("of this life");
  expect(await textOf(`${path}2`, mallory)).toContain("of this life");
  const changes = `/changes?urn=${key(table("again"))}&after=0`;
  expect(await textOf(changes, mallory)).toContain("of this life");
});
