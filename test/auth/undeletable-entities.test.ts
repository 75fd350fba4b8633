/** Built-in entities to which others refer by fixed urns: no interface deletes them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, faultOf } from "../graphql/graphql-client.ts";
import { encoded, proposal, type Reply } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const urns = {
  user: "urn:li:corpuser:datahub",
  role: "urn:li:dataHubRole:Reader",
  module: "urn:li:dataHubPageModule:your_assets",
  template: "urn:li:dataHubPageTemplate:home_default_1",
  ownershipType: "urn:li:ownershipType:__system__data_steward",
};
const all = Object.values(urns);

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
});
afterAll(() => service[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: object) =>
  service.client.call(method, path, body);
const expectRejected = ({ status, body }: Reply) => {
  // OpenAPI has 400 where rest.li has 422.
  expect([400, 422]).toContain(status);
  expect(body.code).toBe("invalid");
  expect(body.message).toContain("is built-in and cannot be deleted");
};
const exists = async (urn: string) =>
  Object.keys((await service.client.get(`/entitiesV2/${encoded(urn)}`)).body.aspects ?? {}).length >
  1;

describe.each(all)("%s", (urn) => {
  const type = urn.split(":")[2] ?? "";
  const keyAspect = type === "corpuser" ? "corpUserKey" : `${type}Key`;

  test("no request over REST deletes it", async () => {
    expectRejected(await call("POST", "/entities?action=delete", { urn }));
    const key = proposal(urn, keyAspect, {}, { changeType: "DELETE", aspect: undefined });
    expectRejected(await call("POST", "/aspects?action=ingestProposal", { proposal: key }));
    const batch = { proposals: [proposal("urn:li:tag:a", "tagProperties", { name: "a" }), key] };
    expectRejected(await call("POST", "/aspects?action=ingestProposalBatch", batch));
    expect(await exists("urn:li:tag:a")).toBe(false);
    expectRejected(await call("DELETE", `/openapi/v3/entity/${type}/${encoded(urn)}`));
    expect(await exists(urn)).toBe(true);
  });
});

test("no mutation deletes them or the references to them", async () => {
  const modules = async () => {
    const { body } = await service.client.get(`/entitiesV2/${encoded(urns.template)}`);
    return body.aspects.dataHubPageTemplateProperties.value.rows;
  };
  const before = await modules();
  for (const [mutation, argument, urn] of [
    ["deletePageModule", "input: { urn: $urn }", urns.module],
    ["deletePageTemplate", "input: { urn: $urn }", urns.template],
    ["removeUser", "urn: $urn", urns.user],
  ] as const) {
    const query = `mutation($urn: String!) { ${mutation}(${argument}) }`;
    const fault = faultOf(await ask(service.client, query, { urn }));
    expect(fault?.extensions.code, mutation).toBe(400);
    expect(await exists(urn)).toBe(true);
  }
  expect(await modules()).toEqual(before);
});

test("a built-in type of ownership is only marked as removed by its mutation", async () => {
  const query = "mutation($urn: String!) { deleteOwnershipType(urn: $urn) }";
  const { body } = await ask(service.client, query, { urn: urns.ownershipType });
  expect(body.errors).toBeUndefined();
  expect(await exists(urns.ownershipType)).toBe(true);
});

test("a user of the system is not deleted, and another one is", async () => {
  const [system, other] = ["urn:li:corpuser:robot", "urn:li:corpuser:ada"];
  await service.client.upsert(system, "corpUserInfo", { active: true, system: true });
  await service.client.upsert(other, "corpUserInfo", { active: true });
  expectRejected(await call("POST", "/entities?action=delete", { urn: system }));
  expect((await call("POST", "/entities?action=delete", { urn: other })).status).toBe(200);
});

test("an aspect of a built-in entity is deleted", async () => {
  const { user: urn } = urns;
  await service.client.upsert(urn, "corpUserEditableInfo", { aboutMe: "root" });
  const { status } = await call("POST", "/aspects?action=ingestProposal", {
    proposal: proposal(
      urn,
      "corpUserEditableInfo",
      {},
      { changeType: "DELETE", aspect: undefined },
    ),
  });
  expect(status).toBe(200);
});

test("no interface marks the root user or a user of the system as removed", async () => {
  const robot = "urn:li:corpuser:robot2";
  await service.client.upsert(robot, "corpUserInfo", { active: true, system: true });
  // Its aspects do not make the root user an ordinary one.
  await service.client.upsert(urns.user, "corpUserInfo", { active: true });
  for (const urn of [urns.user, robot]) {
    const removed = { removed: true };
    expectRejected(await service.client.upsert(urn, "status", removed));
    const patch = [{ op: "add", path: "/removed", value: true }];
    expectRejected(await service.client.upsert(urn, "status", patch, { changeType: "PATCH" }));
    expectRejected(
      await call("POST", "/openapi/v3/entity/corpuser?async=false", [
        { urn, status: { value: removed } },
      ]),
    );
    const snapshot = {
      "com.linkedin.metadata.snapshot.CorpUserSnapshot": {
        ...{ urn, aspects: [{ "com.linkedin.common.Status": removed }] },
      },
    };
    expectRejected(await call("POST", "/entities?action=ingest", { entity: { value: snapshot } }));
    const query =
      "mutation($input: BatchUpdateSoftDeletedInput!) { batchUpdateSoftDeleted(input: $input) }";
    const input = { urns: [urn], deleted: true };
    expect(faultOf(await ask(service.client, query, { input }))?.extensions.code).toBe(400);
    const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(status)`);
    expect(body.aspects.status?.value.removed ?? false).toBe(false);
    expect((await service.client.upsert(urn, "status", { removed: false })).status).toBe(200);
  }
  const ada = "urn:li:corpuser:ada2";
  await service.client.upsert(ada, "corpUserInfo", { active: true });
  expect((await service.client.upsert(ada, "status", { removed: true })).status).toBe(200);
});
