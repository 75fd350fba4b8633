/**
 * Every interface that writes checks the entity types of urns inside aspects. A rejected request writes
 * nothing. Values of older logs can be read, written again and patched, and references removed.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { ask, faultOf } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const hive = "urn:li:dataPlatform:hive";
const mira = "urn:li:corpuser:mira";
let tables = 0;
const table = () => `urn:li:dataset:(${hive},urns.t${++tables},PROD)`;
const tagged = (...tags: readonly string[]) => ({ tags: tags.map((tag) => ({ tag })) });
const post = (path: string, body: object) => service.client.call("POST", path, body);
const exists = async (urn: string) =>
  (await post("/entities?action=exists", { urn })).body.value as boolean;

const wrong = `ERROR :: /tags/1/tag :: "Provided urn ${mira}" is invalid`;
const wrongTags = tagged("urn:li:tag:x", mira);

describe("a user as a tag is rejected with its path, and nothing is written", () => {
  const restli: readonly [string, (urn: string) => readonly [string, object]][] = [
    [
      "a proposal",
      (urn) => [
        "/aspects?action=ingestProposal",
        { proposal: proposal(urn, "globalTags", wrongTags) },
      ],
    ],
    [
      "a member of a batch",
      (urn) => [
        "/aspects?action=ingestProposalBatch",
        {
          proposals: [
            proposal(urn, "status", { removed: false }),
            proposal(urn, "globalTags", wrongTags),
          ],
        },
      ],
    ],
    [
      "a patch",
      (urn) => [
        "/aspects?action=ingestProposal",
        {
          proposal: proposal(
            urn,
            "globalTags",
            [{ op: "add", path: "/tags", value: wrongTags.tags }],
            { changeType: "PATCH" },
          ),
        },
      ],
    ],
    [
      "a snapshot",
      (urn) => [
        "/entities?action=ingest",
        {
          entity: {
            value: {
              "com.linkedin.metadata.snapshot.DatasetSnapshot": {
                urn,
                aspects: [{ "com.linkedin.common.GlobalTags": wrongTags }],
              },
            },
          },
        },
      ],
    ],
  ];
  test.each(restli)("%s with the user as a tag is rejected", async (_what, request) => {
    const urn = table();
    const reply = await post(...request(urn));
    expect(reply).toMatchObject({ status: 422, body: { code: "invalid" } });
    expect(reply.body.message).toContain(wrong);
    expect(reply.body.message).toContain("expected a urn of entity type tag");
    expect(await exists(urn)).toBe(false);
  });

  test.each(["v2", "v3"])("OpenAPI %s rejects the user as a tag", async (version) => {
    const urn = table();
    const body = [{ urn, globalTags: { value: wrongTags } }];
    const reply = await post(`/openapi/${version}/entity/dataset?async=false`, body);
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain("/tags/1/tag");
    expect(await exists(urn)).toBe(false);
  });

  test("GraphQL rejects the user as a tag", async () => {
    const urn = table();
    await service.client.upsert(urn, "status", { removed: false });
    const mutation = "mutation($input: TagAssociationInput!) { addTag(input: $input) }";
    const reply = await ask(service.client, mutation, {
      input: { tagUrn: mira, resourceUrn: urn },
    });
    expect(faultOf(reply)).toMatchObject({ extensions: { code: 400 } });
  });
});

test("a tag as data platform is rejected, in a urn and in each aspect that names a platform", async () => {
  const platform = "urn:li:tag:x";
  const schema = {
    ...{ schemaName: "s", platform, version: 0, hash: "", fields: [] },
    platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  };
  const entity = await service.client.upsert(table().replace(hive, platform), "status", {
    removed: false,
  });
  expect(entity).toMatchObject({ status: 400, body: { code: "malformed" } });
  for (const [aspect, value] of Object.entries({
    dataPlatformInstance: { platform },
    schemaMetadata: schema,
  })) {
    const reply = await service.client.upsert(table(), aspect, value);
    expect(reply, aspect).toMatchObject({ status: 422, body: { code: "invalid" } });
    expect(reply.body.message).toContain("/platform");
    expect(reply.body.message).toContain("a urn of entity type dataPlatform");
  }
});

test("a dataset urn with a comma in its name is rejected, and the hint names %2C", async () => {
  const commas = `urn:li:dataset:(${hive},a,b,PROD)`;
  const entity = await service.client.upsert(commas, "status", { removed: false });
  expect(entity).toMatchObject({ status: 400, body: { code: "malformed" } });
  expect(entity.body.message).toContain("%2C");
  const upstreams = [{ dataset: commas, type: "COPY" }];
  const reference = await service.client.upsert(table(), "upstreamLineage", { upstreams });
  expect(reference.status).toBe(422);
  expect(reference.body.message).toContain("/upstreams/0/dataset");
  expect(reference.body.message).toContain("%2C");
  const escaped = commas.replace("a,b", "a%2Cb");
  expect((await service.client.upsert(escaped, "status", { removed: false })).status).toBe(200);
});

test("urns that an older log holds are readable, and writes keep or remove them", async () => {
  const urn = table();
  const commas = `urn:li:dataset:(${hive},older,name,PROD)`;
  const older = (entityUrn: string, aspect: string, value: object): Change => ({
    ...{ urn: entityUrn, entityType: "dataset", aspect, changeType: "UPSERT" },
    value: JSON.stringify(value),
    created: { time: 1, actor: mira },
    system: { lastObserved: 1, runId: "before", version: "1" },
  });
  await service.client.upsert(urn, "status", { removed: false });
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    for (const change of [
      older(urn, "globalTags", wrongTags),
      older(commas, "datasetKey", { platform: hive, name: "older,name", origin: "PROD" }),
      older(commas, "status", { removed: false }),
    ]) {
      const stream = entityStream(change.urn);
      await log.append([{ stream, expected: "any", records: [encodeChange(change)] }]);
    }
    await log.close();
  });
  const aspects = async (of: string) =>
    (await service.client.get(`/entitiesV2/${encoded(of)}`)).body.aspects;
  expect((await aspects(commas)).status.value).toEqual({ removed: false });
  const edges = await service.client.get(`/openapi/v3/relationship/dataset/${encoded(commas)}`);
  expect(edges).toMatchObject({ status: 200, body: { results: expect.any(Array) } });
  expect((await aspects(urn)).globalTags.value).toEqual(wrongTags);

  // A client that reads, adds and writes keeps the older urn; it cannot add another of the kind.
  const more = tagged("urn:li:tag:x", mira, "urn:li:tag:y");
  expect((await service.client.upsert(urn, "globalTags", more)).status).toBe(200);
  const patch = [{ op: "add", path: "/tags/urn:li:tag:z", value: { tag: "urn:li:tag:z" } }];
  const patched = await service.client.upsert(urn, "globalTags", patch, { changeType: "PATCH" });
  expect(patched.status).toBe(200);
  const another = tagged(mira, "urn:li:corpuser:noor");
  expect((await service.client.upsert(urn, "globalTags", another)).status).toBe(422);
  const freed = await post("/entities?action=deleteReferences", { urn: "urn:li:tag:x" });
  expect(freed).toMatchObject({ status: 200, body: { value: { total: 1 } } });
  expect((await aspects(urn)).globalTags.value).toEqual(
    tagged(mira, "urn:li:tag:y", "urn:li:tag:z"),
  );
  const hidden = await service.client.upsert(commas, "status", { removed: true });
  expect(hidden.status).toBe(200);
  expect((await post("/entities?action=delete", { urn: commas })).status).toBe(200);
  expect(await exists(commas)).toBe(false);
});

test("a urn that a value has in another field is still rejected", async () => {
  const urn = table();
  const stored = { tags: [{ tag: "urn:li:tag:x", context: mira }] };
  expect((await service.client.upsert(urn, "globalTags", stored)).status).toBe(200);
  const rejected = await service.client.upsert(urn, "globalTags", tagged("urn:li:tag:x", mira));
  expect(rejected.status).toBe(422);
  expect(rejected.body.message).toContain(wrong);
});
