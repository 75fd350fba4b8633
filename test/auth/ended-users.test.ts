/** Tokens of a deleted user stay invalid, also when a user of the same name is created again. */
import { expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { guardedService, whoIs } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const OLAF = "urn:li:corpuser:olaf";

test.each(["a delete of the entity", "a delete of its key"])(
  "tokens of a deleted user stay invalid after the user is created again: %s",
  async (how) => {
    await using service = await guardedService();
    const { client, operator } = service;
    const { token } = await makeToken(client, { actorUrn: MINA }, operator);
    const colleague = asBearer((await makeToken(client, { actorUrn: OLAF }, operator)).token);
    expect(await whoIs(client, token)).toBe(MINA);
    const ingest = (one: object, headers: Record<string, string>) =>
      client.call("POST", "/aspects?action=ingestProposal", { proposal: one }, headers);
    const gone = how.endsWith("key")
      ? await ingest(
          { ...proposal(MINA, "corpUserKey", {}), changeType: "DELETE", aspect: undefined },
          operator,
        )
      : await client.call("POST", "/entities?action=delete", { urn: MINA }, operator);
    expect(gone.status, JSON.stringify(gone.body)).toBe(200);
    expect(await whoIs(client, token)).toBe(401);
    // Any authenticated client may write users, as ingestion does.
    const info = proposal(MINA, "corpUserInfo", { active: true, displayName: "Mina" });
    expect((await ingest(info, colleague)).status).toBe(200);
    expect(await whoIs(client, token)).toBe(401);
    expect(await whoIs(client, colleague.Authorization.slice("Bearer ".length))).toBe(OLAF);
  },
);

test("tokens of a user who is deleted by a rollback stay invalid after the user is created again", async () => {
  await using service = await guardedService();
  const { client, operator } = service;
  const ingest = (one: object) =>
    client.call("POST", "/aspects?action=ingestProposal", { proposal: one }, operator);
  const info = proposal(MINA, "corpUserInfo", { active: true, displayName: "Mina" });
  expect((await ingest({ ...info, systemMetadata: { runId: "people-1" } })).status).toBe(200);
  const { token } = await makeToken(client, { actorUrn: MINA }, operator);
  const other = await makeToken(client, { actorUrn: OLAF }, operator);
  const rollback = async (flags: object) => {
    const asked = { runId: "people-1", ...flags };
    const { body } = await client.call("POST", "/runs?action=rollback", asked, operator);
    return body.value.entitiesDeleted;
  };
  expect(await rollback({ dryRun: true, hardDelete: true })).toBe(1);
  expect(await whoIs(client, token)).toBe(MINA);
  expect(await rollback({ dryRun: false, hardDelete: true })).toBe(1);
  expect(await whoIs(client, token)).toBe(401);
  expect((await ingest(proposal(MINA, "corpUserInfo", { active: true }))).status).toBe(200);
  expect(await whoIs(client, token)).toBe(401);
  expect(await whoIs(client, other.token)).toBe(OLAF);
  const again = await makeToken(client, { actorUrn: MINA }, operator);
  expect(await whoIs(client, again.token)).toBe(MINA);
});
