/** A user who is removed from a group loses the group's privileges and roles. */
import { expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { guardedService, writeAsOperator } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const GROUP = "urn:li:corpGroup:stewards";

test.each([
  ["groupMembership", { groups: [GROUP] }],
  ["nativeGroupMembership", { nativeGroups: [GROUP] }],
])("removeGroupMembers ends the privileges of a member by %s", async (aspect, value) => {
  await using service = await guardedService();
  const { client, operator } = service;
  await writeAsOperator(service, GROUP, "corpGroupInfo", { admins: [], members: [], groups: [] });
  await writeAsOperator(service, GROUP, "roleMembership", { roles: ["urn:li:dataHubRole:Admin"] });
  const mina = asBearer((await makeToken(client, { actorUrn: MINA }, operator)).token);
  await writeAsOperator(service, MINA, aspect, value);
  const one = proposal("urn:li:dataHubSecret:a", "dataHubSecretValue", { name: "a", value: "b" });
  const writes = async () =>
    (await client.call("POST", "/aspects?action=ingestProposal", { proposal: one }, mina)).status;
  expect(await writes()).toBe(200);
  const input = `{groupUrn: "${GROUP}", userUrns: ["${MINA}"]}`;
  const removed = await ask(
    client,
    `mutation { removeGroupMembers(input: ${input}) }`,
    {},
    operator,
  );
  expect(removed.body.data).toEqual({ removeGroupMembers: true });
  expect(await writes()).toBe(403);
});
