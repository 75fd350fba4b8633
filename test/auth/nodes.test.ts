/**
 * Two nodes of one log: access decisions of one node apply on the other once it has read the log.
 * Each node has its own views, and both have the same signing key.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded } from "../support/client.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import { follow } from "../support/feed-client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { type GuardedService, guardedService, whoIs, writeAsOperator } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const WAIT_MS_MAX = 60_000;
const directory = temporaryDirectory();
let log: EventStoreServer;
let one: GuardedService;
let other: GuardedService;

beforeAll(async () => {
  log = await startEventStoreServer();
  const signingKeyFile = join(directory.path, "signing.key");
  writeFileSync(
    signingKeyFile,
    `${"a key of both nodes, and of nobody else".replaceAll(" ", "-")}\n`,
    {
      mode: 0o600,
    },
  );
  const flags = { log: log.address, signingKeyFile, readAuthorization: "on" };
  [one, other] = [await guardedService(flags), await guardedService(flags)];
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await log?.stop();
  directory[Symbol.dispose]();
});

/** Resolves when the other node answers as expected, fails after the timeout. */
const eventually = (look: () => Promise<unknown>, expected: unknown): Promise<void> =>
  expect.poll(look, { timeout: WAIT_MS_MAX, interval: 50 }).toEqual(expected);

const write = (urn: string, aspect: string, value: unknown): Promise<number> =>
  writeAsOperator(one, urn, aspect, value);

/** A token of one node that the other accepts. */
async function acceptedToken(): Promise<{
  token: string;
  id: string;
  there: () => Promise<unknown>;
}> {
  const made = await makeToken(one.client, { actorUrn: MINA }, one.operator);
  const there = () => whoIs(other.client, made.token);
  await eventually(there, MINA);
  // A second time, from memory.
  expect(await there()).toBe(MINA);
  return { ...made, there };
}

test("a revoked token is rejected by the other node, too", async () => {
  const { id, token, there } = await acceptedToken();
  const revoke = `mutation { revokeAccessToken(tokenId: "${id}") }`;
  const { body } = await ask(one.client, revoke, {}, one.operator);
  expect(body.data.revokeAccessToken).toBe(true);
  expect(await whoIs(one.client, token)).toBe(401);
  await eventually(there, 401);
});

test("a change feed of the other node ends with its token", async () => {
  const { id, token } = await acceptedToken();
  const feed = await follow(`${other.address}/changes?entityType=chart`, asBearer(token));
  expect(feed.response.status).toBe(200);
  await ask(one.client, `mutation { revokeAccessToken(tokenId: "${id}") }`, {}, one.operator);
  expect(await feed.next()).toBeUndefined();
});

test("tokens of users who are suspended or removed are rejected until the user is restored", async () => {
  const { token, there } = await acceptedToken();
  const stamp = { time: 1, actor: MINA };
  await write(MINA, "corpUserStatus", { status: "SUSPENDED", lastModified: stamp });
  expect(await whoIs(one.client, token)).toBe(401);
  await eventually(there, 401);
  await write(MINA, "corpUserStatus", { status: "ACTIVE", lastModified: stamp });
  await eventually(there, MINA);
  await write(MINA, "status", { removed: true });
  await eventually(there, 401);
  await write(MINA, "status", { removed: false });
  await eventually(there, MINA);
});

test("read permissions follow policies that the other node wrote", async () => {
  const { token } = await acceptedToken();
  const urn = "urn:li:tag:seen";
  await write(urn, "tagProperties", { name: "seen" });
  const readable = async () => {
    const path = `/entitiesV2/${encoded(urn)}`;
    const { body } = await other.client.call("GET", path, undefined, asBearer(token));
    return "tagProperties" in body.aspects;
  };
  const all = (state: string) => ({
    ...{ displayName: "", description: "", type: "METADATA", state },
    ...{ privileges: ["VIEW_ENTITY_PAGE"], actors: { allUsers: true } },
  });
  const policy = "urn:li:dataHubPolicy:view-entity-page-all";
  await eventually(readable, true);
  await write(policy, "dataHubPolicyInfo", all("INACTIVE"));
  await eventually(readable, false);
  await write(policy, "dataHubPolicyInfo", all("ACTIVE"));
  await eventually(readable, true);
});

test("tokens of a deleted user are rejected on every node, also after the user is created again", async () => {
  const { token, there } = await acceptedToken();
  const gone = await one.client.call(
    "POST",
    "/entities?action=delete",
    { urn: MINA },
    one.operator,
  );
  expect(gone.status).toBe(200);
  await eventually(there, 401);
  await write(MINA, "corpUserInfo", { active: true });
  const again = await makeToken(one.client, { actorUrn: MINA }, one.operator);
  await eventually(() => whoIs(other.client, again.token), MINA);
  expect(await there()).toBe(401);
  expect(await whoIs(one.client, token)).toBe(401);
});
