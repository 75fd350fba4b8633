/**
 * What an entity was before it was deleted: those who see it by what there is of it see nothing of
 * that, neither when it is gone nor when it is there anew; those who see it whatever it is, do.
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
let moment = 0;

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
  for (const urn of [table("gone"), table("anew")]) {
    await write(urn, "domains", { domains: ["urn:li:domain:sec"] });
    await write(urn, "datasetProperties", { name: "t", description: SECRET });
    moment = await write(urn, "datasetProfile", { timestampMillis: 1, rowCount: 424_243 });
  }
  for (const urn of [table("gone"), table("anew")]) {
    const reply = await service.client.call(
      "POST",
      "/entities?action=delete",
      { urn },
      service.operator,
    );
    expect(reply.status).toBe(200);
  }
  await write(table("anew"), "datasetProperties", { name: "of this life" });
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
  ["as of a position", (urn) => `/entitiesV2/${key(urn)}?asOfPosition=${moment}`],
  ["OpenAPI", (urn) => `/openapi/v3/entity/dataset/${key(urn)}?asOfPosition=${moment}`],
  ["changes", (urn) => `/changes?urn=${key(urn)}&after=0&previous=true`],
  timelineRead,
  [
    "versions",
    (urn) => `/entitiesVersionedV2?ids=List((urn:${key(urn)},versionStamp:datasetProperties%3A1))`,
  ],
];
const told = async (path: string, who: string): Promise<string> => {
  const { body } = await service.client.call("GET", path, undefined, bearers[who]);
  return JSON.stringify(body);
};

describe.each(["gone", "anew"])("%s", (name) => {
  test.each(reads)("%s tells nothing of it", async (_, path) => {
    const text = await told(path(table(name)), mallory);
    expect(text).not.toMatch(/quincunx|domain:sec|424243/);
  });

  test("events as of then are hidden, too", async () => {
    const query = { urn: table(name), entity: "dataset", aspect: "datasetProfile" };
    const path = `/aspects?action=getTimeseriesAspectValues&asOfPosition=${moment}`;
    const values = async (who: string) =>
      (await service.client.call("POST", path, query, bearers[who])).body.value.values;
    expect(await values(mallory)).toEqual([]);
    expect(await values(typer)).toHaveLength(1);
  });

  test.each([typer, namer])("%s may see it by its urn and reads its past", async (who) => {
    for (const [what, path] of reads.slice(0, 4)) {
      expect(await told(path(table(name)), who), what).toContain(SECRET);
    }
  });

  test("a timeline shows the past before a hard delete to no caller", async () => {
    const [, path] = timelineRead;
    for (const who of [typer, namer]) {
      expect(await told(path(table(name)), who)).not.toContain(SECRET);
    }
  });
});

test("what it is now is seen, and all that was told since", async () => {
  const path = `/aspects/${key(table("anew"))}?aspect=datasetProperties&version=`;
  expect(await told(`${path}0`, mallory)).toContain("of this life");
  expect(await told(`${path}2`, mallory)).toContain("of this life");
  const changes = `/changes?urn=${key(table("anew"))}&after=0`;
  expect(await told(changes, mallory)).toContain("of this life");
});
