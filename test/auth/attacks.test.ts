/**
 * Attacks on tokens, each under its common name. A service that is vulnerable to one of them
 * accepts an attacker as another user.
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
// A new service for each test, because failures slow down later attempts.
beforeEach(open);
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

const rejected = async (forged: string): Promise<void> => {
  expect(await whoIs(service.client, forged), forged).toBe(401);
};

test("control: a token of the service is accepted", async () => {
  expect(await whoIs(service.client, token)).toBe(MINA);
  expect(await whoIs(service.client, await resigned(token, { key: service.key }))).toBe(MINA);
});

describe("attacks on the signature", () => {
  test("alg none: an unsigned token is rejected", async () => {
    const { head, claims } = partsOf(token);
    for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
      const start = `${encodedPart({ ...head, alg })}.${encodedPart(claims)}`;
      await rejected(`${start}.`);
      await rejected(`${start}.${partsOf(token).signature}`);
      await rejected(start);
    }
  });

  test("algorithm confusion: the service's key with another algorithm is rejected", async () => {
    for (const alg of ["HS384", "HS512"]) {
      const key = Buffer.concat([service.key, service.key]);
      await rejected(
        await resigned(token, { head: { alg }, key: service.key.length >= 64 ? service.key : key }),
      );
    }
    const { privateKey } = await generateKeyPair("ES256");
    const { head, claims } = partsOf(token);
    const other = await new SignJWT(claims)
      .setProtectedHeader({ ...head, alg: "ES256" })
      .sign(privateKey);
    await rejected(other);
    // The header says HS256, the signature is of ES256.
    await rejected(`${encodedPart(head)}.${encodedPart(claims)}.${other.split(".")[2]}`);
  });

  test("an empty signature and a signature of another key are rejected", async () => {
    const [head, claims] = token.split(".");
    await rejected(`${head}.${claims}.`);
    await rejected(await resigned(token, { key: Buffer.alloc(32, 7) }));
    await rejected(
      await resigned(token, { key: Buffer.from("WnEdIeTG/VVCLQqGwC/BAkqyY0k+H8NEAtWGejrBI94=") }),
    );
  });

  test("kid, jwk, jku and x5u of the attacker choose no key", async () => {
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
      await rejected(await resigned(token, { head, key }));
    }
  });

  test("critical extensions and other token types are rejected", async () => {
    const { head, claims } = partsOf(token);
    for (const other of [{ crit: ["exp"] }, { crit: ["b64"], b64: false }, { typ: "at+jwt" }]) {
      const changed = { ...head, ...other };
      await rejected(`${encodedPart(changed)}.${encodedPart(claims)}.${partsOf(token).signature}`);
    }
    await rejected(await resigned(token, { head: { typ: "secevent+jwt" }, key: service.key }));
  });
});

describe("attacks on the claims", () => {
  test("tampering: another user under the original signature is rejected", async () => {
    const { head, claims, signature } = partsOf(token);
    for (const change of [
      { sub: "datahub" },
      { actorId: "datahub", sub: "datahub" },
      { exp: 9e9 },
    ]) {
      await rejected(`${encodedPart(head)}.${encodedPart({ ...claims, ...change })}.${signature}`);
    }
  });

  test("a correctly signed token that is not in the catalog is rejected", async () => {
    await rejected(
      await resigned(token, { claims: { sub: "datahub", actorId: "datahub" }, key: service.key }),
    );
    await rejected(await resigned(token, { claims: { jti: "another" }, key: service.key }));
  });

  test("an expired token is rejected, also with a changed or invalid expiry", async () => {
    const past = Math.floor(Date.now() / 1000) - 1;
    await rejected(await resigned(token, { claims: { exp: past }, key: service.key }));
    await rejected(await resigned(token, { claims: { exp: "soon" }, key: service.key }));
    await rejected(await resigned(token, { claims: { nbf: past + 3600 }, key: service.key }));
  });
});

describe("attacks on the identity", () => {
  test("another issuer, version, type or actor is rejected", async () => {
    for (const claims of [
      { iss: "datahub-metadata-service" },
      { iss: undefined },
      { version: "1" },
      { type: "REFRESH" },
      { actorType: "SYSTEM" },
      { sub: "", actorId: "" },
      { sub: "mina", actorId: "datahub" },
    ]) {
      await rejected(await resigned(token, { claims, key: service.key }));
    }
  });

  test("a revoked token is rejected at once and after a restart", async () => {
    const made = await makeToken(service.client, { actorUrn: MINA }, service.operator);
    expect(await whoIs(service.client, made.token)).toBe(MINA);
    const revoke = `mutation { revokeAccessToken(tokenId: "${made.id}") }`;
    expect(
      (await ask(service.client, revoke, {}, service.operator)).body.data.revokeAccessToken,
    ).toBe(true);
    await rejected(made.token);
    await service.restart();
    await rejected(made.token);
    expect(await whoIs(service.client, token)).toBe(MINA);
  });

  test("tokens of suspended, removed and deleted users are rejected", async () => {
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
    await rejected(token);
    await put("corpUserStatus", { status: "ACTIVE", lastModified: stamp });
    expect(await whoIs(service.client, token)).toBe(MINA);
    await put("status", { removed: true });
    await rejected(token);
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
    await rejected(token);
  });

  test("text that is not a token is rejected", async () => {
    for (const value of ["", "x", "a.b.c", "...", "e30.e30.e30", `${"a".repeat(5000)}`]) {
      await rejected(value);
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

  test("a token in the query, a cookie or the body is ignored", async () => {
    const { body } = await service.client.call(
      "POST",
      `/api/graphql?access_token=${token}&token=${token}`,
      { query: "{ me { corpUser { urn } } }", token },
      { Cookie: `token=${token}; actor=${ROOT}` },
    );
    expect(body.code).toBe("unauthenticated");
  });
});

test("injection: names, ids and filters of GraphQL are only values", async () => {
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
