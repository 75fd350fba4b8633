/**
 * Read authorization inherits down domains: a policy on a domain permits reading everything inside,
 * and nothing else.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const [LOWER, OTHER] = [dataset("lower"), dataset("other")];
const [SEEDS, BEDS, TOOLS] = ["urn:li:domain:seeds", "urn:li:domain:beds", "urn:li:domain:tools"];

let service: GuardedService;
let mina: Record<string, string>;
let position = 0;

const ingest = (headers: Record<string, string>, urn: string, aspect: string, value: unknown) =>
  service.client.call(
    "POST",
    "/aspects?action=ingestProposal",
    { proposal: proposal(urn, aspect, value) },
    headers,
  );
async function write(urn: string, aspect: string, value: unknown) {
  const reply = await ingest(service.operator, urn, aspect, value);
  expect(reply.status).toBe(200);
  position = reply.position ?? position;
}
const policy = (over: object) => ({
  ...{ displayName: "p", description: "", type: "METADATA", state: "ACTIVE" },
  ...{ privileges: ["VIEW_ENTITY_PAGE"], actors: { users: [MINA] } },
  ...over,
});
const domain = (name: string, parentDomain?: string) => ({ name, parentDomain });

/** The datasets that mina finds and may read by urn. */
async function readable() {
  const found = await service.client.call(
    "POST",
    "/entities?action=search",
    { entity: "dataset", input: "*", start: 0, count: 10 },
    { ...mina, "X-Annals-Min-Position": String(position) },
  );
  const read: string[] = [];
  for (const urn of [LOWER, OTHER]) {
    const path = `/entitiesV2/${encoded(urn)}`;
    const { body } = await service.client.call("GET", path, undefined, mina);
    if (body.aspects.datasetProperties !== undefined) read.push(urn);
  }
  expect(read).toEqual([...found.body.value.entities].toSorted());
  return read;
}

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  await write(SEEDS, "domainProperties", domain("seeds"));
  await write(BEDS, "domainProperties", domain("beds", SEEDS));
  await write(TOOLS, "domainProperties", domain("tools"));
  for (const [urn, within] of [
    [LOWER, BEDS],
    [OTHER, TOOLS],
  ] as const) {
    await write(urn, "datasetProperties", { name: urn });
    await write(urn, "domains", { domains: [within] });
  }
  const inactive = policy({ state: "INACTIVE", actors: { allUsers: true } });
  await write("urn:li:dataHubPolicy:view-entity-page-all", "dataHubPolicyInfo", inactive);
  const inSeeds = [{ field: "DOMAIN", values: [SEEDS] }];
  await write(
    "urn:li:dataHubPolicy:seeds",
    "dataHubPolicyInfo",
    policy({ resources: { filter: { criteria: inSeeds } } }),
  );
  const domains = [{ field: "TYPE", values: ["domain"] }];
  await write(
    "urn:li:dataHubPolicy:domains",
    "dataHubPolicyInfo",
    policy({ resources: { filter: { criteria: domains } } }),
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("a dataset in a subdomain is readable until the subdomain is moved away", async () => {
  expect(await readable()).toEqual([LOWER]);
  await write(BEDS, "domainProperties", domain("beds", TOOLS));
  expect(await readable()).toEqual([]);
  await write(TOOLS, "domainProperties", domain("tools", SEEDS));
  expect(await readable()).toEqual([LOWER, OTHER]);
  await write(TOOLS, "domainProperties", domain("tools"));
  await write(BEDS, "domainProperties", domain("beds", SEEDS));
  expect(await readable()).toEqual([LOWER]);
});

test("a reader of a domain may not move another domain into it", async () => {
  const denied = await ingest(mina, TOOLS, "domainProperties", domain("tools", SEEDS));
  expect(denied).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect(denied.body.message).toContain("Edit Entity, or Manage Domains");
  const deleted = await service.client.call("POST", "/entities?action=delete", { urn: BEDS }, mina);
  expect(deleted.status).toBe(403);
  expect(await readable()).toEqual([LOWER]);
  // The parent stays the same, so no further privilege is required.
  const renamed = await ingest(mina, BEDS, "domainProperties", domain("Seed beds", SEEDS));
  expect(renamed.status).toBe(200);
  await write(
    "urn:li:dataHubPolicy:manages",
    "dataHubPolicyInfo",
    policy({ type: "PLATFORM", privileges: ["MANAGE_DOMAINS"] }),
  );
  const moved = await ingest(mina, TOOLS, "domainProperties", domain("tools", SEEDS));
  expect(moved.status).toBe(200);
  position = moved.position ?? position;
  expect(await readable()).toEqual([LOWER, OTHER]);
});
