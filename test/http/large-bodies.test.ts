/**
 * The body thread reads bodies over 256 KiB. Their responses equal those of small bodies, which the main
 * thread reads: each request is sent unchanged and padded with blanks.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { largeBytes } from "../../src/http/hooks/large-bodies.ts";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({});
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const padded = (body: unknown): string => `${JSON.stringify(body)}${" ".repeat(largeBytes)}`;
const snapshotOf = (urn: string, description: string) => ({
  value: {
    "com.linkedin.metadata.snapshot.TagSnapshot": {
      urn,
      aspects: [{ "com.linkedin.tag.TagProperties": { name: "snapshot", description } }],
    },
  },
});
const tag = "urn:li:tag:padded";
const upsert = proposal(tag, "tagProperties", { name: "padded" });
const profile = { timestampMillis: 1_772_409_600_000, rowCount: 3 };
const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,padded,PROD)";
const v3 = "/openapi/v3/entity";

/** Method, path and body of requests whose responses do not depend on repetition. */
const requests: readonly (readonly [method: string, path: string, body: unknown])[] = [
  ["POST", "/aspects?action=ingestProposal", { proposal: upsert }],
  ["POST", "/aspects?action=ingestProposal", { proposal: { ...upsert, aspectName: "nope" } }],
  ["POST", "/aspects?action=ingestProposal", { proposal: 1 }],
  ["POST", "/aspects?action=ingestProposal", {}],
  ["POST", "/aspects?action=ingestProposal", []],
  [
    "POST",
    "/aspects?action=ingestProposal",
    { proposal: { ...upsert, aspect: { value: "{", contentType: "application/json" } } },
  ],
  [
    "POST",
    "/aspects?action=ingestProposal",
    { proposal: { ...upsert, aspect: { value: "{}", contentType: "text/plain" } } },
  ],
  ["POST", "/aspects?action=ingestProposal", { proposal: { ...upsert, entityUrn: "tag" } }],
  [
    "POST",
    "/aspects?action=ingestProposalBatch",
    { proposals: [upsert, proposal(tag, "tagProperties", { name: 1 })] },
  ],
  [
    "POST",
    "/aspects?action=ingestProposalBatch",
    { proposals: [upsert, proposal(tag, "status", { removed: false })] },
  ],
  ["POST", "/entities?action=ingest", { entity: snapshotOf("urn:li:tag:snapshot", "one") }],
  ["POST", "/entities?action=ingest", { entity: { value: { Nope: {} } } }],
  [
    "POST",
    "/entities?action=batchIngest",
    { entities: [snapshotOf("urn:li:tag:snapshot", "one")], systemMetadata: [{}, {}] },
  ],
  [
    "POST",
    "/usageStats?action=batchIngest",
    { buckets: [{ bucket: 1, duration: "DAY", resource: dataset, metrics: {} }] },
  ],
  [
    "POST",
    `${v3}/tag?async=false`,
    [{ urn: tag, tagProperties: { value: { name: "v3" } }, status: { value: {} } }],
  ],
  ["POST", `${v3}/dataset?async=false`, [{ urn: dataset, datasetProfile: { value: profile } }]],
  ["POST", `${v3}/tag`, [{ urn: tag, tagProperties: { value: 1 } }]],
  ["POST", `${v3}/nope`, [{ urn: tag, tagProperties: { value: {} } }]],
  [
    "PATCH",
    `${v3}/tag?async=false`,
    [
      {
        urn: tag,
        tagProperties: {
          value: { patch: [{ op: "add", path: "/description", value: "patched" }] },
        },
      },
    ],
  ],
  [
    "POST",
    `${v3}/tag/${encoded(tag)}/tagProperties?createIfNotExists=false`,
    { value: { name: "single" } },
  ],
  [
    "POST",
    `${v3}/generic?async=false`,
    { tag: [{ urn: tag, tagProperties: { value: { name: "generic" } } }] },
  ],
  [
    "POST",
    "/openapi/entities/v1",
    [{ entityType: "tag", entityUrn: tag, aspect: { __type: "TagProperties", name: "first" } }],
  ],
  ["POST", "/openapi/platform/entities/v1", [upsert]],
  ["POST", "/entities?action=exists", { urn: tag }],
  ["POST", "/entities?action=filterExistingUrns", { request: { urns: [tag, "urn:li:tag:x"] } }],
  ["POST", `${v3}/tag/batchGet`, [{ urn: tag, status: {} }]],
  ["POST", "/entities?action=search", { entity: "tag", input: 1, start: 0, count: 1 }],
  // Endpoints of optional parts of the service.
  ["POST", "/api/graphql", { query: "{ me { corpUser { urn } } }" }],
  ["POST", "/api/graphql", { query: 1 }],
  ["POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
  ["POST", "/schema-registry/api/subjects/padded-value", { schema: '"string"' }],
  ["POST", "/auth/track", { type: "x" }],
];

test.each(requests)("%s %s answers a large body as a small one: %j", async (method, path, body) => {
  const { client } = service;
  // The first request writes the values; both compared requests repeat them.
  await client.call(method, path, body);
  const small = await client.call(method, path, body);
  const large = await client.call(method, path, padded(body));
  expect([large.status, large.body]).toEqual([small.status, small.body]);
});

const long = "x".repeat(400_000);
test.each([
  ["an aspect", { ...upsert, aspectName: long }],
  ["an entity type", { ...upsert, entityType: long }],
  [
    "a path of a patch",
    {
      ...upsert,
      changeType: "PATCH",
      aspect: {
        value: JSON.stringify([{ op: "add", path: `/${long}`, value: 1 }]),
        contentType: "application/json-patch+json",
      },
    },
  ],
])("the error about %s with a long name does not repeat the name whole", async (_, one) => {
  const path = "/aspects?action=ingestProposal";
  const { status, body } = await service.client.call("POST", path, { proposal: one });
  expect(status).toBe(422);
  expect(body.message).toMatch(/xxx….*xxx/);
  expect(JSON.stringify(body).length).toBeLessThan(10_000);
});

describe("a legal large body", () => {
  test("a body of one aspect with 400,000 custom properties is written completely", async () => {
    const { client } = service;
    const customProperties = Object.fromEntries(
      Array.from({ length: 400_000 }, (_, n) => [`property_${n}`, `${n}`]),
    );
    const written = await client.upsert(dataset, "datasetProperties", {
      name: "wide",
      customProperties,
    });
    expect([written.status, written.body]).toEqual([200, { value: "success" }]);
    const { body } = await client.get(`/aspects/${encoded(dataset)}?aspect=datasetProperties`);
    const value = body.aspect["com.linkedin.dataset.DatasetProperties"];
    expect(Object.keys(value.customProperties)).toHaveLength(400_000);
    expect(value).toMatchObject({ name: "wide", tags: [] });
  });

  const members = (wrong?: number) =>
    Array.from({ length: 20_000 }, (_, n) =>
      proposal(`urn:li:tag:member${n}`, "tagProperties", { name: n === wrong ? n : `member ${n}` }),
    );
  const batch = (proposals: readonly unknown[]) =>
    service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });

  test("a body of 20,000 proposals with a wrong one is rejected by its index and writes nothing", async () => {
    const rejected = await batch(members(17_003));
    expect(rejected).toMatchObject({
      status: 422,
      body: { code: "invalid", message: expect.stringContaining("proposals[17003]: ") },
    });
    const { body } = await service.client.call("POST", "/entities?action=exists", {
      urn: "urn:li:tag:member0",
    });
    expect(body.value).toBe(false);
  });

  test("a body of 20,000 proposals is written completely", async () => {
    expect((await batch(members())).status).toBe(200);
    const { body } = await service.client.get(
      `/aspects/${encoded("urn:li:tag:member19999")}?aspect=tagProperties`,
    );
    expect(body.aspect["com.linkedin.tag.TagProperties"]).toEqual({ name: "member 19999" });
  });

  test("a body of 20,001 proposals is rejected", async () => {
    const [first] = members();
    expect(await batch([...members(), first])).toMatchObject({
      status: 413,
      body: { code: "too_large" },
    });
  });
});

