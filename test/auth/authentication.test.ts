/** Each thing that a token is asked, on its own: in a whole service one would hide the other. */
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAuthentication } from "../../src/auth/tokens/authentication.ts";
import { createFailureLimit } from "../../src/auth/tokens/failure-limit.ts";
import { openKeys } from "../../src/auth/tokens/key-file.ts";
import { createTokenFormat, tokenId } from "../../src/auth/tokens/token-format.ts";
import type { EntityState } from "../../src/core/entity-state.ts";
import { stateOf } from "../projections/search-state.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { resigned } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const OTTO = "urn:li:corpuser:otto";
const claims = { type: "PERSONAL", actor: MINA } as const;

let directory: ReturnType<typeof temporaryDirectory>;
let now: number;
beforeEach(() => {
  directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  now = 1_772_409_600_000;
});
afterEach(() => directory[Symbol.dispose]());

function open(lifeMax?: number) {
  const keys = openKeys({
    name: "signing.key",
    ...{ data: directory.path, given: "", logger: { warn: () => {} } },
  });
  const format = createTokenFormat(keys, { namespace: "li" });
  const stored = new Map<string, Record<string, unknown>>([[MINA, {}]]);
  /** Entities in memory. */
  const states = new Map<string, EntityState>();
  /** What was asked for, and what is known to be written. */
  const written: { asked: string[]; entitiesVersion: number | undefined } = {
    ...{ asked: [], entitiesVersion: undefined },
  };
  const authentication = createAuthentication({
    peek: (urn) => states.get(urn),
    lifeMax,
    required: true,
    operatorToken: { admits: () => false },
    format,
    entitiesVersion: () => written.entitiesVersion,
    entities: {
      async find(urn) {
        written.asked.push(urn);
        return stored.get(urn);
      },
      list: async () => stored,
    },
    failures: createFailureLimit(() => now),
    namespace: "li",
    now: () => now,
    logger: { warn: () => {} },
  });
  return {
    key: keys.current.secret,
    format,
    stored,
    states,
    written,
    endOf: (token: string) => authentication.endOf(`Bearer ${token}`),
    showNow: (token: string, connection?: object) =>
      authentication.authenticateNow({
        ...{ authorization: `Bearer ${token}`, address: "192.0.2.1", connection },
      }),
    show: (token: string) =>
      authentication.authenticate({ authorization: `Bearer ${token}`, address: "192.0.2.1" }),
  };
}

describe("the text of a token", () => {
  test.each([
    ["another issuer", { claims: { iss: "datahub-metadata-service" } }],
    ["no issuer", { claims: { iss: undefined } }],
    ["another version", { claims: { version: "1" } }],
    ["another type", { claims: { type: "REFRESH" } }],
    ["another type of actor", { claims: { actorType: "SYSTEM" } }],
    ["two actors", { claims: { sub: "datahub" } }],
    ["an empty actor", { claims: { sub: "", actorId: "" } }],
    ["no id", { claims: { jti: undefined } }],
    ["no time", { claims: { iat: undefined } }],
    ["another kind of token", { head: { typ: "secevent+jwt" } }],
    ["no key named", { head: { kid: undefined } }],
  ])("with %s is foreign, however well it is signed", async (_, change) => {
    const { format, key } = open();
    const token = await format.sign(claims, now);
    expect(await format.verify(token, now)).toMatchObject({ ok: true, claims });
    const forged = await resigned(token, { ...change, key });
    expect(await format.verify(forged, now)).toEqual({ ok: false, why: "foreign" });
  });
});

test("a header of blanks is looked at in no time", async () => {
  const { show } = open();
  const start = cpuMilliseconds();
  await expect(show(`${" ".repeat(60_000)}x${" ".repeat(60_000)}y`)).rejects.toMatchObject({
    code: "unauthenticated",
  });
  expect(cpuMilliseconds() - start).toBeLessThan(300);
});

