/** How long tokens may live, and the older way of making them. */
import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { createAuthentication } from "../../src/auth/authentication.ts";
import { createFailureLimit } from "../../src/auth/failure-limit.ts";
import { openSigningKeys } from "../../src/auth/signing-keys.ts";
import { createTokenFormat, tokenId } from "../../src/auth/token-format.ts";
import { ask, faultOf, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { guardedService, whoIs } from "./guarded-service.ts";

test("no token lives longer than the setting says, however it was made", async () => {
  await using service = await guardedService({ tokenDurationMax: "NO_EXPIRY" });
  const { token } = await makeToken(service.client, { duration: "NO_EXPIRY" }, service.operator);
  expect(await whoIs(service.client, token)).toBe(ROOT);

  await using bounded = await guardedService({ tokenDurationMax: "ONE_WEEK" });
  const make = (duration: string) =>
    ask(
      bounded.client,
      `mutation { createAccessToken(input: {type: PERSONAL, actorUrn: "${ROOT}", duration: ${duration}, name: "t"}) { accessToken } }`,
      {},
      bounded.operator,
    );
  for (const duration of ["NO_EXPIRY", "ONE_MONTH"]) {
    const fault = faultOf(await make(duration));
    expect(fault.message).toBe(
      `a token may not live as long as ${duration}. Ask for ONE_WEEK or less`,
    );
    expect(fault.extensions.code).toBe(400);
  }
  expect(faultOf(await make("ONE_WEEK"))).toBeUndefined();
});

test("getAccessToken makes a token without a name, by a literal or a variable", async () => {
  await using service = await guardedService();
  const query = `query($input: GetAccessTokenInput!) { getAccessToken(input: $input) { accessToken metadata { name } } }`;
  const input = { type: "PERSONAL", actorUrn: ROOT, duration: "ONE_HOUR" };
  const { body } = await ask(service.client, query, { input }, service.operator);
  expect(body.data.getAccessToken.metadata.name).toBe("made without a name");
  expect(await whoIs(service.client, body.data.getAccessToken.accessToken)).toBe(ROOT);
});

test("a token that was made while more was allowed is not believed any more", async () => {
  using directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  const createdAt = 1_772_409_600_000;
  let now = createdAt;
  const logger = { warn: () => {} };
  const keys = openSigningKeys({ data: directory.path, given: "", logger });
  const format = createTokenFormat(keys, { namespace: "li" });
  const token = await format.sign({ type: "PERSONAL", actor: ROOT }, createdAt);
  const urn = `urn:li:dataHubAccessToken:${tokenId(token)}`;
  const stored = new Map([
    [ROOT, {}],
    [urn, { dataHubAccessTokenInfo: { createdAt } }],
  ]);
  const authentication = createAuthentication({
    ...{ required: true, operatorToken: { admits: () => false }, format, namespace: "li" },
    entities: { find: async (one) => stored.get(one), list: async () => stored },
    failures: createFailureLimit(() => now),
    now: () => now,
    lifeMax: 3_600_000,
    logger,
  });
  const show = () =>
    authentication.authenticate({ authorization: `Bearer ${token}`, address: "192.0.2.1" });
  now = createdAt + 3_599_999;
  expect(await show()).toBe(ROOT);
  now++;
  await expect(show()).rejects.toThrow("older than tokens may be");
});