describe("a body beyond a limit", () => {
  test.each([
    ["members", `{"a":[${"{},".repeat(1_100_000)}{}]}`, 413, /more than 1000000 members/],
    ["depth", `{"a":${"[".repeat(200)}${" ".repeat(largeBytes)}${"]".repeat(200)}}`, 400, /128/],
  ])("a body beyond the limit on %s is rejected", async (_, body, status, message) => {
    const rejected = await service.client.call("POST", "/aspects?action=ingestProposal", body);
    expect(rejected.status).toBe(status);
    expect(rejected.body.message).toMatch(message);
  });

  test("too many members within an aspect value are rejected", async () => {
    const value = { name: "n", description: "d", colorHex: Array(1_100_000).fill(1) };
    const rejected = await service.client.upsert(tag, "tagProperties", value);
    expect(rejected.status).toBe(413);
    expect(rejected.body.message).toMatch(
      /aspect\.value is too large: .*more than 1000000 members/,
    );
  });

  test("too many members to clone to the main thread are rejected", async () => {
    const urns = Array(100_001).fill(tag);
    const rejected = await service.client.call("POST", "/entities?action=filterExistingUrns", {
      request: { urns },
    });
    expect(rejected.status).toBe(413);
    expect(rejected.body.message).toMatch(/more than 100000 members/);
  });

  test("a value over 1 MiB that depends on other entities is rejected", async () => {
    const properties = Array.from({ length: 12_000 }, (_, n) => ({
      propertyUrn: `urn:li:structuredProperty:property_with_a_long_name_${n}`,
      values: [{ string: "one value" }],
    }));
    const rejected = await service.client.upsert(dataset, "structuredProperties", { properties });
    expect(rejected.status).toBe(413);
    expect(rejected.body.message).toMatch(/"structuredProperties" depends on other entities/);
  });
});
