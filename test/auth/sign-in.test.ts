/**
 * Signing in as DataHub's web container does it: its requests to /auth with the credentials of the
 * system client, then those of the browser through its proxy.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, faultOf, ROOT } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService, whoIs, writeAsOperator } from "./guarded-service.ts";

const EDITOR = "urn:li:dataHubRole:Editor";
const PASSWORD = "correct horse";

let service: GuardedService;
let system: Record<string, string>;
beforeAll(async () => {
  service = await guardedService();
  const credentials = readFileSync(join(service.directory, "system.client"), "utf8").trim();
  system = { Authorization: `Basic ${credentials}` };
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** A request of the container itself: JSON as text/plain, with the credentials in plain text. */
const auth = (name: string, body: object | undefined, headers = system) =>
  service.client.call("POST", `/auth/${name}`, body, {
    "Content-Type": "text/plain; charset=UTF-8",
    "X-DataHubLoginSource": "passwordLogin",
    "X-Forwarded-For": "198.51.100.7",
    ...headers,
  });

/** Headers that the container's proxy sends for a signed-in browser. */
const proxied = (token: string, actor: string) => ({
  Authorization: `Bearer ${token}`,
  "X-DataHub-Actor": actor,
  "X-DataHub-Request-Source": "BROWSER",
  "X-Forwarded-Host": "catalog.example.org",
  "X-Forwarded-Proto": "https",
  Origin: "https://catalog.example.org",
  "Accept-Encoding": "gzip, deflate, br",
});

const asAdmin = async (query: string) => {
  const { body } = await ask(service.client, query, {}, service.operator);
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
  return body.data;
};

async function invite(role?: string): Promise<string> {
  const input = role === undefined ? "{}" : `{ roleUrn: "${role}" }`;
  const query = `mutation { createInviteToken(input: ${input}) { inviteToken } }`;
  return (await asAdmin(query)).createInviteToken.inviteToken;
}

async function resetToken(urn: string): Promise<string> {
  const query = `mutation { createNativeUserResetToken(input: { userUrn: "${urn}" }) { resetToken } }`;
  return (await asAdmin(query)).createNativeUserResetToken.resetToken;
}

const setStatus = (urn: string, status: string) =>
  asAdmin(`mutation { updateUserStatus(urn: "${urn}", status: ${status}) }`);

let count = 0;
const newName = (): string => `user${++count}@example.org`;

const signUp = (name: string, inviteToken: string, more: object = {}) =>
  auth("signUp", {
    userUrn: `urn:li:corpuser:${name}`,
    fullName: "Mina Okafor",
    email: name,
    title: "Analyst",
    password: PASSWORD,
    inviteToken,
    ...more,
  });

/** A user who has signed up: name and urn. */
async function newUser(role?: string): Promise<{ readonly name: string; readonly urn: string }> {
  const name = newName();
  const { status, body } = await signUp(name, await invite(role));
  expect({ status, body }).toEqual({ status: 200, body: { isNativeUserCreated: true } });
  return { name, urn: `urn:li:corpuser:${name}` };
}

const verify = (userUrn: string, password = PASSWORD) =>
  auth("verifyNativeUserCredentials", { userUrn, password });
const session = (userId: string) => auth("generateSessionTokenForUser", { userId });