describe("a token that was let in before", () => {
  async function letIn(life?: number) {
    const api = open();
    const expiresAt = life === undefined ? undefined : now + life;
    const token = await api.format.sign({ ...claims, expiresAt }, now);
    const urn = `urn:li:dataHubAccessToken:${tokenId(token)}`;
    api.stored.set(urn, { dataHubAccessTokenInfo: { name: "t" } });
    expect(await api.show(token)).toBe(MINA);
    return { ...api, token, urn };
  }
  const refused = (message: string) => ({
    code: "unauthenticated",
    message: expect.stringContaining(message),
  });

  test("a token ends responses in flight as soon as it is no longer valid", async () => {
    const { endOf, token, urn, stored } = await letIn(1000);
    expect(await endOf(token)).toBeUndefined();
    stored.set(MINA, { status: { removed: true } });
    expect(await endOf(token)).toMatchObject(refused("was removed"));
    stored.set(MINA, { corpUserStatus: { status: "SUSPENDED" } });
    expect(await endOf(token)).toMatchObject(refused("is suspended"));
    stored.set(MINA, {});
    expect(await endOf(token)).toBeUndefined();
    now += 1000;
    expect(await endOf(token)).toMatchObject(refused("has expired"));
    now -= 1000;
    stored.delete(urn);
    expect(await endOf(token)).toMatchObject(refused("was revoked"));
  });

  test("is refused from the millisecond at which it expires", async () => {
    const { show, token } = await letIn(1000);
    now += 999;
    expect(await show(token)).toBe(MINA);
    now += 1;
    await expect(show(token)).rejects.toMatchObject(refused("expired"));
  });

  test("is refused when it was revoked, and is a stranger's from then on", async () => {
    const { show, token, urn, stored } = await letIn();
    stored.delete(urn);
    for (let i = 0; i < 30; i++)
      await expect(show(token)).rejects.toMatchObject(refused("revoked"));
    await expect(show(token)).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("is refused where its record does not say that it is one", async () => {
    const { show, token, urn, stored } = await letIn();
    stored.set(urn, { dataHubAccessTokenKey: { id: "t" } });
    await expect(show(token)).rejects.toMatchObject(refused("revoked"));
  });

  test.each([
    ["removed", { status: { removed: true } }],
    ["suspended", { corpUserStatus: { status: "SUSPENDED" } }],
    ["not in the catalog", undefined],
  ])("is refused when its user is %s", async (message, user) => {
    const { show, token, stored } = await letIn();
    if (user === undefined) stored.delete(MINA);
    else stored.set(MINA, user);
    await expect(show(token)).rejects.toMatchObject(refused(message));
    stored.set(MINA, {});
    expect(await show(token)).toBe(MINA);
  });
});

describe("a connection that showed a token before", () => {
  const connection = {};
  async function shownOn(life?: number, lifeMax?: number) {
    const api = open(lifeMax);
    const expiresAt = life === undefined ? undefined : now + life;
    const make = async (actor: string) => {
      const token = await api.format.sign({ ...claims, actor, expiresAt }, now);
      const urn = `urn:li:dataHubAccessToken:${tokenId(token)}`;
      const info = {
        ...{ name: "t", actorUrn: actor, ownerUrn: actor, createdAt: now },
      };
      api.stored.set(urn, { dataHubAccessTokenInfo: info }).set(actor, {});
      api.states.set(urn, stateOf(urn, { dataHubAccessTokenInfo: info }));
      api.states.set(actor, stateOf(actor));
      expect(await api.show(token)).toBe(actor);
      return { token, urn };
    };
    const [mine, others] = [await make(MINA), await make(OTTO)];
    expect(api.showNow(mine.token, connection)).toBe(MINA);
    return { ...api, ...mine, others };
  }

  test("is asked anew where the record in memory does not say that it is a token", async () => {
    const { showNow, token, urn, states } = await shownOn();
    states.set(urn, stateOf(urn, { status: { removed: false } }));
    expect(showNow(token, connection)).toBeUndefined();
  });

  test("is whose the token is that it shows now", async () => {
    const { showNow, token, others } = await shownOn();
    expect(showNow(others.token, connection)).toBe(OTTO);
    expect(showNow(token, connection)).toBe(MINA);
    expect(showNow(`${token}x`, connection)).toBeUndefined();
    expect(showNow(token.slice(0, -1), connection)).toBeUndefined();
    expect(showNow("", connection)).toBeUndefined();
    expect(showNow(others.token)).toBe(OTTO);
  });

  test("is asked anew when the token was revoked, or waits for its record", async () => {
    const { showNow, token, urn, states } = await shownOn();
    const record = states.get(urn) as EntityState;
    states.delete(urn);
    expect(showNow(token, connection)).toBeUndefined();
    states.set(urn, { ...record, aspects: new Map() });
    expect(showNow(token, connection)).toBeUndefined();
    states.set(urn, record);
    expect(showNow(token, connection)).toBe(MINA);
  });

  test.each([
    ["removed", { status: { removed: true } }],
    [
      "suspended",
      { corpUserStatus: { status: "SUSPENDED", lastModified: { time: 1, actor: OTTO } } },
    ],
  ])("is asked anew when its user is %s", async (_, aspects) => {
    const { showNow, token, states } = await shownOn();
    states.set(MINA, stateOf(MINA, aspects));
    expect(showNow(token, connection)).toBeUndefined();
    states.set(MINA, stateOf(MINA));
    expect(showNow(token, connection)).toBe(MINA);
  });

  test.each([
    ["expires", 1_000, undefined],
    ["is as old as tokens may be", undefined, 1_000],
  ])("is asked anew from the millisecond at which the token %s", async (_, life, lifeMax) => {
    const { showNow, token } = await shownOn(life, lifeMax);
    now += 999;
    expect(showNow(token, connection)).toBe(MINA);
    now += 1;
    expect(showNow(token, connection)).toBeUndefined();
  });
});

describe("a token whose entities are not in memory", () => {
  /** Shown once, and then not asked for while nothing is written. */
  async function shownOnce(more: object = {}, lifeMax?: number) {
    const opened = open(lifeMax);
    const { format, stored, written, show, showNow } = opened;
    const token = await format.sign({ ...claims, ...more }, now);
    const urn = `urn:li:dataHubAccessToken:${tokenId(token)}`;
    stored.set(urn, { dataHubAccessTokenInfo: { createdAt: now } });
    written.entitiesVersion = 7;
    expect(await show(token)).toBe(MINA);
    expect(written.asked.splice(0)).toEqual([urn, MINA]);
    expect(showNow(token)).toBe(MINA);
    expect(written.asked).toEqual([]);
    return { ...opened, token, urn };
  }

  test("is asked for again as soon as anything was written, and refused when it was revoked", async () => {
    const { stored, written, show, showNow, token, urn } = await shownOnce();
    written.entitiesVersion = 8;
    expect(showNow(token)).toBeUndefined();
    expect(await show(token)).toBe(MINA);
    expect(showNow(token)).toBe(MINA);
    stored.delete(urn);
    written.entitiesVersion = 9;
    expect(showNow(token)).toBeUndefined();
    await expect(show(token)).rejects.toThrow("revoked");
    written.entitiesVersion = 8;
    expect(showNow(token)).toBeUndefined();
  });

  test("is asked for again after a second, also where nothing is known to be written", async () => {
    const { show, showNow, token, stored } = await shownOnce();
    now += 1_000;
    expect(showNow(token)).toBeUndefined();
    stored.set(MINA, { corpUserStatus: { status: "SUSPENDED" } });
    await expect(show(token)).rejects.toThrow("suspended");
  });

  test("is not believed beyond its end", async () => {
    const expiresAt = now + 1_000;
    now += 600;
    const { showNow, token } = await shownOnce({ expiresAt });
    now = expiresAt;
    expect(showNow(token)).toBeUndefined();
  });

  test("is not believed once it is older than tokens may be", async () => {
    const { showNow, token } = await shownOnce({}, 400);
    now += 400;
    expect(showNow(token)).toBeUndefined();
  });

  test("is asked for each time where nothing is known of what is written", async () => {
    const { written, show, showNow, token } = await shownOnce();
    written.entitiesVersion = undefined;
    expect(showNow(token)).toBeUndefined();
    expect(await show(token)).toBe(MINA);
    expect(showNow(token)).toBeUndefined();
  });

  test("is not believed by what was asked before a write that came meanwhile", async () => {
    const { written, show, showNow, token } = await shownOnce();
    written.entitiesVersion = 8;
    const showing = show(token);
    written.entitiesVersion = 9;
    expect(await showing).toBe(MINA);
    expect(showNow(token)).toBeUndefined();
  });
});
