/** Responses end soon after their tokens: change feeds, long polls, uploads in progress. */
import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded } from "../support/client.ts";
import { follow } from "../support/feed-client.ts";
import {
  type GuardedService,
  grantPolling,
  guardedService,
  writeAsOperator,
} from "./guarded-service.ts";

let service: GuardedService;
let users = 0;

beforeAll(async () => {
  service = await guardedService();
  await grantPolling(service);
});
afterAll(() => service?.[Symbol.asyncDispose]());

interface User {
  readonly urn: string;
  readonly token: string;
  readonly id: string;
}

async function newUser(): Promise<User> {
  const urn = `urn:li:corpuser:reader${users++}`;
  return { urn, ...(await makeToken(service.client, { actorUrn: urn }, service.operator)) };
}

const stamp = { time: 1, actor: "urn:li:corpuser:datahub" };

const endings: Readonly<Record<string, (user: User) => Promise<unknown>>> = {
  "is revoked": ({ id }) =>
    ask(service.client, `mutation { revokeAccessToken(tokenId: "${id}") }`, {}, service.operator),
  "belongs to a user who is suspended": ({ urn }) =>
    writeAsOperator(service, urn, "corpUserStatus", { status: "SUSPENDED", lastModified: stamp }),
  "belongs to a user who is soft-deleted": ({ urn }) =>
    writeAsOperator(service, urn, "status", { removed: true }),
  "belongs to a user who is deleted": ({ urn }) =>
    service.client.call("POST", "/entities?action=delete", { urn }, service.operator),
};

describe.each(Object.entries(endings))("after its token %s", (_, endOf) => {
  test("a change feed ends, and its client is rejected when it reconnects", async () => {
    const [user, other] = [await newUser(), await newUser()];
    const url = `${service.address}/changes?entityType=chart`;
    const feed = await follow(url, asBearer(user.token));
    const others = await follow(url, asBearer(other.token));
    expect(feed.response.status).toBe(200);
    await endOf(user);
    expect(await feed.next()).toBeUndefined();
    expect((await follow(url, asBearer(user.token))).response.status).toBe(401);
    const chart = `urn:li:chart:(looker,${users})`;
    await writeAsOperator(service, chart, "status", { removed: false });
    expect((await others.next())?.data.entityUrn).toBe(chart);
    others.leave();
  });

  test("a poll that waits for events is rejected", async () => {
    const user = await newUser();
    const path = "/openapi/v1/events/poll?topic=MetadataChangeLog_Timeseries_v1";
    const polled = service.client.call("GET", path, undefined, asBearer(user.token));
    await waits(user);
    await endOf(user);
    expect((await polled).status).toBe(401);
  });
});

test("a feed of JSON lines also ends with its token", async () => {
  const user = await newUser();
  const response = await fetch(`${service.address}/changes`, {
    headers: { ...asBearer(user.token), Accept: "application/x-ndjson" },
  });
  await endings["is revoked"]?.(user);
  await response.text();
  expect(response.status).toBe(200);
});

test("a client that does not read its feed is disconnected", async () => {
  const user = await newUser();
  const description = "x".repeat(1024 * 1024);
  for (let n = 0; n < 16; n++) {
    await writeAsOperator(service, `urn:li:tag:large${n}`, "tagProperties", {
      name: "",
      description,
    });
  }
  const { hostname, port } = new URL(service.address);
  const socket = connect(Number(port), hostname);
  const head = ["GET /changes?from=start HTTP/1.1", "Host: localhost", "Accept: text/event-stream"];
  socket.write([...head, `Authorization: Bearer ${user.token}`, "", ""].join("\r\n"));
  await once(socket, "data");
  socket.pause();
  await endings["is revoked"]?.(user);
  // A write to a closed connection fails, even while nothing is read.
  const failed = once(socket, "error");
  const writing = setInterval(() => socket.write("\r\n"), 20);
  const [error] = await failed;
  clearInterval(writing);
  expect(["ECONNRESET", "EPIPE"]).toContain(error.code);
});

test("a request whose body arrives after its token was revoked writes nothing", async () => {
  const user = await newUser();
  const urn = "urn:li:tag:late";
  const proposal = { entityType: "tag", entityUrn: urn, changeType: "UPSERT" };
  const text = JSON.stringify({ proposal: { ...proposal, aspectName: "tagProperties" } });
  const { sent, answered } = slowly("/aspects?action=ingestProposal", user.token);
  sent.write(text.slice(0, 10));
  await waits(user);
  await endings["is revoked"]?.(user);
  expect(await answered).toBe(401);
  sent.end(text.slice(10));
  const path = `/entitiesV2/${encoded(urn)}`;
  const { body } = await service.client.call("GET", path, undefined, service.operator);
  expect(Object.keys(body.aspects)).toEqual(["tagKey"]);
});

/** Resolves when the service has accepted the user's token once: the request is in flight. */
async function waits({ token }: User): Promise<void> {
  // Requests are identified in the order in which they arrive.
  const { status } = await service.client.call("GET", "/entitiesV2/x", undefined, asBearer(token));
  expect(status).toBe(400);
}

function slowly(path: string, token: string): { sent: ClientRequest; answered: Promise<number> } {
  const headers = { "Content-Type": "application/json", ...asBearer(token) };
  const sent = request(`${service.address}${path}`, { method: "POST", headers });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  return { sent, answered };
}
