/** Limits of token durations, and the older getAccessToken. */
import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { createFailureLimit } from "../../src/auth/rate-limits.ts";
import { createAuthentication } from "../../src/auth/tokens/authentication.ts";
import { openKeys } from "../../src/auth/tokens/key-file.ts";
import { createTokenFormat, tokenId } from "../../src/auth/tokens/token-format.ts";
import { asBearer, ask, faultOf, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { guardedService, whoIs } from "./guarded-service.ts";

test("no token exceeds the configured duration, whatever API creates it", async () => {
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
      `the duration ${duration} is longer than tokens may last. Send ONE_WEEK or a shorter duration`,
    );
    expect(fault.extensions.code).toBe(400);
  }
  expect(faultOf(await make("ONE_WEEK"))).toBeUndefined();
});

test("policies limit the durations of the tokens that users create", async () => {
  await using service = await guardedService({ tokenDurationMax: "ONE_YEAR" });
  const { client, operator } = service;
  const [mina, olaf] = ["urn:li:corpuser:mina", "urn:li:corpuser:olaf"];
  const [asMina, asOlaf] = [
    asBearer((await makeToken(client, { actorUrn: mina }, operator)).token),
    asBearer((await makeToken(client, { actorUrn: olaf }, operator)).token),
  ];
  const grant = async (id: string, privilege: string, actors: object) => {
    const info = {
      ...{ displayName: id, description: "", type: "PLATFORM", state: "ACTIVE" },
      ...{ privileges: [privilege], actors },
    };
    const body = { proposal: proposal(`urn:li:dataHubPolicy:${id}`, "dataHubPolicyInfo", info) };
    const { status } = await client.call("POST", "/aspects?action=ingestProposal", body, operator);
    expect(status).toBe(200);
  };
  const may = async (duration: string, headers: Record<string, string>, actorUrn: string) => {
    const input = `{type: PERSONAL, actorUrn: "${actorUrn}", duration: ${duration}, name: "t"}`;
    const created = await ask(
      client,
      `mutation { createAccessToken(input: ${input}) { accessToken } }`,
      {},
      headers,
    );
    const older = input.replace(', name: "t"', "");
    const got = await ask(
      client,
      `{ getAccessToken(input: ${older}) { accessToken } }`,
      {},
      headers,
    );
    expect(faultOf(got)?.extensions.code).toEqual(faultOf(created)?.extensions.code);
    return faultOf(created) === undefined || faultOf(created).extensions.type;
  };
  const lists = async (headers: Record<string, string>) => {
    const { body } = await ask(
      client,
      `{ me { platformPrivileges { generatePersonalAccessTokens } }
         listAccessTokens(input: {filters: [{field: "ownerUrn", value: "${mina}"}]}) { total } }`,
      {},
      headers,
    );
    const privileges = body.data?.me.platformPrivileges;
    return [privileges?.generatePersonalAccessTokens, body.errors === undefined];
  };

  expect(await may("ONE_HOUR", asMina, mina)).toBe("UNAUTHORIZED");
  expect((await lists(asMina))[1]).toBe(false);
  await grant("short", "GENERATE_PERSONAL_ACCESS_TOKENS_ONE_DAY", { allUsers: true });
  await grant("long", "GENERATE_PERSONAL_ACCESS_TOKENS_ONE_MONTH", { users: [mina] });
  for (const [duration, minas, olafs] of [
    ["ONE_HOUR", true, true],
    ["ONE_DAY", true, true],
    ["ONE_WEEK", true, "UNAUTHORIZED"],
    ["ONE_MONTH", true, "UNAUTHORIZED"],
    ["THREE_MONTHS", "UNAUTHORIZED", "UNAUTHORIZED"],
    ["NO_EXPIRY", "UNAUTHORIZED", "UNAUTHORIZED"],
  ] as const) {
    expect(await may(duration, asMina, mina), duration).toBe(minas);
    expect(await may(duration, asOlaf, olaf), duration).toBe(olafs);
    expect(await may(duration, asMina, olaf)).toBe("UNAUTHORIZED");
  }
  expect(await lists(asMina)).toEqual([true, true]);
  // The configured limit applies despite the policies.
  await grant("any", "GENERATE_PERSONAL_ACCESS_TOKENS", { users: [olaf] });
  expect(await may("ONE_YEAR", asOlaf, olaf)).toBe(true);
  expect(await may("NO_EXPIRY", asOlaf, olaf)).toBe("BAD_REQUEST");
});

test("getAccessToken creates a token without a name, by a literal or a variable", async () => {
  await using service = await guardedService();
  const query = `query($input: GetAccessTokenInput!) { getAccessToken(input: $input) { accessToken metadata { name } } }`;
  const input = { type: "PERSONAL", actorUrn: ROOT, duration: "ONE_HOUR" };
  const { body } = await ask(service.client, query, { input }, service.operator);
  expect(body.data.getAccessToken.metadata.name).toBe("made without a name");
  expect(await whoIs(service.client, body.data.getAccessToken.accessToken)).toBe(ROOT);
});

test("getAccessToken creates no token for another user, and only personal ones", async () => {
  await using service = await guardedService();
  const query = `query($input: GetAccessTokenInput!) { getAccessToken(input: $input) { accessToken } }`;
  const input = { type: "PERSONAL", actorUrn: ROOT, duration: "ONE_HOUR" };
  for (const other of [
    { ...input, actorUrn: "urn:li:corpuser:somebody" },
    { ...input, type: "SERVICE_ACCOUNT", actorUrn: "urn:li:corpuser:service_robot" },
  ]) {
    const { body } = await ask(service.client, query, { input: other }, service.operator);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 403 });
  }
});

test("a token that exceeds a lowered limit is rejected", async () => {
  using directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  const createdAt = 1_772_409_600_000;
  let now = createdAt;
  const logger = { warn: () => {} };
  const keys = openKeys({ name: "signing.key", data: directory.path, configuredFile: "", logger });
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
