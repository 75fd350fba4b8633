/** Sessions of the browser application: a cookie that carries an access token, and its protection against forgery. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionCookie, sessionToken } from "../../src/http/request/caller/session.ts";
import { asBearer, ask, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { follow } from "../support/feed-client.ts";
import { runningService } from "../support/running-service.ts";
import { type GuardedService, guardedService, resigned } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";

let service: GuardedService;
beforeAll(async () => {
  service = await guardedService();
});
afterAll(() => service?.[Symbol.asyncDispose]());

const newToken = (input: object = {}) =>
  makeToken(service.client, { actorUrn: MINA, ...input }, service.operator);

interface Session {
  readonly cookie: string;
  readonly setCookie: string;
  readonly csrf: string;
  /** Headers of a page of the service that writes. */
  readonly writing: Record<string, string>;
}

async function signIn(token: string): Promise<Session> {
  const reply = await service.client.call("POST", "/ui/session", { token }, own());
  expect(reply.status).toBe(200);
  const setCookie = reply.headers.get("set-cookie") ?? "";
  const cookie = setCookie.split(";", 1)[0] ?? "";
  const csrf = reply.body.csrfToken;
  return { cookie, setCookie, csrf, writing: { ...own(), Cookie: cookie, "X-CSRF-Token": csrf } };
}

/** The Origin that a browser adds to requests of pages of the service. */
const own = () => ({ Origin: service.address });

const write = (headers: Record<string, string>) => {
  const body = { proposal: proposal("urn:li:tag:Session", "tagProperties", { name: "Session" }) };
  return service.client.call("POST", "/aspects?action=ingestProposal", body, headers);
};
const read = (headers: Record<string, string>) =>
  service.client.call("GET", "/entitiesV2/urn%3Ali%3Atag%3ASession", undefined, headers);
const session = (headers: Record<string, string> = {}) =>
  service.client.call("GET", "/ui/session", undefined, headers);

describe("without a session", () => {
  test("the page learns that it must sign in", async () => {
    const { status, body, headers } = await session();
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toEqual({
      signInRequired: true,
      authenticated: false,
      actor: null,
      actorHeaderTrusted: false,
      writeAuthorization: false,
      csrfToken: null,
      expiresAt: null,
      version: expect.any(String),
    });
  });

  test.each([
    ["empty", ""],
    ["short", "x"],
    ["with a blank", "a b"],
    ["beyond ASCII", "é"],
    ["too long", "x".repeat(5_000)],
  ])("a text that is not a token does not begin a session: %s", async (_, token) => {
    const { status, headers } = await service.client.call("POST", "/ui/session", { token }, own());
    expect(status).toBe(401);
    expect(headers.get("set-cookie")).toBeNull();
  });

  test("an invite token creates a user and begins a session, and a reset token does so once", async () => {
    const admin = async (mutation: string, field: string) =>
      (
        await ask(
          service.client,
          `mutation { made: ${mutation} { token: ${field} } }`,
          {},
          service.operator,
        )
      ).body.data.made.token;
    const begin = (body: object) => service.client.call("POST", "/ui/session", body, own());
    const inviteToken = await admin("createInviteToken(input: {})", "inviteToken");
    const names = { username: "kofi", fullName: "Kofi", email: "kofi@example.org" };
    const signUp = { ...names, password: "correct horse", inviteToken };
    expect((await begin({ ...signUp, inviteToken: "unknown" })).status).toBe(422);
    expect((await begin({ ...signUp, password: "short" })).status).toBe(422);
    expect((await begin(signUp)).body).toMatchObject({ actor: "urn:li:corpuser:kofi" });
    expect((await begin({ ...signUp, username: "ama" })).status).toBe(422);

    const input = `input: { userUrn: "urn:li:corpuser:kofi" }`;
    const resetToken = await admin(`createNativeUserResetToken(${input})`, "resetToken");
    const reset = { username: "kofi", password: "battery staple", resetToken };
    expect((await begin({ ...reset, resetToken: "unknown" })).status).toBe(422);
    expect((await begin(reset)).body).toMatchObject({ actor: "urn:li:corpuser:kofi" });
    expect((await begin(reset)).status).toBe(422);
    expect((await begin({ username: "kofi", password: "correct horse" })).status).toBe(401);
    expect((await begin({ username: "kofi", password: "battery staple" })).status).toBe(200);
  });

  test("a page of another origin cannot begin a session", async () => {
    const { token } = await newToken();
    const foreign = { Origin: "http://other.example" };
    const reply = await service.client.call("POST", "/ui/session", { token }, foreign);
    expect(reply.status).toBe(403);
  });
});