describe("the container", () => {
  test("the container signs a user up, checks the password, and gets a session that reads and writes", async () => {
    const { name, urn } = await newUser(EDITOR);
    expect((await verify(urn)).body).toEqual({ doesPasswordMatch: true });
    const { accessToken } = (await session(name)).body;
    const headers = proxied(accessToken, urn);
    const tag = { proposal: proposal("urn:li:tag:Signed", "tagProperties", { name: "Signed" }) };
    const ingest = "/api/gms/aspects?action=ingestProposal";
    expect((await service.client.call("POST", ingest, tag, headers)).status).toBe(200);
    const query = { query: "{ me { corpUser { urn properties { displayName } } } }" };
    const me = await service.client.call("POST", "/api/v2/graphql", query, headers);
    expect(me.body.data.me.corpUser).toEqual({ urn, properties: { displayName: "Mina Okafor" } });
    const large = await service.client.call("GET", "/openapi.json", undefined, headers);
    expect(large.headers.get("content-encoding")).toBeNull();
  });

  test("the container gets no settings of single sign-on where none are stored, with an empty body", async () => {
    expect((await auth("getSsoSettings", undefined)).status).toBe(404);
    const sso = {
      baseUrl: "http://a",
      oidcSettings: { enabled: true, clientId: "a", clientSecret: "hunter2", discoveryUri: "b" },
    };
    await writeAsOperator(service, "urn:li:globalSettings:0", "globalSettingsInfo", { sso });
    expect((await auth("getSsoSettings", undefined)).body).toEqual({
      baseUrl: "http://a",
      oidcEnabled: true,
      ...{ clientId: "a", clientSecret: "hunter2", discoveryUri: "b" },
    });
  });

  test("the container posts usage events, which are accepted and not stored", async () => {
    expect((await auth("track", { type: "SearchEvent" })).status).toBe(200);
  });

  test.each([
    ["no JSON", "verifyNativeUserCredentials", undefined],
    ["without a member", "generateSessionTokenForUser", { user: "a" }],
    ["with a member of another type", "verifyNativeUserCredentials", { userUrn: 1, password: "" }],
    [
      "for another entity",
      "verifyNativeUserCredentials",
      { userUrn: "urn:li:tag:a", password: "" },
    ],
    ["for the system", "generateSessionTokenForUser", { userId: "__datahub_system" }],
  ])("an invalid body gets 400: %s", async (_, name, body) => {
    expect((await auth(name, body)).status).toBe(400);
  });
});

describe("the credentials of the system client", () => {
  const names = [
    ...["generateSessionTokenForUser", "signUp", "resetNativeUserCredentials", "track"],
    ...["verifyNativeUserCredentials", "getSsoSettings"],
  ];

  test.each(names)(
    "the credentials are required by %s; a token of a user is not enough",
    async (name) => {
      const body = { userId: "datahub", userUrn: ROOT, password: PASSWORD };
      const without = { Authorization: "" };
      expect((await auth(name, body, without)).status).toBe(401);
      const wrong = { Authorization: "Basic __datahub_system:JohnSnowKnowsNothing" };
      expect((await auth(name, body, wrong)).status).toBe(401);
      expect((await auth(name, body, service.operator)).status).toBe(403);
    },
  );

  test("the credentials are in a file that only its owner reads", () => {
    const { mode } = statSync(join(service.directory, "system.client"));
    expect((mode & 0o777).toString(8)).toBe("600");
  });

  test("the credentials are also accepted in Base64, and act for the system or for a named user", async () => {
    const plain = system.Authorization?.slice("Basic ".length) ?? "";
    const coded = { Authorization: `Basic ${Buffer.from(plain).toString("base64")}` };
    const query = "{ me { corpUser { urn } } }";
    const own = await ask(service.client, query, {}, coded);
    expect(own.body.data.me.corpUser.urn).toBe("urn:li:corpuser:__datahub_system");
    const named = await ask(service.client, query, {}, { ...system, "X-DataHub-Actor": ROOT });
    expect(named.body.data.me.corpUser.urn).toBe(ROOT);
  });
});

