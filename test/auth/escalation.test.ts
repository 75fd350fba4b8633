/**
 * Privilege escalation: a user without privileges cannot grant any, through any endpoint that
 * writes and in any form of the request.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const ADMIN = "urn:li:dataHubRole:Admin";
const GROUP = "urn:li:corpGroup:admins";
const POLICY = "urn:li:dataHubPolicy:mine";
const stamp = { time: 1, actor: ROOT };
let service: GuardedService;
let mina: Record<string, string>;
let tokenUrn: string;

const call = (method: string, path: string, body?: unknown, headers = mina) =>
  service.client.call(method, path, body, headers);

beforeAll(async () => {
  service = await guardedService();
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  const other = await makeToken(service.client, {}, service.operator);
  tokenUrn = `urn:li:dataHubAccessToken:${other.id}`;
  const info = { displayName: "admins", admins: [], members: [], groups: [] };
  for (const one of [
    proposal(GROUP, "corpGroupInfo", info),
    proposal(GROUP, "roleMembership", { roles: [ADMIN] }),
    proposal(GROUP, "ownership", {
      owners: [{ owner: ROOT, type: "DATAOWNER" }],
      lastModified: stamp,
    }),
    proposal(ROOT, "status", { removed: false }),
  ]) {
    const path = "/aspects?action=ingestProposal";
    expect((await call("POST", path, { proposal: one }, service.operator)).status).toBe(200);
  }
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const everything = {
  ...{ displayName: "mine", description: "", type: "PLATFORM", state: "ACTIVE" },
  privileges: ["MANAGE_POLICIES", "MANAGE_ACCESS_TOKENS", "MANAGE_USERS_AND_GROUPS"],
  actors: { allUsers: true },
};

/** Writes that would grant privileges, or revoke those of others: urn, aspect, value. */
const wanted: readonly (readonly [string, string, object])[] = [
  [POLICY, "dataHubPolicyInfo", everything],
  [MINA, "roleMembership", { roles: [ADMIN] }],
  [MINA, "groupMembership", { groups: [GROUP] }],
  [MINA, "nativeGroupMembership", { nativeGroups: [GROUP] }],
  [ROOT, "corpUserStatus", { status: "SUSPENDED", lastModified: stamp }],
  [ROOT, "status", { removed: true }],
  [GROUP, "ownership", { owners: [{ owner: MINA, type: "DATAOWNER" }], lastModified: stamp }],
];
const recordOf: Readonly<Record<string, string>> = {
  ...{ dataHubPolicyInfo: "DataHubPolicyInfo", roleMembership: "RoleMembership" },
  ...{ groupMembership: "GroupMembership", nativeGroupMembership: "NativeGroupMembership" },
  ...{ corpUserStatus: "CorpUserStatus", status: "Status", ownership: "Ownership" },
};

type Endpoint = readonly [
  name: string,
  request: (urn: string, aspect: string, value: object) => readonly [string, string, unknown?],
];
const typeOf = (urn: string): string => urn.split(":")[2] ?? "";
const added = (value: object) => ({
  patch: Object.entries(value).map(([name, one]) => ({ op: "add", path: `/${name}`, value: one })),
});
const endpoints: readonly Endpoint[] = [
  [
    "POST of entities, v3",
    (urn, aspect, value) => [
      "POST",
      `/openapi/v3/entity/${typeOf(urn)}?async=false`,
      [{ urn, [aspect]: { value } }],
    ],
  ],
  [
    "POST of entities, later",
    (urn, aspect, value) => [
      "POST",
      `/gms/openapi/v3/entity/${typeOf(urn).toLowerCase()}?async=true`,
      [{ urn, [aspect]: { value } }],
    ],
  ],
  [
    "PATCH of entities",
    (urn, aspect, value) => [
      "PATCH",
      `/openapi/v3/entity/${typeOf(urn)}?async=false`,
      [{ urn, [aspect]: { value: added(value) } }],
    ],
  ],
  [
    "POST of an aspect",
    (urn, aspect, value) => [
      "POST",
      `/openapi/v3/entity/${typeOf(urn)}/${encoded(urn)}/${aspect}`,
      { value },
    ],
  ],
  [
    "PATCH of an aspect, v2",
    (urn, aspect, value) => [
      "PATCH",
      `/openapi/v2/entity/${typeOf(urn)}/${encoded(urn)}/${aspect}`,
      added(value),
    ],
  ],
  [
    "DELETE of an aspect",
    (urn, aspect) => ["DELETE", `/openapi/v3/entity/${typeOf(urn)}/${encoded(urn)}/${aspect}`],
  ],
  [
    "POST of several types",
    (urn, aspect, value) => [
      "POST",
      "/openapi/v3/entity/generic?async=false",
      {
        tag: [{ urn: "urn:li:tag:beside", tagProperties: { value: { name: "beside" } } }],
        [typeOf(urn)]: [{ urn, [aspect]: { value } }],
      },
    ],
  ],
  [
    "POST of records, v1",
    (urn, aspect, value) => [
      "POST",
      "/openapi/entities/v1",
      [
        {
          ...{ entityType: typeOf(urn), entityUrn: urn },
          aspect: { __type: recordOf[aspect], ...value },
        },
      ],
    ],
  ],
  [
    "POST of proposals",
    (urn, aspect, value) => [
      "POST",
      "/openapi/platform/entities/v1",
      [proposal(urn, aspect, value)],
    ],
  ],
];

