/**
 * Attacks on tokens, each named after what it is known for elsewhere. A service that falls for one of
 * them takes a stranger for somebody.
 */
import { generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, faultOf, makeToken, ROOT } from "../graphql/graphql-client.ts";
import {
  encodedPart,
  type GuardedService,
  guardedService,
  partsOf,
  resigned,
  whoIs,
} from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";

let service: GuardedService;
let token: string;

async function open(): Promise<void> {
  service = await guardedService();
  ({ token } = await makeToken(service.client, { actorUrn: MINA }, service.operator));
}
// A new one for each, so that none is slowed down by the failures of those before.
beforeEach(open);
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

const refused = async (forged: string): Promise<void> => {
  expect(await whoIs(service.client, forged), forged).toBe(401);
};

test("a token of the service is believed: without that the rest would prove nothing", async () => {
  expect(await whoIs(service.client, token)).toBe(MINA);
  expect(await whoIs(service.client, await resigned(token, { key: service.key }))).toBe(MINA);
});

describe("the signature", () => {
  test("alg none: an unsigned token", async () => {
    const { head, claims } = partsOf(token);
    for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
      const start = `${encodedPart({ ...head, alg })}.${encodedPart(claims)}`;
      await refused(`${start}.`);
      await refused(`${start}.${partsOf(token).signature}`);
      await refused(start);
    }
  });

  test("alg confusion: another algorithm with the key of ours", async () => {
    for (const alg of ["HS384", "HS512"]) {
      const key = Buffer.concat([service.key, service.key]);
      await refused(
        await resigned(token, { head: { alg }, key: service.key.length >= 64 ? service.key : key }),
      );
    }
    const { privateKey } = await generateKeyPair("ES256");
    const { head, claims } = partsOf(token);
    const other = await new SignJWT(claims)
      .setProtectedHeader({ ...head, alg: "ES256" })
      .sign(privateKey);
    await refused(other);
    // The head says HS256, the signature is of the other kind.
    await refused(`${encodedPart(head)}.${encodedPart(claims)}.${other.split(".")[2]}`);
  });

  test("empty and foreign: no signature, and that of another key", async () => {
    const [head, claims] = token.split(".");
    await refused(`${head}.${claims}.`);
    await refused(await resigned(token, { key: Buffer.alloc(32, 7) }));
    await refused(
      await resigned(token, { key: Buffer.from("WnEdIeTG/VVCLQqGwC/BAkqyY0k+H8NEAtWGejrBI94=") }),
    );
  });

  test("key of the attacker's choice: kid, jwk, jku and x5u say nothing", async () => {
    const key = Buffer.alloc(32, 9);
    const jwk = { kty: "oct", k: key.toString("base64url") };
    for (const head of [
      { kid: "../../../../dev/null" },
      { kid: "' OR 1=1 --" },
      { kid: "" },
      { kid: undefined },
      { kid: "__proto__" },
      { jwk },
      { jku: "http://127.0.0.1:9/keys" },
      { x5u: "http://127.0.0.1:9/keys" },
    ]) {
      await refused(await resigned(token, { head, key }));
    }
  });

  test("critical extensions and other types of tokens are not passed over", async () => {
    const { head, claims } = partsOf(token);
    for (const other of [{ crit: ["exp"] }, { crit: ["b64"], b64: false }, { typ: "at+jwt" }]) {
      const changed = { ...head, ...other };
      await refused(`${encodedPart(changed)}.${encodedPart(claims)}.${partsOf(token).signature}`);
    }
    await refused(await resigned(token, { head: { typ: "secevent+jwt" }, key: service.key }));
  });
});

describe("the claims", () => {
  test("tampered: another user under the old signature", async () => {
    const { head, claims, signature } = partsOf(token);
    for (const change of [
      { sub: "datahub" },
      { actorId: "datahub", sub: "datahub" },
      { exp: 9e9 },
    ]) {
      await refused(`${encodedPart(head)}.${encodedPart({ ...claims, ...change })}.${signature}`);
    }
  });

  test("signed by us, but not one that was made: it is not in the catalog", async () => {
    await refused(
      await resigned(token, { claims: { sub: "datahub", actorId: "datahub" }, key: service.key }),
    );
    await refused(await resigned(token, { claims: { jti: "another" }, key: service.key }));
  });

  test("expired: though it was extended, or has no end", async () => {
    const past = Math.floor(Date.now() / 1000) - 1;
    await refused(await resigned(token, { claims: { exp: past }, key: service.key }));
    await refused(await resigned(token, { claims: { exp: "soon" }, key: service.key }));
    await refused(await resigned(token, { claims: { nbf: past + 3600 }, key: service.key }));
  });
});

