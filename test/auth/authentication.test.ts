/** Each thing that a token is asked, on its own: in a whole service one would hide the other. */
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAuthentication } from "../../src/auth/authentication.ts";
import { createFailureLimit } from "../../src/auth/failure-limit.ts";
import { openSigningKeys } from "../../src/auth/signing-keys.ts";
import { createTokenFormat, tokenId } from "../../src/auth/token-format.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { resigned } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const claims = { type: "PERSONAL", actor: MINA } as const;

let directory: ReturnType<typeof temporaryDirectory>;
let now: number;
beforeEach(() => {
  directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  now = 1_772_409_600_000;
});
afterEach(() => directory[Symbol.dispose]());

function open() {
  const keys = openSigningKeys({
    ...{ data: directory.path, given: "", logger: { warn: () => {} } },
  });
  const format = createTokenFormat(keys, { namespace: "li" });
  const stored = new Map<string, Record<string, unknown>>([[MINA, {}]]);
  const authentication = createAuthentication({
    required: true,
    operatorToken: { admits: () => false },
    format,
    entities: { find: async (urn) => stored.get(urn), list: async () => stored },
    failures: createFailureLimit(() => now),
    namespace: "li",
    now: () => now,
    logger: { warn: () => {} },
  });
  return {
    key: keys.current.secret,
    format,
    stored,
    show: (token: string) =>
      authentication.authenticate({ authorization: `Bearer ${token}`, address: "192.0.2.1" }),
  };
}

describe("the text of a token", () => {
  test.each([
    ["another issuer", { claims: { iss: "datahub-metadata-service" } }],
    ["no issuer", { claims: { iss: undefined } }],
    ["another version", { claims: { version: "1" } }],
    ["another type", { claims: { type: "SESSION" } }],
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
    const door = open();
    const expiresAt = life === undefined ? undefined : now + life;
    const token = await door.format.sign({ ...claims, expiresAt }, now);
    const urn = `urn:li:dataHubAccessToken:${tokenId(token)}`;
    door.stored.set(urn, {});
    expect(await door.show(token)).toBe(MINA);
    return { ...door, token, urn };
  }
  const refused = (message: string) => ({
    code: "unauthenticated",
    message: expect.stringContaining(message),
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
