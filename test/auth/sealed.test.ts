/**
 * Hashes of passwords and invites are never returned, through any interface and to any caller, with
 * and without authentication.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const MINA = "urn:li:corpuser:mina";
const INVITES = ["inviteToken"];
const CREDENTIALS = ["corpUserCredentials"];

/** Texts that no response may contain: the hash, its salt, and the hash of a token. */
const sealed = /scrypt|hashedPassword|passwordResetToken|usedBy|inviteToken:[\w-]{43}/;
/** The audit trail names the urns of invites. */
const invites = /urn:li:inviteToken:[\w-]{43}/g;

describe.each(["on", "off"])("with authentication %s", (auth) => {
  let service: RunningService;
  let system: Record<string, string>;
  let position = 0;
  beforeAll(async () => {
    service = await runningService({ auth, builtInEntities: "on" });
    const credentials = readFileSync(join(service.directory, "system.client"), "utf8").trim();
    system = { Authorization: `Basic ${credentials}` };
    const made = await ask(
      service.client,
      "mutation { one: createInviteToken(input: {}) { inviteToken } two: createInviteToken(input: {}) { inviteToken } }",
      {},
      tokenOf(service.directory),
    );
    const body = {
      ...{ userUrn: MINA, fullName: "Mina", email: "mina@example.org", password: "correct horse" },
      inviteToken: made.body.data.one.inviteToken,
    };
    const reply = await service.client.call("POST", "/auth/signUp", body, system);
    expect(reply.status).toBe(200);
    position = reply.position ?? 0;
    const reset = `mutation { createNativeUserResetToken(input: { userUrn: "${MINA}" }) { resetToken } }`;
    await ask(service.client, reset, {}, system);
    const minPosition = { "X-Annals-Min-Position": String(position) };
    const search = { entity: "corpuser", input: "*", start: 0, count: 10 };
    const path = "/entities?action=search";
    await service.client.call("POST", path, search, { ...system, ...minPosition });
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  const mina = encoded(MINA);
  const asOf = () => `asOfPosition=${position}`;
  const reads: readonly (readonly [path: () => string, body?: unknown])[] = [
    [() => `/entitiesV2/${mina}`],
    [() => `/entitiesV2/${mina}?aspects=List(corpUserCredentials)`],
    [() => `/entitiesV2/${mina}?aspects=List(corpUserCredentials)&${asOf()}`],
    [() => `/entitiesV2?ids=List(${mina})`],
    [() => `/entities/${mina}`],
    [() => `/aspects/${mina}?aspect=corpUserCredentials&version=0`],
    [() => `/aspects/${mina}?aspect=corpUserCredentials&version=1`],
    [() => `/aspects/${mina}?aspect=corpUserCredentials&version=0&${asOf()}`],
    [() => `/openapi/v3/entity/corpuser/${mina}?systemMetadata=true`],
    [() => `/openapi/v3/entity/corpuser/${mina}/corpUserCredentials`],
    [() => `/openapi/v3/entity/corpuser/${mina}/corpUserCredentials?version=1`],
    [() => "/openapi/v3/entity/corpuser/batchGet", [{ urn: MINA, corpUserCredentials: {} }]],
    [() => "/openapi/v3/entity/corpuser?aspectNames=corpUserCredentials&count=10"],
    [() => "/openapi/v3/entity/inviteToken?count=10"],
    [
      () => "/openapi/v3/entity/scroll",
      { entities: ["corpuser"], aspects: CREDENTIALS, query: "*" },
    ],
    [() => "/openapi/v3/entity/scroll", { entities: INVITES, aspects: INVITES, query: "*" }],
    [() => `/openapi/v2/entity/corpuser/${mina}`],
    [() => `/openapi/entities/v1/latest?urns=${mina}&aspectNames=corpUserCredentials`],
    [() => `/openapi/v2/timeline/v1/${mina}?categories=DOCUMENTATION&raw=true`],
    [() => "/entities?action=listUrns", { entity: "inviteToken", start: 0, count: 10 }],
    [() => "/entities?action=search", { entity: "inviteToken", input: "*", start: 0, count: 10 }],
    [
      () => "/runs?action=describe",
      { runId: "no-run-id-provided", start: 0, count: 1_000, includeAspect: true },
    ],
    [() => "/changes?from=start&limit=1000&previous=true"],
    [() => "/changes?from=start&limit=1000&aspect=corpUserCredentials"],
    [
      () =>
        "/openapi/v1/events/poll?topic=MetadataChangeLog_Versioned_v1&offsetId=0&limit=5000&pollTimeoutSeconds=0",
    ],
    [
      () =>
        "/openapi/v1/events/poll?topic=PlatformEvent_v1&offsetId=0&limit=5000&pollTimeoutSeconds=0",
    ],
    [() => "/operations?action=listAuditEvents", { count: 1_000 }],
    [
      () => "/api/graphql",
      {
        query: `{ searchAcrossEntities(input: { query: "*", types: [CORP_USER], count: 10 }) { searchResults { entity { urn ... on CorpUser { info { displayName } } } } } }`,
      },
    ],
    [
      () => "/mcp",
      {
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "get_entities", arguments: { urns: [MINA], aspects: CREDENTIALS } },
      },
    ],
  ];

  test.each(reads.map(([path, body], i) => [path().replace(/\d+$/, "…"), i, body] as const))(
    "%s",
    async (_, i, body) => {
      const path = reads[i]?.[0]() ?? "";
      const accept = { Accept: "application/json, text/event-stream" };
      for (const who of [tokenOf(service.directory), system]) {
        const method = body === undefined ? "GET" : "POST";
        const headers = path === "/mcp" ? { ...who, ...accept } : who;
        const reply = await service.client.call(method, path, body, headers);
        expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(500);
        const whole = JSON.stringify(reply.body);
        const text = path.includes("listAuditEvents") ? whole.replace(invites, "") : whole;
        expect(sealed.exec(text)?.[0]).toBeUndefined();
      }
    },
  );

  test("sealed aspects are written by sign-in only", async () => {
    const value = { salt: "a", hashedPassword: "b" };
    const invite = { token: "a" };
    const urn = "urn:li:inviteToken:a";
    const path = "/aspects?action=ingestProposal";
    const snapshot = {
      "com.linkedin.metadata.snapshot.CorpUserSnapshot": {
        urn: MINA,
        aspects: [{ "com.linkedin.identity.CorpUserCredentials": value }],
      },
    };
    const patch = { patch: [{ op: "add", path: "/salt", value: "a" }], arrayPrimaryKeys: {} };
    const v3 = `/openapi/v3/entity/corpuser/${mina}/corpUserCredentials`;
    for (const who of [tokenOf(service.directory), system]) {
      const call = (method: string, to: string, body?: unknown) =>
        service.client.call(method, to, body, who);
      const replies = [
        await call("POST", path, { proposal: proposal(MINA, "corpUserCredentials", value) }),
        await call("POST", path, { proposal: proposal(urn, "inviteToken", invite) }),
        await call("POST", "/entities?action=ingest", { entity: { value: snapshot } }),
        await call("POST", "/openapi/v3/entity/inviteToken", [
          { urn, inviteToken: { value: invite } },
        ]),
        await call("PATCH", v3, patch),
        await call("DELETE", v3),
      ];
      for (const { status, body } of replies) {
        expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
        expect(JSON.stringify(body)).not.toMatch(/scrypt/);
      }
    }
    const verify = { userUrn: MINA, password: "correct horse" };
    const reply = await service.client.call(
      "POST",
      "/auth/verifyNativeUserCredentials",
      verify,
      system,
    );
    expect(reply.body).toEqual({ doesPasswordMatch: true });
  });
});
