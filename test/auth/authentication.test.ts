/** Each check of a token in isolation. In a running service, one check would mask another. */
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFailureLimit } from "../../src/auth/rate-limits.ts";
import { createAuthentication } from "../../src/auth/tokens/authentication.ts";
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
    ...{ data: directory.path, configuredFile: "", logger: { warn: () => {} } },
  });
  const format = createTokenFormat(keys, { namespace: "li" });
  const stored = new Map<string, Record<string, unknown>>([[MINA, {}]]);
  /** Entities in memory. */
  const states = new Map<string, EntityState>();
  /** The entities that were looked up, and the version of the latest known write. */
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
  ])("with %s is rejected as foreign, although correctly signed", async (_, change) => {
    const { format, key } = open();
    const token = await format.sign(claims, now);
    expect(await format.verify(token, now)).toMatchObject({ ok: true, claims });
    const forged = await resigned(token, { ...change, key });
    expect(await format.verify(forged, now)).toEqual({ ok: false, why: "foreign" });
  });
});

test("a header of many blanks is rejected in constant time", async () => {
  const { show } = open();
  const start = cpuMilliseconds();
  await expect(show(`${" ".repeat(60_000)}x${" ".repeat(60_000)}y`)).rejects.toMatchObject({
    code: "unauthenticated",
  });
  expect(cpuMilliseconds() - start).toBeLessThan(300);
});

