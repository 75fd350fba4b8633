/**
 * The token API of the interface (sections 4.1 and 5), sentence by sentence, on a service with
 * default settings.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asActor, asBearer, ask, faultOf, makeToken, ROOT } from "../graphql/graphql-client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const OTTO = "urn:li:corpuser:otto";
const create = (body: string) => `mutation { createAccessToken(input: {${body}}) {
  accessToken metadata { id name description } } }`;
const denial = {
  message: "Unauthorized to perform this action. Please contact your DataHub administrator.",
  path: expect.any(Array),
  extensions: { code: 403, type: "UNAUTHORIZED", classification: "DataFetchingException" },
};

describe("createAccessToken", () => {
  test("returns the token with its id, name and description", async () => {
    const reply = await ask(
      service.client,
      create(`type: PERSONAL, actorUrn: "${ROOT}", duration: ONE_HOUR, name: "my token"`),
    );
    expect(reply.status).toBe(200);
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect(reply.body).toEqual({
      data: {
        createAccessToken: {
          accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
          metadata: { id: expect.any(String), name: "my token", description: null },
        },
      },
      extensions: {},
    });
  });

  test.each(["GetAccessTokenInput", "CreateAccessTokenInput"])(
    "accepts a variable of the type %s",
    async (type) => {
      const query = `mutation($input: ${type}!) { createAccessToken(input: $input) { accessToken } }`;
      const input = { type: "PERSONAL", actorUrn: ROOT, duration: "ONE_HOUR", name: "by variable" };
      const { body } = await ask(service.client, query, { input });
      expect(body.data.createAccessToken.accessToken).toEqual(expect.any(String));
    },
  );

  test.each([
    ["ONE_HOUR", 3_600_000],
    ["ONE_DAY", 86_400_000],
    ["ONE_WEEK", 604_800_000],
    ["ONE_MONTH", 2_592_000_000],
    ["THREE_MONTHS", 7_776_000_000],
    ["SIX_MONTHS", 15_552_000_000],
    ["ONE_YEAR", 31_536_000_000],
    ["NO_EXPIRY", undefined],
  ])("a token with the duration %s expires after %s ms", async (duration, life) => {
    const { token } = await makeToken(service.client, { duration, name: duration });
    const { body } = await ask(
      service.client,
      `query($token: String!) { getAccessTokenMetadata(token: $token) {
         urn type id name description actorUrn ownerUrn owner { urn username } createdAt expiresAt } }`,
      { token },
    );
    const { createdAt, expiresAt, ...rest } = body.data.getAccessTokenMetadata;
    expect(rest).toEqual({
      urn: `urn:li:dataHubAccessToken:${rest.id}`,
      type: "ACCESS_TOKEN",
      id: expect.any(String),
      name: duration,
      description: null,
      actorUrn: ROOT,
      ownerUrn: ROOT,
      owner: { urn: ROOT, username: "datahub" },
    });
    expect(expiresAt).toBe(life === undefined ? null : createdAt + life);
  });

  test("creates tokens of service accounts only for users that are service accounts", async () => {
    const robot = "urn:li:corpuser:robot";
    const input = `type: SERVICE_ACCOUNT, actorUrn: "${robot}", duration: ONE_DAY, name: "r"`;
    const before = await ask(service.client, create(input));
    expect(faultOf(before)).toMatchObject({ extensions: { code: 400, type: "BAD_REQUEST" } });
    await service.client.upsert(robot, "subTypes", { typeNames: ["SERVICE_ACCOUNT"] });
    const after = await ask(service.client, create(input));
    expect(after.body.data.createAccessToken.accessToken).toEqual(expect.any(String));
  });

  test.each([
    [
      'type: PERSONAL, actorUrn: "urn:li:tag:a", duration: ONE_HOUR, name: "x"',
      "is not the urn of a user",
    ],
    ['type: PERSONAL, actorUrn: "jdoe", duration: ONE_HOUR, name: "x"', "is not a urn"],
    ['type: PERSONAL, actorUrn: "urn:li:corpuser:a", duration: ONE_HOUR, name: " "', "no name"],
    [
      'type: PERSONAL, actorUrn: "urn:li:corpuser:__datahub_system", duration: ONE_HOUR, name: "x"',
      "is not the urn of a user",
    ],
    [
      `type: PERSONAL, actorUrn: "urn:li:corpuser:a", duration: ONE_HOUR, name: "${"x".repeat(201)}"`,
      "201 characters; at most 200 are allowed",
    ],
  ])("rejects the input {%s}", async (input, message) => {
    const reply = await ask(service.client, create(input));
    expect(reply.body.data).toEqual({ createAccessToken: null });
    expect(faultOf(reply)).toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 400, type: "BAD_REQUEST" },
    });
  });

  test.each([
    'type: PERSONAL, actorUrn: "urn:li:corpuser:a", duration: AGES, name: "x"',
    'type: SESSION, actorUrn: "urn:li:corpuser:a", duration: ONE_HOUR, name: "x"',
    'type: PERSONAL, actorUrn: "urn:li:corpuser:a", duration: ONE_HOUR',
    'type: PERSONAL, duration: ONE_HOUR, name: "x"',
  ])("answers a validation error for the input {%s}", async (input) => {
    const reply = await ask(service.client, create(input));
    expect(reply.status).toBe(200);
    expect(reply.body.data).toBeNull();
    expect(faultOf(reply).extensions).toEqual({ classification: "ValidationError" });
  });
});

describe("listAccessTokens", () => {
  const LIST = `query($input: ListAccessTokenInput!) { listAccessTokens(input: $input) {
    start count total tokens { urn id actorUrn name } } }`;
  const list = (input: object, actor = ROOT) =>
    ask(service.client, LIST, { input }, asActor(actor));
  const mina = "urn:li:corpuser:mina";

  test.each([
    ["ownerUrn", "value"],
    ["ownerUrn", "values"],
    ["actorUrn", "value"],
    ["actorUrn", "values"],
  ])("a filter of %s by %s returns the caller's own tokens", async (field, member) => {
    const { id } = await makeToken(service.client, { name: "listed" });
    const filter = { field, [member]: member === "value" ? ROOT : [ROOT] };
    const { body } = await list({ start: 0, count: 100, filters: [filter] });
    const { start, count, total, tokens } = body.data.listAccessTokens;
    expect({ start, count }).toEqual({ start: 0, count: 100 });
    expect(total).toBe(tokens.length);
    const urn = `urn:li:dataHubAccessToken:${id}`;
    expect(tokens).toContainEqual({ urn, id, actorUrn: ROOT, name: "listed" });
  });

  test("without filters, the list has the tokens of all users", async () => {
    await makeToken(service.client, { actorUrn: mina });
    for (const input of [
      { start: 0, count: 100, filters: [] },
      { count: 100 },
      { filters: null },
    ]) {
      const { body } = await list(input);
      const actors = body.data.listAccessTokens.tokens.map(
        (token: { actorUrn: string }) => token.actorUrn,
      );
      expect(new Set(actors)).toEqual(new Set([ROOT, mina, ...actors]));
    }
  });

  test("filters by every property of the token", async () => {
    const { id } = await makeToken(service.client, {
      name: "The Quick One",
      description: "of a fox",
    });
    const found = async (...filters: object[]) =>
      (await list({ count: 100, filters })).body.data.listAccessTokens.tokens.map(
        (token: { id: string }) => token.id,
      );
    expect(await found({ field: "id", values: [id] })).toEqual([id]);
    expect(await found({ field: "name", values: ["The Quick One"] })).toEqual([id]);
    expect(await found({ field: "name", value: "quick", condition: "CONTAIN" })).toEqual([id]);
    expect(await found({ field: "name", value: "the quick one", condition: "IEQUAL" })).toEqual([
      id,
    ]);
    expect(await found({ field: "name", value: "the q", condition: "START_WITH" })).toEqual([id]);
    expect(await found({ field: "name", value: "k one", condition: "END_WITH" })).toEqual([id]);
    expect(await found({ field: "description", condition: "EXISTS" })).toEqual([id]);
    expect(
      await found(
        { field: "id", value: id },
        { field: "createdAt", value: "0", condition: "GREATER_THAN" },
      ),
    ).toEqual([id]);
    expect(
      await found(
        { field: "id", value: id },
        { field: "expiresAt", value: "0", condition: "LESS_THAN" },
      ),
    ).toEqual([]);
    expect(await found({ field: "id", value: id, negated: true })).not.toContain(id);
  });

  test("sorts by expiry, the latest first, with unlimited tokens at the end, on every page", async () => {
    const all = (await list({ count: 100 })).body.data.listAccessTokens;
    const pages = [];
    for (let start = 0; start < all.total; start += 3) {
      const page = (await list({ start, count: 3 })).body.data.listAccessTokens;
      expect(page).toMatchObject({ start, count: 3, total: all.total });
      pages.push(...page.tokens);
    }
    expect(pages).toEqual(all.tokens);
    expect(all.tokens.at(-1).name).toBe("NO_EXPIRY");
    expect(all.tokens[0].name).toBe("ONE_YEAR");
  });

  test.each([
    [{ start: -1 }, "start is -1"],
    [{ count: 1001 }, "count is 1001"],
    [{ filters: [{ field: "colour", values: ["red"] }] }, 'no field "colour"'],
    [{ filters: [{ field: "name" }] }, "has no values"],
    [{ filters: [{ field: "name", values: ["a"], condition: "RELATED_INCL" }] }, "RELATED_INCL"],
    [{ filters: [{ field: "createdAt", value: "soon", condition: "LESS_THAN" }] }, "is no number"],
  ])("rejects %j", async (input, message) => {
    expect(faultOf(await list(input))).toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 400, type: "BAD_REQUEST" },
    });
  });

  test("a user without the privilege may not list tokens, not even own ones", async () => {
    for (const filters of [
      [],
      [{ field: "ownerUrn", value: OTTO }],
      [{ field: "ownerUrn", value: ROOT }],
    ]) {
      const reply = await list({ filters }, OTTO);
      expect(reply.status).toBe(200);
      expect(reply.body.data).toBeNull();
      expect(faultOf(reply)).toMatchObject(denial);
    }
  });
});

describe("revokeAccessToken", () => {
  const revoke = (id: string, headers = asActor(ROOT)) =>
    ask(
      service.client,
      "mutation($id: String!) { revokeAccessToken(tokenId: $id) }",
      { id },
      headers,
    );

  test("returns true and removes the token from the list", async () => {
    const { id } = await makeToken(service.client);
    expect((await revoke(id)).body).toEqual({ data: { revokeAccessToken: true }, extensions: {} });
    const { body } = await ask(
      service.client,
      `query($id: String!) { listAccessTokens(input: {filters: [{field: "id", value: $id}]}) { total } }`,
      { id },
    );
    expect(body.data.listAccessTokens.total).toBe(0);
  });

  test("a token that does not exist is answered with the cause", async () => {
    const { id } = await makeToken(service.client);
    await revoke(id);
    for (const gone of [id, "nope", "", "urn:li:corpuser:datahub", "../x"]) {
      const reply = await revoke(gone);
      expect(reply.body.data).toBeNull();
      expect(faultOf(reply)).toMatchObject({
        message: "Failed to revoke access token. Access token no longer exists",
        extensions: { code: 500, type: "SERVER_ERROR", classification: "DataFetchingException" },
      });
    }
  });

  test("a user without the privilege gets the same error for existing and unknown tokens", async () => {
    const { id } = await makeToken(service.client);
    const denied = [await revoke(id, asActor(OTTO)), await revoke("nope", asActor(OTTO))];
    for (const reply of denied) expect(faultOf(reply)).toMatchObject(denial);
  });
});

describe("permission to use the token API", () => {
  const MINE = (actor: string) =>
    create(`type: PERSONAL, actorUrn: "${actor}", duration: ONE_HOUR, name: "x"`);

  test("by default only the root user and administrators may create tokens", async () => {
    const denied = await ask(service.client, MINE(OTTO), {}, asActor(OTTO));
    expect(denied.body.data).toEqual({ createAccessToken: null });
    expect(faultOf(denied)).toMatchObject(denial);

    const admin = "urn:li:corpuser:ada";
    await service.client.upsert(admin, "roleMembership", { roles: ["urn:li:dataHubRole:Admin"] });
    const made = await ask(service.client, MINE(OTTO), {}, asActor(admin));
    expect(made.body.data.createAccessToken.accessToken).toEqual(expect.any(String));
  });

  test("a request without an actor may not use the token API", async () => {
    const reply = await ask(service.client, MINE(ROOT), {}, {});
    expect(faultOf(reply)).toMatchObject(denial);
    expect(faultOf(await ask(service.client, "{ me { corpUser { urn } } }", {}, {}))).toMatchObject(
      denial,
    );
  });

  test("every user may manage own tokens once the built-in inactive policy is activated", async () => {
    const policy = {
      displayName: "All users: own tokens",
      description: "Every user may make and see tokens of their own.",
      type: "PLATFORM",
      privileges: ["GENERATE_PERSONAL_ACCESS_TOKENS"],
      actors: { allUsers: true },
    };
    const put = (state: string) =>
      service.client.upsert("urn:li:dataHubPolicy:7", "dataHubPolicyInfo", { ...policy, state });
    expect((await put("ACTIVE")).status).toBe(200);
    const { token, id } = await makeToken(service.client, { actorUrn: OTTO }, asActor(OTTO));
    const own = await ask(
      service.client,
      `{ listAccessTokens(input: {filters: [{field: "ownerUrn", value: "${OTTO}"}]}) { total tokens { id } } }`,
      {},
      asBearer(token),
    );
    expect(own.body.data.listAccessTokens).toEqual({ total: 1, tokens: [{ id }] });
    // A filter by the actor also finds the tokens, and value and values combine.
    for (const filters of [
      [{ field: "actorUrn", value: OTTO }],
      [{ field: "actorUrn", values: [OTTO] }],
      [{ field: "ownerUrn", value: OTTO, values: [OTTO] }],
      [
        { field: "actorUrn", values: [OTTO] },
        { field: "id", value: "nope", values: [id] },
      ],
    ]) {
      const list = `query($filters: [FacetFilterInput!]) {
        listAccessTokens(input: {filters: $filters}) { tokens { id actorUrn } } }`;
      const found = await ask(service.client, list, { filters }, asBearer(token));
      const tokens: { id: string; actorUrn: string }[] = found.body.data.listAccessTokens.tokens;
      expect(tokens, JSON.stringify(filters)).toContainEqual({ id, actorUrn: OTTO });
      expect(new Set(tokens.map(({ actorUrn }) => actorUrn))).toEqual(new Set([OTTO]));
    }
    for (const query of [
      MINE(ROOT),
      "{ listAccessTokens(input: {filters: []}) { total } }",
      `{ listAccessTokens(input: {filters: [{field: "ownerUrn", values: ["${OTTO}", "${ROOT}"]}]}) { total } }`,
      `{ listAccessTokens(input: {filters: [{field: "ownerUrn", value: "${OTTO}", negated: true}]}) { total } }`,
      `{ listAccessTokens(input: {filters: [{field: "ownerUrn", value: "${OTTO}", condition: START_WITH}]}) { total } }`,
      `{ getAccessTokenMetadata(token: "${token}") { id } }`,
    ]) {
      expect(faultOf(await ask(service.client, query, {}, asBearer(token))), query).toMatchObject(
        denial,
      );
    }
    await put("INACTIVE");
    expect(faultOf(await ask(service.client, MINE(OTTO), {}, asActor(OTTO)))).toMatchObject(denial);
    // The owner of a token may always revoke it.
    const revoked = await ask(
      service.client,
      `mutation { revokeAccessToken(tokenId: "${id}") }`,
      {},
      asBearer(token),
    );
    expect(revoked.body.data).toEqual({ revokeAccessToken: true });
  });
});

describe("POST /api/graphql", () => {
  const query = "{ me { corpUser { urn username } platformPrivileges { manageTokens } } }";

  test.each([
    "/api/graphql",
    "/api/v2/graphql",
    "/graphql",
    "/gms/api/graphql",
    "/api/gms/api/graphql",
    "/api/gms/api/v2/graphql",
    "/gms/graphql",
  ])("answers a query at %s", async (path) => {
    const { status, body } = await service.client.call("POST", path, { query }, asActor(ROOT));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: {
          me: {
            corpUser: { urn: ROOT, username: "datahub" },
            platformPrivileges: { manageTokens: true },
          },
        },
        extensions: {},
      },
    });
  });

  test("rejects every body that is not a JSON object with a query", async () => {
    for (const body of [
      "{",
      "[]",
      "{}",
      '{"query": 5}',
      '{"query": "{me{corpUser{urn}}}", "variables": []}',
    ]) {
      const reply = await service.client.call("POST", "/api/graphql", body, asActor(ROOT));
      expect({ status: reply.status, code: reply.body.code }, body).toEqual({
        status: 400,
        code: "malformed",
      });
    }
    const got = await service.client.get("/api/graphql");
    expect({ status: got.status, allow: got.headers.get("allow") }).toEqual({
      status: 405,
      allow: "POST",
    });
  });

  test("rejects a body of more than 1 MiB", async () => {
    const reply = await ask(service.client, query, { padding: "x".repeat(2 ** 20) });
    expect({ status: reply.status, code: reply.body.code }).toEqual({
      status: 413,
      code: "too_large",
    });
    expect(reply.body.message).toContain("at most 1048576 are allowed");
  });
});