describe("an invite", () => {
  test("an invite is valid for one user, who may accept its role again", async () => {
    const token = await invite(EDITOR);
    const name = newName();
    expect((await signUp(name, token)).status).toBe(200);
    expect((await signUp(newName(), token)).status).toBe(400);
    const { accessToken } = (await session(name)).body;
    const accept = `mutation { acceptRole(input: { inviteToken: "${token}" }) }`;
    const own = await ask(
      service.client,
      accept,
      {},
      proxied(accessToken, `urn:li:corpuser:${name}`),
    );
    expect(own.body).toMatchObject({ data: { acceptRole: true } });
    expect(faultOf(await ask(service.client, accept, {}, service.operator))).toMatchObject({
      extensions: { code: 400 },
    });
  });

  test("an invite is used once by concurrent requests", async () => {
    const token = await invite();
    const replies = await Promise.all([signUp(newName(), token), signUp(newName(), token)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test("an invite adds its role to those of the user; one without a role adds none", async () => {
    const { name, urn } = await newUser(EDITOR);
    const { accessToken } = (await session(name)).body;
    for (const role of ["urn:li:dataHubRole:Reader", undefined]) {
      const accept = `mutation { acceptRole(input: { inviteToken: "${await invite(role)}" }) }`;
      await ask(service.client, accept, {}, proxied(accessToken, urn));
    }
    const path = `/aspects/${encoded(urn)}?aspect=roleMembership&version=0`;
    const { body } = await service.client.call("GET", path, undefined, service.operator);
    expect(JSON.stringify(body)).toContain(`"roles":["${EDITOR}","urn:li:dataHubRole:Reader"]`);
  });

  test("an invite creates no user who exists, and none with a short password", async () => {
    const { name } = await newUser();
    expect((await signUp(name, await invite())).status).toBe(409);
    expect((await signUp("datahub", await invite())).status).toBe(409);
    expect((await signUp(newName(), await invite(), { password: "short" })).status).toBe(400);
    expect((await signUp(newName(), "unknown")).status).toBe(400);
  });

  test("an invite creates no root user", async () => {
    expect((await signUp("datahub", await invite())).status).toBe(409);
  });

  test("an invite is created by managers of credentials only; with a role, also of policies", async () => {
    const { name, urn } = await newUser(EDITOR);
    const headers = proxied((await session(name)).body.accessToken, urn);
    for (const query of [
      "mutation { createInviteToken(input: {}) { inviteToken } }",
      "{ getInviteToken(input: {}) { inviteToken } }",
      `mutation { createNativeUserResetToken(input: { userUrn: "${urn}" }) { resetToken } }`,
      `mutation { updateUserStatus(urn: "${urn}", status: SUSPENDED) }`,
    ]) {
      const fault = faultOf(await ask(service.client, query, {}, headers));
      expect(fault, query).toMatchObject({ extensions: { code: 403 } });
    }
  });
});

describe("a password", () => {
  test("a password matches neither another one, nor an unknown user or one without a password", async () => {
    const { urn } = await newUser();
    expect((await verify(urn, "wrong password")).body).toEqual({
      doesPasswordMatch: false,
      loginDenialReason: "INVALID_CREDENTIALS",
    });
    expect((await verify("urn:li:corpuser:nobody")).body).toEqual({
      doesPasswordMatch: false,
      loginDenialReason: "HARD_DELETED",
    });
    expect((await verify(ROOT)).body.doesPasswordMatch).toBe(false);
  });

  test("a password is reset once with a token, which ends the sessions of the user", async () => {
    const { name, urn } = await newUser();
    const { accessToken } = (await session(name)).body;
    const old = await resetToken(urn);
    const token = await resetToken(urn);
    const reset = (resetToken: string, password = "battery staple") =>
      auth("resetNativeUserCredentials", { userUrn: urn, password, resetToken });
    expect((await reset(old)).status).toBe(400);
    expect((await reset(token, "short")).status).toBe(400);
    const replies = await Promise.all([reset(token), reset(token)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await reset(token)).status).toBe(400);
    expect((await verify(urn)).body.doesPasswordMatch).toBe(false);
    expect((await verify(urn, "battery staple")).body.doesPasswordMatch).toBe(true);
    expect(await whoIs(service.client, accessToken)).toBe(401);
  });
});

describe("a suspended user", () => {
  test("a suspended user gets no session, has no valid one, and cannot reset the password", async () => {
    const { name, urn } = await newUser();
    const { accessToken } = (await session(name)).body;
    const token = await resetToken(urn);
    expect(await whoIs(service.client, accessToken)).toBe(urn);
    await setStatus(urn, "SUSPENDED");
    expect(await whoIs(service.client, accessToken)).toBe(401);
    const denied = await session(name);
    expect(denied).toMatchObject({ status: 403, body: { loginDenialReason: "SUSPENDED" } });
    expect((await verify(urn)).body).toEqual({
      doesPasswordMatch: true,
      loginDenialReason: "SUSPENDED",
    });
    const reset = { userUrn: urn, password: "battery staple", resetToken: token };
    expect((await auth("resetNativeUserCredentials", reset)).status).toBe(400);
    await setStatus(urn, "ACTIVE");
    expect((await session(name)).status).toBe(200);
  });

  test("a suspended user stays suspended when the container writes ACTIVE after single sign-on", async () => {
    const { name, urn } = await newUser();
    const active = { status: "ACTIVE", lastModified: { time: 1, actor: ROOT } };
    const membership = { groups: [] };
    const batch = {
      proposals: [
        proposal(urn, "groupMembership", membership),
        proposal(urn, "corpUserStatus", active),
      ],
    };
    await setStatus(urn, "SUSPENDED");
    const path = "/aspects?action=ingestProposalBatch";
    expect((await service.client.call("POST", path, batch, system)).status).toBe(200);
    expect((await session(name)).body).toEqual({ loginDenialReason: "SUSPENDED" });
  });
});

test("sign-ins are found in the audit trail, as DataHub's usage events", async () => {
  const { name, urn } = await newUser();
  await verify(urn, "wrong password");
  await session(name);
  const path = "/openapi/v1/events/audit/search?size=20";
  const found = async () => {
    const { body } = await service.client.call(
      "POST",
      path,
      { actorUrns: [urn] },
      service.operator,
    );
    return body.usageEvents;
  };
  const common = { actorUrn: urn, sourceIP: "198.51.100.7", loginSource: "PASSWORD_LOGIN" };
  await expect.poll(found).toMatchObject([
    { eventType: "LogInEvent", ...common },
    { eventType: "FailedLogInEvent", ...common },
  ]);
  const own = await service.client.call(
    "POST",
    path,
    {},
    proxied((await session(name)).body.accessToken, urn),
  );
  expect(own.status).toBe(403);
  // A policy for all users grants View Analytics, which does not show whose address it was.
  await writeAsOperator(service, "urn:li:dataHubPolicy:analytics", "dataHubPolicyInfo", {
    ...{ displayName: "analytics", description: "", type: "PLATFORM", state: "ACTIVE" },
    ...{ actors: { users: [urn] }, privileges: ["VIEW_ANALYTICS"] },
  });
  const { accessToken } = (await session(name)).body;
  const analyst = await service.client.call("POST", path, {}, proxied(accessToken, urn));
  expect(analyst.status).toBe(403);
});

test("a user with a key alone, or a deleted one, gets no session", async () => {
  await writeAsOperator(service, "urn:li:corpuser:bare", "corpUserKey", { username: "bare" });
  expect((await session("bare")).body).toEqual({ loginDenialReason: "NOT_PROVISIONED" });
  const { name, urn } = await newUser();
  await writeAsOperator(service, urn, "status", { removed: true });
  expect((await session(name)).body).toEqual({ loginDenialReason: "SOFT_DELETED" });
  await service.client.call("POST", "/entities?action=delete", { urn }, service.operator);
  expect((await session(name)).body).toEqual({ loginDenialReason: "HARD_DELETED" });
});

test("the page of the service signs in with a user name and a password, and out", async () => {
  const { name, urn } = await newUser();
  const own = { Origin: service.address };
  const begin = (password: string) =>
    service.client.call("POST", "/ui/session", { username: name, password }, own);
  expect((await begin("wrong password")).status).toBe(401);
  const { body, headers } = await begin(PASSWORD);
  expect(body).toMatchObject({ authenticated: true, actor: urn });
  const cookie = (headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
  const token = decodeURIComponent(cookie.slice(cookie.indexOf("=") + 1));
  expect(await whoIs(service.client, token)).toBe(urn);
  await service.client.call("DELETE", "/ui/session", undefined, { ...own, Cookie: cookie });
  expect(await whoIs(service.client, token)).toBe(401);
});