describe("who it is", () => {
  test("issuer and version of others", async () => {
    for (const claims of [
      { iss: "datahub-metadata-service" },
      { iss: undefined },
      { version: "1" },
      { type: "REFRESH" },
      { actorType: "SYSTEM" },
      { sub: "", actorId: "" },
      { sub: "mina", actorId: "datahub" },
    ]) {
      await refused(await resigned(token, { claims, key: service.key }));
    }
  });

  test("revoked: at once, and for good", async () => {
    const made = await makeToken(service.client, { actorUrn: MINA }, service.operator);
    expect(await whoIs(service.client, made.token)).toBe(MINA);
    const revoke = `mutation { revokeAccessToken(tokenId: "${made.id}") }`;
    expect(
      (await ask(service.client, revoke, {}, service.operator)).body.data.revokeAccessToken,
    ).toBe(true);
    await refused(made.token);
    await service.restart();
    await refused(made.token);
    expect(await whoIs(service.client, token)).toBe(MINA);
  });

  test("sessions that outlive their user: suspended, removed and deleted users", async () => {
    const put = async (aspect: string, value: object) => {
      const proposal = {
        entityType: "corpuser",
        entityUrn: MINA,
        changeType: "UPSERT",
        aspectName: aspect,
        aspect: { value: JSON.stringify(value), contentType: "application/json" },
      };
      const path = "/aspects?action=ingestProposal";
      expect((await service.client.call("POST", path, { proposal }, service.operator)).status).toBe(
        200,
      );
    };
    const stamp = { time: 1, actor: ROOT };
    await put("corpUserStatus", { status: "SUSPENDED", lastModified: stamp });
    await refused(token);
    await put("corpUserStatus", { status: "ACTIVE", lastModified: stamp });
    expect(await whoIs(service.client, token)).toBe(MINA);
    await put("status", { removed: true });
    await refused(token);
    const make = makeToken(service.client, { actorUrn: MINA }, service.operator);
    await expect(make).rejects.toThrow("is removed");
    await put("status", { removed: false });
    expect(await whoIs(service.client, token)).toBe(MINA);
    const gone = await service.client.call(
      "POST",
      "/entities?action=delete",
      { urn: MINA },
      service.operator,
    );
    expect(gone.status).toBe(200);
    await refused(token);
  });

  test("what is no token at all", async () => {
    for (const value of ["", "x", "a.b.c", "...", "e30.e30.e30", `${"a".repeat(5000)}`]) {
      await refused(value);
    }
    for (const authorization of [
      "Bearer",
      "bearer",
      "Basic ZGF0YWh1YjpkYXRhaHVi",
      "Basic __datahub_system:JohnSnowKnowsNothing",
      token,
      `Token ${token}`,
      `Bearer a ${token}`,
    ]) {
      const reply = await ask(
        service.client,
        "{ me { corpUser { urn } } }",
        {},
        { Authorization: authorization },
      );
      expect({ status: reply.status, code: reply.body.code }, authorization).toEqual({
        status: 401,
        code: "unauthenticated",
      });
      expect(reply.headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  test("a token in the query, in a cookie or in the body is none", async () => {
    const { body } = await service.client.call(
      "POST",
      `/api/graphql?access_token=${token}&token=${token}`,
      { query: "{ me { corpUser { urn } } }", token },
      { Cookie: `token=${token}; actor=${ROOT}` },
    );
    expect(body.code).toBe("unauthenticated");
  });
});

test("injection: names, ids and filters of GraphQL are values and nothing else", async () => {
  for (const hostile of [
    `a"}) { accessToken } }`,
    "'; DROP TABLE aspects; --",
    "$\u007b7*7}",
    "\u0000",
    "%00",
    "../../etc/passwd",
    "*",
    "a\r\nSet-Cookie: x=y",
  ]) {
    const name = hostile.replaceAll("\u0000", "0");
    const { id } = await makeToken(service.client, { name }, service.operator);
    const found = await ask(
      service.client,
      "query($input: ListAccessTokenInput!) { listAccessTokens(input: $input) { total tokens { id name } } }",
      { input: { filters: [{ field: "name", values: [name] }] } },
      service.operator,
    );
    expect(found.body.data.listAccessTokens).toEqual({ total: 1, tokens: [{ id, name }] });
    const missed = await ask(
      service.client,
      "mutation($id: String!) { revokeAccessToken(tokenId: $id) }",
      { id: hostile },
      service.operator,
    );
    expect(faultOf(missed)).toMatchObject({
      message: "Failed to revoke access token. Access token no longer exists",
      extensions: { code: 500 },
    });
    const sorted = await ask(
      service.client,
      "query($input: ListAccessTokenInput!) { listAccessTokens(input: $input) { total } }",
      { input: { filters: [{ field: hostile, values: ["x"] }] } },
      service.operator,
    );
    expect(faultOf(sorted).extensions.code).toBe(400);
  }
});
