/**
 * Writes do not make a hidden entity readable: neither writes to it nor to entities that its
 * permission depends on.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const HIDDEN = dataset("hidden.seeds");
const OPEN = dataset("open.seeds");
const SECRET = "urn:li:tag:secret";
let service: GuardedService;
let mina: Record<string, string>;

const post = (path: string, body: object, headers = mina) =>
  service.client.call("POST", path, body, headers);
async function write(urn: string, aspect: string, value: unknown): Promise<void> {
  const body = { proposal: proposal(urn, aspect, value) };
  const reply = await post("/aspects?action=ingestProposal", body, service.operator);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}
const policy = (state: string, actors: object, criteria: object[]) => ({
  ...{ displayName: "p", description: "", type: "METADATA", state, actors },
  privileges: ["VIEW_ENTITY_PAGE"],
  resources: { filter: { criteria } },
});
const owned = {
  owners: [{ owner: MINA, type: "DATAOWNER" }],
  lastModified: { time: 1, actor: MINA },
};
const sees = async (urn: string): Promise<boolean> => {
  const { body } = await service.client.call("GET", `/entitiesV2/${encoded(urn)}`, undefined, mina);
  return "datasetProperties" in body.aspects;
};

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  for (const urn of [HIDDEN, OPEN]) await write(urn, "datasetProperties", { name: "seeds" });
  await write(SECRET, "tagProperties", { name: "secret" });
  await write(HIDDEN, "globalTags", { tags: [{ tag: SECRET }] });
  await write(OPEN, "globalTags", { tags: [{ tag: "urn:li:tag:plain" }] });
  const id = (last: string) => `urn:li:dataHubPolicy:${last}`;
  await write(id("own"), "dataHubPolicyInfo", policy("ACTIVE", { resourceOwners: true }, []));
  const untagged = [{ field: "TAG", condition: "NOT_EQUALS", values: [SECRET] }];
  await write(id("untagged"), "dataHubPolicyInfo", policy("ACTIVE", { allUsers: true }, untagged));
  await write(id("view-entity-page-all"), "dataHubPolicyInfo", policy("INACTIVE", {}, []));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("control: the hidden entity is not readable, the open one is", async () => {
  expect([await sees(HIDDEN), await sees(OPEN)]).toEqual([false, true]);
});

describe("a write to a hidden entity is rejected", () => {
  const mine = proposal(HIDDEN, "ownership", owned);
  const key = { platform: "urn:li:dataPlatform:hive", name: "hidden.seeds", origin: "PROD" };
  const patch = [{ op: "remove", path: "/tags" }];
  const profile = { timestampMillis: 1_772_409_600_000, rowCount: 7 };
  test.each<[string, string, object]>([
    ["alone", "ingestProposal", { proposal: mine }],
    // A CREATE is rejected as if the entity existed, so it cannot be taken over.
    ["as a CREATE", "ingestProposal", { proposal: { ...mine, changeType: "CREATE" } }],
    [
      "as a CREATE_ENTITY",
      "ingestProposal",
      {
        proposal: {
          ...mine,
          aspectName: "datasetKey",
          changeType: "CREATE_ENTITY",
          aspect: undefined,
        },
      },
    ],
    [
      "in another namespace",
      "ingestProposal",
      { proposal: { ...mine, entityUrn: HIDDEN.replace("urn:li:dataset", "urn:acme:dataset") } },
    ],
    [
      "named by its key",
      "ingestProposal",
      {
        proposal: {
          ...{ ...mine, entityUrn: undefined },
          entityKeyAspect: { value: JSON.stringify(key), contentType: "application/json" },
        },
      },
    ],
    [
      "as a patch",
      "ingestProposal",
      {
        proposal: {
          ...proposal(HIDDEN, "globalTags", patch),
          changeType: "PATCH",
          aspect: { value: JSON.stringify(patch), contentType: "application/json-patch+json" },
        },
      },
    ],
    [
      "among others",
      "ingestProposalBatch",
      { proposals: [proposal(OPEN, "ownership", owned), mine] },
    ],
    ["as an event", "ingestProposal", { proposal: proposal(HIDDEN, "datasetProfile", profile) }],
    [
      "as a delete of an aspect",
      "ingestProposal",
      { proposal: { ...mine, aspectName: "globalTags", changeType: "DELETE", aspect: undefined } },
    ],
  ])("%s", async (_, action, body) => {
    const reply = await post(`/aspects?action=${action}`, body);
    expect({ status: reply.status, code: reply.body.code }).toEqual({
      status: 403,
      code: "forbidden",
    });
    expect(await sees(HIDDEN)).toBe(false);
  });

  test("as a snapshot, or several", async () => {
    const value = {
      "com.linkedin.metadata.snapshot.DatasetSnapshot": {
        urn: HIDDEN,
        aspects: [{ "com.linkedin.common.Ownership": owned }],
      },
    };
    expect((await post("/entities?action=ingest", { entity: { value } })).status).toBe(403);
    expect((await post("/entities?action=batchIngest", { entities: [{ value }] })).status).toBe(
      403,
    );
    expect(await sees(HIDDEN)).toBe(false);
  });
});

test("invalid proposals are rejected as usual, and reveal nothing", async () => {
  const bad = proposal("urn:li:nothing:x", "ownership", owned);
  const mine = proposal(HIDDEN, "ownership", owned);
  for (const proposals of [
    [bad, mine],
    [mine, bad],
  ]) {
    const { status } = await post("/aspects?action=ingestProposalBatch", { proposals });
    expect(status).toBe(422);
  }
  expect(await sees(HIDDEN)).toBe(false);
});

test("deleteReferences changes only readable entities", async () => {
  const path = "/entities?action=deleteReferences";
  const { status, body } = await post(path, { urn: SECRET, dryRun: false });
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toContain("hidden");
  expect(await sees(HIDDEN)).toBe(false);
  const whole = await post(path, { urn: SECRET, dryRun: true }, service.operator);
  expect(whole.body.value.total).toBe(1);
});

test("readable and new entities are written as usual", async () => {
  for (const urn of [OPEN, dataset("new.seeds")]) {
    const body = { proposal: proposal(urn, "ownership", owned) };
    expect((await post("/aspects?action=ingestProposal", body)).status).toBe(200);
  }
});
