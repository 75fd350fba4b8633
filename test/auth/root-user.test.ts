/** The root user exists in a new catalog, is changed like any user, and cannot be deleted. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const SHOWN = { active: true, displayName: "DataHub", title: "DataHub" };
const INFO = { ...SHOWN, customProperties: {}, system: true };
const ME = "{ me { corpUser { urn username properties { active displayName title } } } }";

let service: GuardedService;
let root: Record<string, string>;
beforeAll(async () => {
  service = await guardedService();
  root = service.operator;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const call = (method: string, path: string, body?: unknown) =>
  service.client.call(method, path, body, root);
const aspects = async () => (await call("GET", `/entitiesV2/${encoded(ROOT)}`)).body.aspects;
const propose = (aspect: string, value: unknown, more: object = {}) =>
  call("POST", "/aspects?action=ingestProposal", { proposal: proposal(ROOT, aspect, value, more) });
async function me(headers = root) {
  const { body } = await ask(service.client, ME, {}, headers);
  return body.data.me.corpUser;
}
async function counted(): Promise<number> {
  const { body } = await call("POST", "/entities?action=getTotalEntityCount", {
    entity: "corpuser",
  });
  return body.value;
}

describe("in a fresh catalog the root user", () => {
  test("the root user has the values of DataHub's first start", async () => {
    expect((await aspects()).corpUserInfo.value).toEqual(INFO);
    expect((await aspects()).corpUserKey.value).toEqual({ username: "datahub" });
    const { body } = await call("GET", `/aspects/${encoded(ROOT)}?aspect=corpUserInfo&version=0`);
    expect(body.aspect["com.linkedin.identity.CorpUserInfo"]).toEqual(INFO);
    const snapshot = await call("GET", `/entities/${encoded(ROOT)}`);
    expect(JSON.stringify(snapshot.body)).toContain('"title":"DataHub"');
    const exists = await call("POST", "/entities?action=exists", { urn: ROOT });
    expect(exists.body.value).toBe(true);
  });

  test("the root user can read itself", async () => {
    expect(await me()).toEqual({ urn: ROOT, username: "datahub", properties: SHOWN });
  });

  test("the root user is counted and listed, even when it has a token", async () => {
    const { token } = await makeToken(service.client, { actorUrn: ROOT }, root);
    expect(await me(asBearer(token))).toEqual({
      ...{ urn: ROOT, username: "datahub", properties: SHOWN },
    });
    expect(await counted()).toBe(1);
    const listed = await call("POST", "/entities?action=listUrns", {
      ...{ entity: "corpuser", start: 0, count: 10 },
    });
    expect(listed.body.value).toMatchObject({ total: 1, entities: [ROOT] });
  });
});

describe("after a write", () => {
  test("the root user keeps the values that the write omits, and its first version", async () => {
    const patch = [{ op: "add", path: "/email", value: "root@beds.example" }];
    expect((await propose("corpUserInfo", { patch }, { changeType: "PATCH" })).status).toBe(200);
    expect((await propose("corpUserStatus", ACTIVE)).status).toBe(200);
    expect((await aspects()).corpUserInfo.value).toEqual({ ...INFO, email: "root@beds.example" });
    const first = await call("GET", `/aspects/${encoded(ROOT)}?aspect=corpUserInfo&version=1`);
    expect(first.body.aspect["com.linkedin.identity.CorpUserInfo"]).toEqual(INFO);
    expect(await counted()).toBe(1);
  });

  test("the root user can be renamed", async () => {
    expect((await propose("corpUserInfo", { active: true, displayName: "Ada" })).status).toBe(200);
    expect((await me()).properties).toEqual({ active: true, displayName: "Ada", title: null });
  });

  test("a root user that is suspended loses its tokens, but not the admin token", async () => {
    const { token } = await makeToken(service.client, { actorUrn: ROOT }, root);
    expect((await call("POST", "/entities?action=delete", { urn: ROOT })).status).toBe(422);
    expect((await propose("status", { removed: true })).status).toBe(422);
    const suspended = { ...ACTIVE, status: "SUSPENDED" };
    expect((await propose("corpUserStatus", suspended)).status).toBe(200);
    const shown = asBearer(token);
    const reply = await service.client.call("GET", "/entitiesV2/urn:li:tag:a", undefined, shown);
    expect(reply.status).toBe(401);
    expect((await me()).urn).toBe(ROOT);
  });
});

const ACTIVE = {
  status: "ACTIVE",
  lastModified: { time: 1, actor: ROOT },
};