describe("a token that was accepted before", () => {
  async function acceptedToken(life?: number) {
    const api = open();
    const expiresAt = life === undefined ? undefined : now + life;
    const token = await api.format.sign({ ...claims, expiresAt }, now);
    const urn = `urn:li:dataHubAccessToken:${tokenId(token)}`;
    api.stored.set(urn, { dataHubAccessTokenInfo: { name: "t" } });
    expect(await api.show(token)).toBe(MINA);
    return { ...api, token, urn };
  }
  const rejected = (message: string) => ({
    code: "unauthenticated",
    message: expect.stringContaining(message),
  });

  test("ends responses in flight as soon as it is no longer valid", async () => {
    const { endOf, token, urn, stored } = await acceptedToken(1000);
    expect(await endOf(token)).toBeUndefined();
    stored.set(MINA, { status: { removed: true } });
    expect(await endOf(token)).toMatchObject(rejected("was removed"));
    stored.set(MINA, { corpUserStatus: { status: "SUSPENDED" } });
    expect(await endOf(token)).toMatchObject(rejected("is suspended"));
    stored.set(MINA, {});
    expect(await endOf(token)).toBeUndefined();
    now += 1000;
    expect(await endOf(token)).toMatchObject(rejected("has expired"));
    now -= 1000;
    stored.delete(urn);
    expect(await endOf(token)).toMatchObject(rejected("was revoked"));
  });

  test("is rejected from the millisecond of its expiry", async () => {
    const { show, token } = await acceptedToken(1000);
    now += 999;
    expect(await show(token)).toBe(MINA);
    now += 1;
    await expect(show(token)).rejects.toMatchObject(rejected("expired"));
  });

  test("is rejected after its revocation, and counts as a failed attempt", async () => {
    const { show, token, urn, stored } = await acceptedToken();
    stored.delete(urn);
    for (let i = 0; i < 30; i++)
      await expect(show(token)).rejects.toMatchObject(rejected("revoked"));
    await expect(show(token)).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("is rejected when its record has no token info", async () => {
    const { show, token, urn, stored } = await acceptedToken();
    stored.set(urn, { dataHubAccessTokenKey: { id: "t" } });
    await expect(show(token)).rejects.toMatchObject(rejected("revoked"));
  });

  test.each([
    ["removed", { status: { removed: true } }],
    ["suspended", { corpUserStatus: { status: "SUSPENDED" } }],
    ["not in the catalog", undefined],
  ])("is rejected when its user is %s", async (message, user) => {
    const { show, token, stored } = await acceptedToken();
    if (user === undefined) stored.delete(MINA);
    else stored.set(MINA, user);
    await expect(show(token)).rejects.toMatchObject(rejected(message));
    stored.set(MINA, {});
    expect(await show(token)).toBe(MINA);
  });
});

describe("a connection with a verified token", () => {
  const connection = {};
  async function verifiedOn(life?: number, lifeMax?: number) {
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

  test("is verified again when the record in memory has no token info", async () => {
    const { showNow, token, urn, states } = await verifiedOn();
    states.set(urn, stateOf(urn, { status: { removed: false } }));
    expect(showNow(token, connection)).toBeUndefined();
  });

  test("acts as the user of the token in the current request", async () => {
    const { showNow, token, others } = await verifiedOn();
    expect(showNow(others.token, connection)).toBe(OTTO);
    expect(showNow(token, connection)).toBe(MINA);
    expect(showNow(`${token}x`, connection)).toBeUndefined();
    expect(showNow(token.slice(0, -1), connection)).toBeUndefined();
    expect(showNow("", connection)).toBeUndefined();
    expect(showNow(others.token)).toBe(OTTO);
  });

  test("is verified again when the token was revoked or its record is not loaded", async () => {
    const { showNow, token, urn, states } = await verifiedOn();
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
  ])("is verified again when its user is %s", async (_, aspects) => {
    const { showNow, token, states } = await verifiedOn();
    states.set(MINA, stateOf(MINA, aspects));
    expect(showNow(token, connection)).toBeUndefined();
    states.set(MINA, stateOf(MINA));
    expect(showNow(token, connection)).toBe(MINA);
  });

  test.each([
    ["expires", 1_000, undefined],
    ["reaches the maximum age", undefined, 1_000],
  ])("is verified again from the millisecond at which the token %s", async (_, life, lifeMax) => {
    const { showNow, token } = await verifiedOn(life, lifeMax);
    now += 999;
    expect(showNow(token, connection)).toBe(MINA);
    now += 1;
    expect(showNow(token, connection)).toBeUndefined();
  });
});

describe("a token whose entities are not in memory", () => {
  /** Verified once with lookups, and then without lookups while nothing is written. */
  async function verifiedOnce(more: object = {}, lifeMax?: number) {
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

  test("is looked up again after any write, and rejected when it was revoked", async () => {
    const { stored, written, show, showNow, token, urn } = await verifiedOnce();
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

  test("is looked up again after a second, also without known writes", async () => {
    const { show, showNow, token, stored } = await verifiedOnce();
    now += 1_000;
    expect(showNow(token)).toBeUndefined();
    stored.set(MINA, { corpUserStatus: { status: "SUSPENDED" } });
    await expect(show(token)).rejects.toThrow("suspended");
  });

  test("is rejected after its expiry", async () => {
    const expiresAt = now + 1_000;
    now += 600;
    const { showNow, token } = await verifiedOnce({ expiresAt });
    now = expiresAt;
    expect(showNow(token)).toBeUndefined();
  });

  test("is rejected once it is older than the maximum age", async () => {
    const { showNow, token } = await verifiedOnce({}, 400);
    now += 400;
    expect(showNow(token)).toBeUndefined();
  });

  test("is looked up for each request when writes are not tracked", async () => {
    const { written, show, showNow, token } = await verifiedOnce();
    written.entitiesVersion = undefined;
    expect(showNow(token)).toBeUndefined();
    expect(await show(token)).toBe(MINA);
    expect(showNow(token)).toBeUndefined();
  });

  test("is looked up again when a write happened during its lookup", async () => {
    const { written, show, showNow, token } = await verifiedOnce();
    written.entitiesVersion = 8;
    const showing = show(token);
    written.entitiesVersion = 9;
    expect(await showing).toBe(MINA);
    expect(showNow(token)).toBeUndefined();
  });
});
