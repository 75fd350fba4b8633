/** Built-in policies and roles are stored, listed, evaluated, changed and deleted like others. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const policyUrn = (id: string) => `urn:li:dataHubPolicy:${id}`;
const EVERYBODY = policyUrn("7");
const LIST = "{ listPolicies(input: {count: 100}) { total policies { urn name state editable } } }";

let service: GuardedService;
let mina: Record<string, string>;
beforeAll(async () => {
  service = await guardedService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const call = (method: string, path: string, body?: unknown, headers = service.operator) =>
  service.client.call(method, path, body, headers);
const propose = (urn: string, value: unknown, more: object = {}, aspect = "dataHubPolicyInfo") =>
  call("POST", "/aspects?action=ingestProposal", { proposal: proposal(urn, aspect, value, more) });
const remove = (urn: string) => call("POST", "/entities?action=delete", { urn });
const read = async (urn: string) =>
  (await call("GET", `/entitiesV2/${encoded(urn)}`)).body.aspects.dataHubPolicyInfo?.value;
async function listed(): Promise<{ urn: string; state: string; editable: boolean }[]> {
  const { body } = await ask(service.client, LIST, {}, service.operator);
  expect(body.data.listPolicies.total).toBe(body.data.listPolicies.policies.length);
  return body.data.listPolicies.policies;
}
/** Whether mina may create a token for herself. */
async function mayMake(): Promise<boolean> {
  const query = `mutation { createAccessToken(input: {type: PERSONAL, actorUrn: "${MINA}",
    duration: ONE_HOUR, name: "own"}) { accessToken } }`;
  return (await ask(service.client, query, {}, mina)).body.errors === undefined;
}

describe("a fresh catalog", () => {
  test("a new catalog has the sixteen policies and three roles", async () => {
    const policies = await listed();
    expect(policies.map(({ urn }) => urn.slice("urn:li:dataHubPolicy:".length))).toEqual([
      ...["0", "1", "7", "admin-domain-manage-data-products-policy", "admin-metadata-policy"],
      ...["admin-platform-policy", "asset-owners-metadata-policy"],
      ...["editor-domain-manage-data-products-policy", "editor-metadata-policy"],
      ...["editor-metadata-policy-entities", "editor-platform-policy", "reader-metadata-policy"],
      ...["reader-platform-policy", "root-domain-manage-data-products-policy"],
      ...["view-dataset-sensitive", "view-entity-page-all"],
    ]);
    for (const { urn, state } of policies) expect(await read(urn)).toMatchObject({ state });
    const shown = await call("GET", `/entities/${encoded(policyUrn("0"))}`);
    const snapshot = shown.body.value["com.linkedin.metadata.snapshot.DataHubPolicySnapshot"];
    const [, info] = snapshot.aspects;
    expect(info["com.linkedin.policy.DataHubPolicyInfo"]).toMatchObject({
      actors: { users: ["urn:li:corpuser:datahub"], allUsers: false },
      privileges: expect.arrayContaining(["MANAGE_POLICIES", "RESTORE_INDICES_PRIVILEGE"]),
      ...{ type: "PLATFORM", state: "ACTIVE", editable: false },
    });
    for (const version of [0, 1]) {
      const path = `/aspects/${encoded(EVERYBODY)}?aspect=dataHubPolicyInfo&version=${version}`;
      const { status, body } = await call("GET", path);
      expect({ status, version: body.version }).toEqual({ status: 200, version });
    }
    for (const role of ["Admin", "Editor", "Reader"]) {
      const { body } = await call("GET", `/entitiesV2/${encoded(`urn:li:dataHubRole:${role}`)}`);
      expect(body.aspects.dataHubRoleInfo.value).toMatchObject({ name: role, editable: false });
    }
  });

  test("counts and lists contain the built-in policies and roles", async () => {
    const counted = await call("POST", "/entities?action=getTotalEntityCount", {
      entity: "dataHubPolicy",
    });
    expect(counted.body.value).toBe(16);
    const urns = await call("POST", "/entities?action=listUrns", {
      ...{ entity: "dataHubRole", start: 0, count: 10 },
    });
    expect(urns.body.value).toMatchObject({
      total: 3,
      entities: ["Admin", "Editor", "Reader"].map((id) => `urn:li:dataHubRole:${id}`),
    });
  });
});

