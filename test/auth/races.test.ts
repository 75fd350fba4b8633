/**
 * A token that is revoked while it is in use: every request sent after the response to the
 * revocation is rejected.
 */
import { expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { guardedService } from "./guarded-service.ts";

const workers = 8;
const tokens = 6;

test("race of revocation and use: no request after the revocation is accepted", async () => {
  await using service = await guardedService();
  const { client, operator } = service;
  const read = (token: string) =>
    client.call("GET", "/entitiesV2/urn:li:tag:a", undefined, asBearer(token));
  const made = [];
  for (let n = 0; n < tokens; n++) {
    const one = await makeToken(client, {}, operator);
    // A token that was accepted before is exempt from the limit of failures.
    expect((await read(one.token)).status).toBe(200);
    made.push(one);
  }
  for (const { token, id } of made) {
    let revoked = false;
    let late = 0;
    let accepted = 0;
    const use = async (): Promise<void> => {
      while (late < workers * 4) {
        const sentAfter = revoked;
        const { status } = await read(token);
        if (sentAfter) late++;
        // After too many failures, requests are rejected without verification.
        if (sentAfter) expect([401, 429]).toContain(status);
        else if (status === 200) accepted++;
      }
    };
    const users = Array.from({ length: workers }, use);
    await expect.poll(() => accepted).toBeGreaterThan(workers);
    await ask(client, `mutation { revokeAccessToken(tokenId: "${id}") }`, {}, operator);
    revoked = true;
    await Promise.all(users);
  }
});