async function privilegesOf(): Promise<unknown> {
  const query = `{ me { platformPrivileges {
    generatePersonalAccessTokens manageTokens managePolicies manageIdentities
  } } }`;
  const { body } = await ask(service.client, query, {}, mina);
  return body.data.me.platformPrivileges;
}
const none = {
  ...{ generatePersonalAccessTokens: false, manageTokens: false },
  ...{ managePolicies: false, manageIdentities: false },
};
const expectNoPrivileges = async () => {
  expect(await privilegesOf()).toEqual(none);
  const root = await call("POST", "/operations?action=listJobs", {}, service.operator);
  expect(root.status).toBe(200);
};

describe("escalation by OpenAPI", () => {
  test.each(endpoints)("%s is rejected", async (_, request) => {
    for (const [urn, aspect, value] of wanted) {
      const { status, body } = await call(...request(urn, aspect, value));
      expect({ status, code: body.code }, `${urn} ${aspect} ${JSON.stringify(body)}`).toEqual({
        ...{ status: 403, code: "forbidden" },
      });
    }
    await expectNoPrivileges();
    const beside = { urn: "urn:li:tag:beside" };
    expect((await call("POST", "/entities?action=exists", beside)).body.value).toBe(false);
  });

  test("DELETE of whole entities is rejected", async () => {
    for (const urn of [ROOT, GROUP, tokenUrn, "urn:li:dataHubPolicy:0"]) {
      for (const path of [
        `/openapi/v3/entity/${typeOf(urn)}/${encoded(urn)}`,
        // Restricted aspects are invisible, so there is nothing to clear.
        ...([ROOT, GROUP].includes(urn)
          ? [`/openapi/v2/entity/${typeOf(urn)}/${encoded(urn)}?clear=true`]
          : []),
        `/openapi/entities/v1?urns=${encoded(urn)}&soft=true`,
        `/openapi/entities/v1?urns=${encoded(urn)}&soft=false`,
      ]) {
        expect((await call("DELETE", path)).status, path).toBe(403);
      }
    }
    await expectNoPrivileges();
  });
});

describe("escalation by GraphQL", () => {
  test.each([
    `batchAssignRole(input: { roleUrn: "${ADMIN}", actors: ["${MINA}"] })`,
    `batchAssignRole(input: { actors: ["${GROUP}"] })`,
    `addGroupMembers(input: { groupUrn: "${GROUP}", userUrns: ["${MINA}"] })`,
    `removeGroup(urn: "${GROUP}")`,
    `addOwner(input: { ownerUrn: "${MINA}", ownerEntityType: CORP_USER, type: TECHNICAL_OWNER, resourceUrn: "${GROUP}" })`,
    `removeOwner(input: { ownerUrn: "${ROOT}", resourceUrn: "${GROUP}" })`,
    `batchUpdateSoftDeleted(input: { urns: ["${ROOT}"], deleted: true })`,
    `createAccessToken(input: { type: PERSONAL, actorUrn: "${ROOT}", duration: ONE_HOUR, name: "x" }) { accessToken }`,
    `createAccessToken(input: { type: SERVICE_ACCOUNT, actorUrn: "${MINA}", duration: ONE_HOUR, name: "x" }) { accessToken }`,
  ])("%s is rejected", async (field) => {
    const { body } = await ask(service.client, `mutation { ${field} }`, {}, mina);
    const text = JSON.stringify(body);
    expect(body.errors?.[0].extensions.code, text).toBe(/Cannot query/.test(text) ? 400 : 403);
    await expectNoPrivileges();
  });
});
