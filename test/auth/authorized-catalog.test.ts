/** The authorized catalog for callers without HTTP: proposals from Kafka have no user. */
import { expect, test } from "vitest";
import { configuredModel } from "../../src/app/load-model.ts";
import { authorizeCatalog } from "../../src/auth/access/authorized-catalog.ts";
import { createAuthority } from "../../src/auth/policies/authority.ts";
import type { Catalog, Proposal } from "../../src/catalog/catalog.ts";
import { readConfig } from "../../src/config/config.ts";
import { position } from "../../src/core/position.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { proposal } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { runningService } from "../support/running-service.ts";

const { model } = configuredModel(readConfig({}, {}));
const entities = { find: async () => undefined, list: async () => new Map() };
const unused = (): never => {
  throw new Error("unexpected call");
};

test("with authentication, proposals of a topic may not change policies or roles", async () => {
  const policy = {
    ...{ displayName: "", description: "", type: "PLATFORM", state: "ACTIVE" },
    ...{ privileges: ["MANAGE_POLICIES"], actors: { allUsers: true } },
  };
  const one = proposal("urn:li:dataHubPolicy:x", "dataHubPolicyInfo", policy);
  const roles = proposal("urn:li:corpuser:x", "roleMembership", { roles: [] });
  const tag = proposal("urn:li:tag:x", "tagProperties", { name: "x" });
  const written: unknown[] = [];
  const ingest: Catalog["ingest"] = async (proposals) => {
    written.push(...proposals);
    return { position: position(1), changed: [] };
  };
  const base = { ingest, delete: unused } as unknown as Catalog;
  const parts = {
    catalog: { ...base, authorizedFor: () => base, peek: unused },
    access: {
      ...{
        entities,
        authority: createAuthority(entities, { namespace: "li", fixedPolicies: new Map() }),
      },
      tokens: { list: async () => [], revoke: unused } as never,
    },
    ...{ model, namespace: "li", now: Date.now },
    ...{ fixedPolicies: new Map(), undeletableEntities: new Set<string>() },
    urnOf: ({ entityUrn }: Proposal) => entityUrn,
  };
  const guarded = authorizeCatalog({ ...parts, required: true }).catalog;
  for (const forbidden of [one, roles]) {
    await expect(guarded.ingest([tag, forbidden] as never, {})).rejects.toThrow("privilege");
  }
  expect(written).toEqual([]);
  await guarded.ingest([tag] as never, {});
  const open = authorizeCatalog({ ...parts, required: false }).catalog;
  await open.ingest([one] as never, {});
  expect(written).toEqual([tag, one]);
});

test("with traces, a token is accepted on every request", async () => {
  await using service = await runningService({
    ...{ logLevel: "silent", auth: "on", tracesEndpoint: "http://127.0.0.1:9" },
  });
  const { token } = await makeToken(service.client, {}, tokenOf(service.directory));
  for (let again = 0; again < 3; again++) {
    const reply = await service.client.call(
      "GET",
      "/entitiesV2/urn:li:tag:a",
      undefined,
      asBearer(token),
    );
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  }
});