describe("a default policy", () => {
  beforeAll(async () => {
    const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
    mina = asBearer(token);
  });

  test("a write changes a built-in policy", async () => {
    expect(await mayMake()).toBe(false);
    const value = await read(EVERYBODY);
    expect((await propose(EVERYBODY, { ...value, state: "ACTIVE" })).status).toBe(200);
    expect(await read(EVERYBODY)).toMatchObject({ state: "ACTIVE" });
    expect((await listed()).find(({ urn }) => urn === EVERYBODY)?.state).toBe("ACTIVE");
    expect(await mayMake()).toBe(true);
    // The built-in value is its first version.
    const path = `/aspects/${encoded(EVERYBODY)}?aspect=dataHubPolicyInfo&version=1`;
    const first = (await call("GET", path)).body.aspect["com.linkedin.policy.DataHubPolicyInfo"];
    expect(first).toEqual(value);
  });

  test("a deleted built-in policy does not exist until it is written again", async () => {
    const value = await read(EVERYBODY);
    expect((await remove(EVERYBODY)).status).toBe(200);
    expect(await read(EVERYBODY)).toBeUndefined();
    expect((await listed()).map(({ urn }) => urn)).not.toContain(EVERYBODY);
    expect(await mayMake()).toBe(false);
    expect((await propose(EVERYBODY, value)).status).toBe(200);
    expect(await mayMake()).toBe(true);
  });

  test("a built-in policy is deleted and patched like any other", async () => {
    const readers = policyUrn("reader-metadata-policy");
    const gone = await remove(readers);
    expect(gone.body.value.rows).toBeGreaterThan(0);
    expect((await listed()).map(({ urn }) => urn)).not.toContain(readers);
    const sensitive = policyUrn("view-dataset-sensitive");
    const patch = [{ op: "replace", path: "/state", value: "INACTIVE" }];
    expect((await propose(sensitive, { patch }, { changeType: "PATCH" })).status).toBe(200);
    expect(await read(sensitive)).toMatchObject({
      state: "INACTIVE",
      privileges: expect.arrayContaining(["VIEW_DATASET_PROFILE"]),
    });
    const update = `mutation($urn: String!, $input: PolicyUpdateInput!) {
      updatePolicy(urn: $urn, input: $input) }`;
    const input = {
      ...{ type: "METADATA", name: "Owners", state: "INACTIVE", privileges: [] },
      actors: { resourceOwners: true, allUsers: false, allGroups: false },
    };
    const owners = policyUrn("asset-owners-metadata-policy");
    const { body } = await ask(service.client, update, { urn: owners, input }, service.operator);
    expect(body.data).toEqual({ updatePolicy: owners });
    expect(await read(owners)).toMatchObject({ state: "INACTIVE", displayName: "Owners" });
  });

  test("a built-in policy keeps all patches that are sent at the same time", async () => {
    const editors = policyUrn("editor-metadata-policy");
    const added = Array.from({ length: 6 }, (_, n) => `X_${n}`);
    const answers = await Promise.all(
      added.map((value) =>
        propose(
          editors,
          { patch: [{ op: "add", path: "/privileges/-", value }] },
          { changeType: "PATCH" },
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(added.map(() => 200));
    const { privileges } = await read(editors);
    expect(privileges).toEqual(expect.arrayContaining(["EDIT_ENTITY_TAGS", ...added]));
  });

  test("the policies of the root user and of administrators are read-only", async () => {
    for (const id of ["0", "1", "admin-platform-policy", "admin-metadata-policy"]) {
      const value = await read(policyUrn(id));
      const answers = [
        await propose(policyUrn(id), { ...value, state: "INACTIVE" }),
        await remove(policyUrn(id)),
      ];
      for (const { status, body } of answers) {
        expect({ status, code: body.code }).toEqual({ status: 422, code: "invalid" });
        expect(body.message).toContain("is built-in and read-only");
      }
      expect(await read(policyUrn(id))).toEqual(value);
    }
  });

  test("a write of the values that a read-only policy has is accepted and changes nothing", async () => {
    const value = await read(policyUrn("0"));
    const { status } = await propose(policyUrn("0"), value);
    expect(status).toBe(200);
    expect(await read(policyUrn("0"))).toEqual(value);
  });

  test("the policies of the root user and of administrators keep their actors", async () => {
    for (const [id, urn] of [
      ["0", "urn:li:corpuser:datahub"],
      ["admin-platform-policy", "urn:li:dataHubRole:Admin"],
    ] as const) {
      const before = await read(policyUrn(id));
      const { status, body } = await call("POST", "/entities?action=deleteReferences", { urn });
      expect({ status, code: body.code }).toEqual({ status: 422, code: "invalid" });
      expect(body.message).toContain("read-only policies refer to");
      expect(await read(policyUrn(id))).toEqual(before);
    }
  });

  test("a policy with an unknown criterion is rejected", async () => {
    const criteria = [{ field: "COLOUR", values: ["red"] }];
    const value = await read(policyUrn("1"));
    const asked = { ...value, editable: true, resources: { filter: { criteria } } };
    const { status, body } = await propose(policyUrn("odd"), asked);
    expect({ status, code: body.code }).toEqual({ status: 422, code: "invalid" });
    expect(body.message).toContain('on "COLOUR"');
  });

  test("only users that manage policies may write policies", async () => {
    const value = await read(policyUrn("view-entity-page-all"));
    const { status } = await call(
      "POST",
      "/aspects?action=ingestProposal",
      { proposal: proposal(policyUrn("view-entity-page-all"), "dataHubPolicyInfo", value) },
      mina,
    );
    expect(status).toBe(403);
    const { body } = await ask(service.client, LIST, {}, mina);
    expect(body.errors[0].extensions).toMatchObject({ code: 403 });
  });
});
