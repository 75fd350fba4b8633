/**
 * A token of a user who was deleted lets nobody in, also when somebody of that name comes to be
 * again.
 */
import { expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { guardedService, whoIs } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const OLAF = "urn:li:corpuser:olaf";

test.each(["a delete of the entity", "a delete of its key"])(
  "resurrection of a deleted user does not bring their tokens back: %s",
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
    // Anybody who is let in may tell of a user, as ingestion does.
    const told = proposal(MINA, "corpUserInfo", { active: true, displayName: "Mina" });
    expect((await ingest(told, colleague)).status).toBe(200);
    expect(await whoIs(client, token)).toBe(401);
    expect(await whoIs(client, colleague.Authorization.slice("Bearer ".length))).toBe(OLAF);
  },
);

test("a user who is deleted with the run that told of them has no tokens either, told of again or not", async () => {
  await using service = await guardedService();
  const { client, operator } = service;
  const ingest = (one: object) =>
    client.call("POST", "/aspects?action=ingestProposal", { proposal: one }, operator);
  const told = proposal(MINA, "corpUserInfo", { active: true, displayName: "Mina" });
  expect((await ingest({ ...told, systemMetadata: { runId: "people-1" } })).status).toBe(200);
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
