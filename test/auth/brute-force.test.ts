/** Brute force: an address with too many failures must wait, others need not. */
import { expect, test } from "vitest";
import { createFailureLimit } from "../../src/auth/rate-limits.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { guardedService } from "./guarded-service.ts";

test("the thirty-first wrong token of a minute is answered with 429 and Retry-After", async () => {
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
  // The admin token is accepted although it was not seen before. Wrong tokens after it are still
  // rejected.
  const operated = await service.client.call(
    "POST",
    "/operations?action=listJobs",
    {},
    service.operator,
  );
  expect(operated.status).toBe(200);
  expect((await read(service.operator)).status).toBe(200);
  expect((await read(asBearer("another"))).status).toBe(429);
  // Tokens that were accepted before, and requests without a token, are still accepted.
  expect((await read(asBearer(token))).status).toBe(200);
  expect((await read({}, "/config")).status).toBe(200);
});

test("the window ends after a minute, and addresses count per network", () => {
  let now = 0;
  const limit = createFailureLimit(() => now);
  for (let i = 0; i < 30; i++) limit.count("2001:db8:1:2::1");
  const rejected = (address: string) => {
    try {
      limit.check(address);
      return undefined;
    } catch (error) {
      return (error as { retryAfterSeconds: number }).retryAfterSeconds;
    }
  };
  expect(rejected("2001:db8:1:2::1")).toBe(60);
  expect(rejected("2001:db8:1:2:ffff::7")).toBe(60);
  expect(rejected("2001:db8:1:3::1")).toBeUndefined();
  expect(rejected("::1")).toBeUndefined();
  expect(rejected("192.0.2.1")).toBeUndefined();
  now = 59_999;
  expect(rejected("2001:db8:1:2::1")).toBe(1);
  now = 60_000;
  expect(rejected("2001:db8:1:2::1")).toBeUndefined();
});