describe("a session", () => {
  test("has the user, the rights and the expiry of its token", async () => {
    const { token } = await newToken({ duration: "ONE_DAY" });
    const { cookie, setCookie, csrf } = await signIn(token);
    expect(setCookie).toMatch(
      /^annals_session_\d+=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
    );
    const maxAge = Number(/Max-Age=(\d+)/.exec(setCookie)?.[1]);
    expect(maxAge).toBeGreaterThan(86_000);
    expect(maxAge).toBeLessThanOrEqual(86_400);
    const { body } = await session({ Cookie: cookie });
    expect(body).toMatchObject({ authenticated: true, actor: MINA, csrfToken: csrf });
    expect(Math.abs(body.expiresAt - Date.now() - maxAge * 1_000)).toBeLessThan(60_000);
    expect((await read({ Cookie: cookie })).status).toBe(200);
    const operations = await service.client.call("GET", "/status", undefined, { Cookie: cookie });
    expect(operations.status).toBe(403);
  });

  test("ends with the browser where its token does not expire", async () => {
    const { token } = await newToken({ duration: "NO_EXPIRY" });
    expect((await signIn(token)).setCookie).not.toContain("Max-Age");
  });

  test("can be begun with the admin token", async () => {
    const admin = service.operator.Authorization?.slice("Bearer ".length) ?? "";
    const { cookie, writing } = await signIn(admin);
    expect((await session({ Cookie: cookie })).body).toMatchObject({ actor: ROOT });
    const jobs = await service.client.call("POST", "/operations?action=listJobs", {}, writing);
    expect(jobs.status).toBe(200);
  });

  test("writes over HTTP and GraphQL with its CSRF token and the origin of the service", async () => {
    const { writing } = await signIn((await newToken()).token);
    expect((await write(writing)).status).toBe(200);
    const { body } = await ask(service.client, "{ me { corpUser { urn } } }", {}, writing);
    expect(body.data.me.corpUser.urn).toBe(MINA);
  });

  test("changes nothing without its CSRF token, with that of another session, or another origin", async () => {
    const { cookie, writing } = await signIn((await newToken()).token);
    const other = await signIn((await newToken()).token);
    const { Origin: _, ...withoutOrigin } = writing;
    const forged: Record<string, string>[] = [
      { ...own(), Cookie: cookie },
      { ...writing, "X-CSRF-Token": "" },
      { ...writing, "X-CSRF-Token": other.csrf },
      { ...writing, Origin: "http://other.example" },
      { ...writing, Origin: "null" },
      { ...writing, Origin: service.address.replace(/\d+$/, "1") },
      withoutOrigin,
    ];
    for (const headers of forged) {
      const { status, body } = await write(headers);
      expect({ headers, status, code: body.code }).toEqual({
        headers,
        status: 403,
        code: "forbidden",
      });
      const query = await ask(service.client, "{ me { corpUser { urn } } }", {}, headers);
      expect(query.status).toBe(403);
    }
  });

  test("does not replace an Authorization header", async () => {
    const { cookie } = await signIn((await newToken()).token);
    const headers = { Cookie: cookie, ...service.operator };
    const { body } = await ask(service.client, "{ me { corpUser { urn } } }", {}, headers);
    expect(body.data.me.corpUser.urn).toBe(ROOT);
    expect((await read({ Cookie: cookie, ...asBearer("wrong") })).status).toBe(401);
  });

  test("ends when its token is revoked, with its streams", async () => {
    const { token, id } = await newToken();
    const { cookie } = await signIn(token);
    const feed = await follow(`${service.address}/changes?entityType=chart`, { Cookie: cookie });
    expect(feed.response.status).toBe(200);
    const revoke = `mutation { revokeAccessToken(tokenId: "${id}") }`;
    await ask(service.client, revoke, {}, service.operator);
    expect(await feed.next()).toBeUndefined();
    expect((await read({ Cookie: cookie })).status).toBe(401);
    const { body, headers } = await session({ Cookie: cookie });
    expect(body).toMatchObject({ authenticated: false, csrfToken: null });
    expect(headers.get("set-cookie")).toMatch(/^annals_session_\d+=;.*; Max-Age=0$/);
  });

  test("ends when its token expires", async () => {
    const { token } = await newToken();
    const { cookie } = await signIn(token);
    const exp = Math.floor(Date.now() / 1_000) - 60;
    const expired = await resigned(token, { claims: { exp }, key: service.key });
    const headers = { Cookie: cookie.replace(token, expired) };
    expect((await read(headers)).status).toBe(401);
    expect((await session(headers)).body.authenticated).toBe(false);
  });

  test("ends in this browser when the page signs out", async () => {
    const { token } = await newToken();
    const { cookie } = await signIn(token);
    const headers = { ...own(), Cookie: cookie };
    const reply = await service.client.call("DELETE", "/ui/session", undefined, headers);
    expect(reply.body.authenticated).toBe(false);
    expect(reply.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await read(asBearer(token))).status).toBe(200);
  });

  test("is not accepted where the application is off", async () => {
    await using bare = await guardedService({ web: "off" });
    const { token } = await makeToken(bare.client, {}, bare.operator);
    const { port } = new URL(bare.address);
    const headers = { Cookie: `annals_session_${port}=${token}` };
    expect((await bare.client.call("GET", "/changes", undefined, headers)).status).toBe(401);
    const begun = await bare.client.call("POST", "/ui/session", { token }, bare.operator);
    expect(begun.status).toBe(404);
  });
});

test("on loopback without tokens, the page may name its user, and can sign in for operations", async () => {
  await using open = await runningService();
  expect((await open.client.get("/ui/session")).body).toMatchObject({
    signInRequired: false,
    authenticated: false,
    actorHeaderTrusted: true,
  });
});

describe("the cookie", () => {
  const set = (headers: Record<string, string>) =>
    sessionCookie({ token: "a;b=c", seconds: 5 }, headers);

  test("is Secure off loopback, and behind a proxy with TLS", () => {
    for (const host of ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"]) {
      expect(set({ host })).not.toContain("Secure");
      expect(set({ host, "x-forwarded-proto": "https" })).toContain("; Secure");
    }
    expect(set({ host: "catalog.example" })).toContain("; Secure");
  });

  test("is parsed back to the token, for each port", () => {
    const host = "localhost:8080";
    const [pair = ""] = set({ host }).split(";", 1);
    expect(sessionToken(`a=b; ${pair}; c=d`, host)).toBe("a;b=c");
    expect(sessionToken(pair, "localhost:8081")).toBeUndefined();
    expect(sessionToken("annals_session_8080=%", host)).toBeUndefined();
    expect(sessionToken("annals_session_8080=", host)).toBeUndefined();
  });
});
