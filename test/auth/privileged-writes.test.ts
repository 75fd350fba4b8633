/** Aspects that decide about access require their privileges, whatever the form of the write. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const POLICY = "urn:li:dataHubPolicy:mine";
let service: GuardedService;
let mina: Record<string, string>;
let tokenUrn: string;
beforeAll(async () => {
  service = await guardedService();
  const { token, id } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  for (const one of [
    source("urn:li:dataHubIngestionSource:managed", "default"),
    request("default", "managed"),
  ]) {
    expect((await ingest(one, service.operator)).status).toBe(200);
  }
  tokenUrn = `urn:li:dataHubAccessToken:${id}`;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const post = (path: string, body: object, headers: Record<string, string>) =>
  service.client.call("POST", path, body, headers);
const ingest = (one: object, headers: Record<string, string>) =>
  post("/aspects?action=ingestProposal", { proposal: one }, headers);

const everything = {
  displayName: "mine",
  description: "",
  type: "PLATFORM",
  state: "ACTIVE",
  privileges: ["MANAGE_POLICIES", "MANAGE_ACCESS_TOKENS", "RESTORE_INDICES_PRIVILEGE"],
  actors: { allUsers: true },
};
const stamp = { time: 1, actor: ROOT };

function source(urn: string, executorId: string) {
  const config = { recipe: "{}", executorId };
  return proposal(urn, "dataHubIngestionSourceInfo", { name: "mine", type: "csv", config });
}

function result(id: string) {
  const value = { status: "SUCCESS", startTimeMs: 1 };
  return proposal(`urn:li:dataHubExecutionRequest:${id}`, "dataHubExecutionRequestResult", value);
}

function request(executorId: string, id = "run") {
  return proposal(`urn:li:dataHubExecutionRequest:${id}`, "dataHubExecutionRequestInput", {
    ...{ task: "RUN_INGEST", args: { recipe: "{}" }, executorId, requestedAt: 1 },
    source: { type: "CLI_INGESTION_SOURCE" },
  });
}

const guarded: readonly (readonly [string, object])[] = [
  ["a policy", proposal(POLICY, "dataHubPolicyInfo", everything)],
  [
    "a policy in another namespace and letter case",
    {
      ...proposal("urn:acme:dataHubPolicy:mine", "dataHubPolicyInfo", everything),
      entityType: "DATAHUBPOLICY",
    },
  ],
  [
    "a policy named by its key alone",
    {
      ...proposal(POLICY, "dataHubPolicyInfo", everything),
      entityUrn: undefined,
      entityKeyAspect: { value: '{"id":"mine"}', contentType: "application/json" },
    },
  ],
  [
    "a role",
    proposal("urn:li:dataHubRole:Admin", "dataHubRoleInfo", { name: "a", description: "" }),
  ],
  [
    "a token",
    proposal(tokenUrnOf("x"), "dataHubAccessTokenInfo", {
      name: "x",
      actorUrn: MINA,
      ownerUrn: MINA,
      createdAt: 1,
    }),
  ],
  ["roles of oneself", proposal(MINA, "roleMembership", { roles: ["urn:li:dataHubRole:Admin"] })],
  ["groups of oneself", proposal(MINA, "groupMembership", { groups: ["urn:li:corpGroup:admins"] })],
  ["native groups", proposal(MINA, "nativeGroupMembership", { nativeGroups: [] })],
  [
    "the state of a user",
    proposal(ROOT, "corpUserStatus", { status: "SUSPENDED", lastModified: stamp }),
  ],
  ["the removal of a user", proposal(ROOT, "status", { removed: true })],
  ["the mark of a service account", proposal(MINA, "subTypes", { typeNames: ["SERVICE_ACCOUNT"] })],
  ["roles of a group", proposal("urn:li:corpGroup:g", "roleMembership", { roles: [] })],
  ["a delete of a user", { ...proposal(ROOT, "corpUserKey", {}), changeType: "DELETE" }],
  ["a source of ingestion", source("urn:li:dataHubIngestionSource:nightly", "default")],
  [
    "a report in place of a source of an executor",
    source("urn:li:dataHubIngestionSource:managed", "__datahub_cli_"),
  ],
  [
    "a delete of a source in the form of a report",
    { ...source("urn:li:dataHubIngestionSource:nightly", "__datahub_cli_"), changeType: "DELETE" },
  ],
  ["a report in place of a request", request("__datahub_cli_", "managed")],
  ["the result of a request of an executor", result("managed")],
  ["a request to run a recipe", request("default")],
  [
    "a signal to an executor",
    proposal("urn:li:dataHubExecutionRequest:run", "dataHubExecutionRequestSignal", {
      ...{ signal: "KILL", executorId: "default", createdAt: stamp },
    }),
  ],
  [
    "a patch of roles",
    {
      ...proposal(MINA, "roleMembership", []),
      changeType: "PATCH",
      aspect: {
        value: JSON.stringify([{ op: "add", path: "/roles", value: ["urn:li:dataHubRole:Admin"] }]),
        contentType: "application/json-patch+json",
      },
    },
  ],
];

function tokenUrnOf(id: string): string {
  return `urn:li:dataHubAccessToken:${id}`;
}

describe("a user without privileges may not write", () => {
  test.each(guarded)("%s", async (_, one) => {
    const denied = { status: 403, code: "forbidden" };
    const single = await ingest(one, mina);
    expect({ status: single.status, code: single.body.code }).toEqual(denied);
    // The same in a batch, of which nothing is written.
    const tag = proposal("urn:li:tag:beside", "tagProperties", { name: "beside" });
    const batch = await post(
      "/aspects?action=ingestProposalBatch",
      { proposals: [tag, one] },
      mina,
    );
    expect({ status: batch.status, code: batch.body.code }).toEqual(denied);
    const beside = await post("/entities?action=exists", { urn: "urn:li:tag:beside" }, mina);
    expect(beside.body.value).toBe(false);
  });

  test("a snapshot of a policy or of a user's groups", async () => {
    const policy = {
      "com.linkedin.metadata.snapshot.DataHubPolicySnapshot": {
        urn: POLICY,
        aspects: [{ "com.linkedin.policy.DataHubPolicyInfo": everything }],
      },
    };
    const user = {
      "com.linkedin.metadata.snapshot.CorpUserSnapshot": {
        urn: MINA,
        aspects: [
          { "com.linkedin.identity.GroupMembership": { groups: ["urn:li:corpGroup:admins"] } },
        ],
      },
    };
    for (const value of [policy, user]) {
      expect((await post("/entities?action=ingest", { entity: { value } }, mina)).status).toBe(403);
      expect(
        (await post("/entities?action=batchIngest", { entities: [{ value }] }, mina)).status,
      ).toBe(403);
    }
  });

  test("a delete of a token, a user or a policy, or of references to them", async () => {
    for (const urn of [tokenUrn, ROOT, "urn:acme:corpuser:datahub", "urn:li:dataHubPolicy:0"]) {
      expect((await post("/entities?action=delete", { urn }, mina)).status, urn).toBe(403);
      expect((await post("/entities?action=deleteReferences", { urn }, mina)).status, urn).toBe(
        403,
      );
    }
  });
});

test("a user without the privilege to delete may not roll back a run, through any endpoint", async () => {
  const one = proposal("urn:li:tag:undone", "tagProperties", { name: "undone" });
  const run = { systemMetadata: { runId: "nightly", lastObserved: 1 } };
  expect((await ingest({ ...one, ...run }, service.operator)).status).toBe(200);
  const rest = await post("/runs?action=rollback", { runId: "nightly", dryRun: false }, mina);
  expect(rest.status).toBe(403);
  const query = `mutation { rollbackIngestion(input: { runId: "nightly" }) }`;
  const { body } = await post("/api/graphql", { query }, mina);
  expect(body.errors?.[0].extensions.code).toBe(403);
  const exists = { urn: "urn:li:tag:undone", includeSoftDelete: false };
  const there = await post("/entities?action=exists", exists, mina);
  expect(there.body.value).toBe(true);
});

describe("a user with the privilege may write", () => {
  test.each(guarded)("%s", async (_, one) => {
    const reply = await ingest(one, service.operator);
    expect([200, 404, 422], JSON.stringify(reply.body)).toContain(reply.status);
    expect(reply.status === 404 || reply.status === 422 ? reply.body.message : "").not.toContain(
      "privilege",
    );
  });

  test("control: every user may write other aspects", async () => {
    for (const one of [
      proposal("urn:li:tag:a", "tagProperties", { name: "a" }),
      proposal(MINA, "corpUserInfo", { active: true, displayName: "Mina" }),
      proposal("urn:li:corpGroup:g", "corpGroupInfo", { admins: [], members: [], groups: [] }),
      // The reports of DataHub's command line on its own runs.
      source("urn:li:dataHubIngestionSource:cli-6f1e", "__datahub_cli_"),
      request("__datahub_cli_", "reported"),
      result("reported"),
    ]) {
      const { status, body } = await ingest(one, mina);
      expect(status, JSON.stringify(body)).toBe(200);
    }
  });
});

test("writes do not change the built-in policies of the root user", async () => {
  const inactive = { ...everything, state: "INACTIVE" };
  for (const [id, status] of [
    ["mine", 200],
    ["0", 422],
    ["1", 422],
    ["admin-platform-policy", 422],
    ["mine", 200],
  ] as const) {
    const one = proposal(`urn:li:dataHubPolicy:${id}`, "dataHubPolicyInfo", inactive);
    expect((await ingest(one, service.operator)).status, id).toBe(status);
  }
});
