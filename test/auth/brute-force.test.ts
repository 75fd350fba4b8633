/** Brute force: who fails too often waits, and others do not. */
import { expect, test } from "vitest";
import { createFailureLimit } from "../../src/auth/tokens/failure-limit.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { guardedService } from "./guarded-service.ts";

test("the thirty-first wrong token within a minute is not looked at: 429 and Retry-After", async () => {
  await using service = await guardedService();
  const { token } = await makeToken(service.client, {}, service.operator);
  const read = (headers: Record<string, string>, path = "/entitiesV2/urn:li:tag:a") =>
    service.client.call("GET", path, undefined, headers);
  expect((await read(asBearer(token))).status).toBe(200);
  for (let i = 0; i < 30; i++) expect((await read(asBearer(`wrong${i}`))).status).toBe(401);
  for (const wrong of ["another", "", "two words"]) {
    const late = await read(asBearer(wrong));
    const { status, body } = late;
    expect({ status, code: body.code }, wrong).toEqual({ status: 429, code: "rate_limited" });
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(30);
  }
  // Not so the operator's, which was never shown before, and what follows it is still refused.
  const operated = await service.client.call(
    "POST",
    "/operations?action=listJobs",
    {},
    service.operator,
  );
  expect(operated.status).toBe(200);
  expect((await read(service.operator)).status).toBe(200);
  expect((await read(asBearer("another"))).status).toBe(429);
  // Who was let in before still is, and who shows no token where none is needed.
  expect((await read(asBearer(token))).status).toBe(200);
  expect((await read({}, "/config")).status).toBe(200);
});

test("a window ends, and addresses are told apart by their network", () => {
  let now = 0;
  const limit = createFailureLimit(() => now);
  for (let i = 0; i < 30; i++) limit.count("2001:db8:1:2::1");
  const refused = (address: string) => {
    try {
      limit.check(address);
      return undefined;
    } catch (error) {
      return (error as { retryAfterSeconds: number }).retryAfterSeconds;
    }
  };
  expect(refused("2001:db8:1:2::1")).toBe(60);
  expect(refused("2001:db8:1:2:ffff::7")).toBe(60);
  expect(refused("2001:db8:1:3::1")).toBeUndefined();
  expect(refused("::1")).toBeUndefined();
  expect(refused("192.0.2.1")).toBeUndefined();
  now = 59_999;
  expect(refused("2001:db8:1:2::1")).toBe(1);
  now = 60_000;
  expect(refused("2001:db8:1:2::1")).toBeUndefined();
});
