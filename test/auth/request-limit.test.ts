/**
 * Requests over the rate limit are rejected with 429 and Retry-After, separately for each caller.
 */
import { expect, test } from "vitest";
import { createRequestLimit } from "../../src/auth/rate-limits.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { guardedService } from "./guarded-service.ts";

test("a bucket holds the requests of two seconds, and refills", () => {
  let now = 0;
  const limit = createRequestLimit(10, () => now);
  const taken = (actor: string | undefined, address = "::1"): number => {
    for (let count = 0; ; count++) {
      try {
        limit?.take({ actor, address });
      } catch (error) {
        expect(error).toMatchObject({ code: "rate_limited", retryAfterSeconds: 1 });
        return count;
      }
    }
  };
  expect(taken("a")).toBe(20);
  expect(taken("b")).toBe(20);
  expect(taken(undefined, "2001:db8:1:2::1")).toBe(20);
  expect(taken(undefined, "2001:db8:1:2::ffff")).toBe(0);
  now = 500;
  expect(taken("a")).toBe(5);
  now = 60_000;
  expect(taken("a")).toBe(20);
  // A clock that goes back takes no tokens away.
  now = 0;
  expect(taken("a")).toBe(0);
});

test("without a rate there is no limit", () => {
  expect(createRequestLimit(0, Date.now)).toBeUndefined();
});

test("429 and Retry-After apply to the caller over the limit, on every path except health", async () => {
  await using service = await guardedService({ requestsPerSecondMax: "3" });
  const makes = (actorUrn: string) => makeToken(service.client, { actorUrn }, service.operator);
  const mina = asBearer((await makes("urn:li:corpuser:mina")).token);
  const olaf = asBearer((await makes("urn:li:corpuser:olaf")).token);
  const get = (path: string, headers: Record<string, string>) =>
    service.client.call("GET", path, undefined, headers);
  const paths = [
    "/entitiesV2/urn:li:tag:a",
    "/config",
    "/nowhere",
    "/openapi/v3/entity/tag/urn:li:tag:a",
  ];
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, n) => get(paths[n % paths.length] ?? "", mina)),
  );
  const rejected = replies.filter(({ status }) => status === 429);
  expect(rejected.length).toBeGreaterThan(10);
  for (const { body, headers } of rejected) {
    expect(body).toMatchObject({ status: 429, code: "rate_limited" });
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  }
  expect((await get("/entitiesV2/urn:li:tag:a", olaf)).status).toBe(200);
  for (let again = 0; again < 10; again++) {
    expect((await get("/health/live", {})).status).toBe(200);
  }
  await expect.poll(async () => (await get("/config", mina)).status).toBe(200);
});
