/**
 * Proposals of one request, each decided after those before it: versioned and timeseries aspects,
 * creation and deletion of entities, key aspects that patches cannot change, reserved headers.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const INGEST = "/aspects?action=ingestProposal";
const BATCH = "/aspects?action=ingestProposalBatch";

let service: RunningService;
let tables = 0;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const table = () => `urn:li:dataset:(urn:li:dataPlatform:hive,batch.t${++tables},PROD)`;
const status = (urn: string) => proposal(urn, "status", { removed: false });
const event = (urn: string, timestampMillis: number) =>
  proposal(urn, "datasetProfile", { timestampMillis, rowCount: timestampMillis });
const deletion = (urn: string, aspect: string) => ({
  ...{ entityType: "dataset", entityUrn: urn, changeType: "DELETE", aspectName: aspect },
});
const patch = (urn: string, aspect: string, operations: readonly object[]) =>
  proposal(urn, aspect, operations, { changeType: "PATCH" });

const ingest = (...proposals: readonly object[]) =>
  service.client.call("POST", BATCH, { proposals });
async function exists(urn: string): Promise<boolean> {
  const { body } = await service.client.call("POST", "/entities?action=exists", { urn });
  return body.value;
}
async function eventsOf(urn: string): Promise<readonly number[]> {
  const query = { urn, entity: "dataset", aspect: "datasetProfile", limit: -1 };
  const { body } = await service.client.call(
    "POST",
    "/aspects?action=getTimeseriesAspectValues",
    query,
  );
  return body.value.values.map(
    ({ aspect }: { aspect: { value: string } }) => JSON.parse(aspect.value).timestampMillis,
  );
}
async function aspectsOf(urn: string): Promise<Record<string, { value: object }>> {
  return (await service.client.get(`/entitiesV2/${encoded(urn)}`)).body.aspects;
}

describe("an entity that is deleted within a request", () => {
  test("loses the events that were written earlier", async () => {
    const urn = table();
    await ingest(status(urn), event(urn, 1));
    expect((await ingest(event(urn, 2), deletion(urn, "datasetKey"))).status).toBe(200);
    expect(await exists(urn)).toBe(false);
    expect(await eventsOf(urn)).toEqual([]);
  });

  test("exists again with an event that the same request writes after the delete", async () => {
    const urn = table();
    await ingest(status(urn), event(urn, 1));
    const reply = await ingest(event(urn, 2), deletion(urn, "datasetKey"), event(urn, 3));
    expect(reply.status).toBe(200);
    expect(await exists(urn)).toBe(true);
    expect(await eventsOf(urn)).toEqual([3]);
    expect(Object.keys(await aspectsOf(urn))).not.toContain("status");
  });

  test.each([
    ["by a value", (urn: string) => [status(urn)]],
    ["by its key", (urn: string) => [proposal(urn, "datasetKey", {})]],
    ["by an event", (urn: string) => [event(urn, 1)]],
  ])("may be created %s in the same request", async (_, writing) => {
    const urn = table();
    expect((await ingest(...writing(urn), deletion(urn, "datasetKey"))).status).toBe(200);
    expect(await exists(urn)).toBe(false);
    expect(await eventsOf(urn)).toEqual([]);
    const again = await ingest(...writing(urn), deletion(urn, "datasetKey"), status(urn));
    expect(again.status).toBe(200);
    expect(await exists(urn)).toBe(true);
  });

  test("is rejected when it never existed, and nothing is written", async () => {
    const urn = table();
    const reply = await ingest(deletion(urn, "datasetKey"), status(urn));
    expect(reply).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await exists(urn)).toBe(false);
  });
});

describe("timeseries events", () => {
  test("written by a request may be deleted in the same request, once", async () => {
    const urn = table();
    const all = deletion(urn, "datasetProfile");
    expect((await ingest(event(urn, 1), all, event(urn, 2))).status).toBe(200);
    expect(await eventsOf(urn)).toEqual([2]);
    expect((await ingest(all, all)).status).toBe(404);
    expect(await eventsOf(urn)).toEqual([2]);
    expect((await ingest(deletion(urn, "datasetKey"), all)).status).toBe(404);
    expect((await ingest(all)).status).toBe(200);
    expect(await eventsOf(urn)).toEqual([]);
  });
});

describe("a key aspect that is patched", () => {
  test.each([
    ["replace", "/origin", "DEV"],
    ["add", "/name", "hijack"],
  ])("keeps the values of the urn: %s %s", async (op, path, value) => {
    const urn = table();
    const change = patch(urn, "datasetKey", [{ op, path, value }]);
    for (const before of [[], [status(urn)]]) {
      expect((await ingest(...before, change)).status).toBe(200);
      expect((await aspectsOf(urn)).datasetKey?.value).toEqual({
        ...{ platform: "urn:li:dataPlatform:hive", origin: "PROD" },
        name: urn.split(",")[1],
      });
    }
    const body = { patch: [{ op, path, value }] };
    const written = await service.client.call(
      "PATCH",
      `/openapi/v3/entity/dataset/${encoded(urn)}/datasetKey`,
      body,
    );
    expect(written.body.datasetKey.value.origin).toBe("PROD");
  });
});

test("a patch finds the definitions of properties in every spelling of their urns", async () => {
  const ids = ["plain", "caf\u00e9", "a/b", "a b", 'quo"ted', "back\\slash"];
  const urns = ids.map((id) => `urn:li:structuredProperty:${id}`);
  for (const urn of urns) {
    const definition = {
      ...{ qualifiedName: urn, valueType: "urn:li:dataType:datahub.string" },
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    };
    const reply = await service.client.upsert(urn, "propertyDefinition", definition);
    expect(reply.status, urn).toBe(200);
  }
  const table1 = table();
  const operations = urns.map((propertyUrn) => ({
    op: "add",
    path: `/properties/${propertyUrn.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    value: { propertyUrn, values: [{ string: "v" }] },
  }));
  // The encoding of Python's json module.
  const value = JSON.stringify(operations).replace(
    /[\u0080-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const patched = patch(table1, "structuredProperties", []);
  const sent = { ...patched, aspect: { value, contentType: "application/json" } };
  expect((await service.client.call("POST", INGEST, { proposal: sent })).status).toBe(200);
  expect((await aspectsOf(table1)).structuredProperties?.value).toMatchObject({
    properties: urns.map((propertyUrn) => ({ propertyUrn })),
  });
});

test.each(["annals-from", "Annals-Undoes"])(
  "a client cannot set the reserved header %s",
  async (name) => {
    const urn = table();
    await ingest(status(urn), event(urn, 1));
    const own = { ...deletion(urn, "datasetProfile"), headers: { [name]: "xyz" } };
    const reply = await ingest(status(urn), own);
    expect(reply).toMatchObject({ status: 422, body: { code: "invalid" } });
    expect(reply.body.message).toContain(`proposals[1]: header "${name}"`);
    expect(await eventsOf(urn)).toEqual([1]);
  },
);

describe("OpenAPI", () => {
  const entity = (urn: string) => `/openapi/v3/entity/dataset/${encoded(urn)}`;

  test("deleting aspects deletes events, and deleting the key deletes the entity", async () => {
    const urn = table();
    await ingest(status(urn), event(urn, 1));
    const { client } = service;
    expect((await client.call("DELETE", `${entity(urn)}?aspects=datasetProfile`)).status).toBe(200);
    expect(await eventsOf(urn)).toEqual([]);
    expect(await exists(urn)).toBe(true);
    for (const aspects of ["datasetKey,status", "status&aspects=datasetKey"]) {
      await ingest(status(urn), event(urn, 2));
      const reply = await client.call("DELETE", `${entity(urn)}?aspects=${aspects}`);
      expect(reply.status).toBe(200);
      expect(await exists(urn)).toBe(false);
      expect(await eventsOf(urn)).toEqual([]);
    }
  });

  test("an earlier version of a deleted aspect can be read", async () => {
    const urn = table();
    await ingest(status(urn), proposal(urn, "domains", { domains: [] }), deletion(urn, "domains"));
    const asked = [{ urn, domains: { headers: { "If-Version-Match": "1" } } }];
    const { body } = await service.client.call(
      "POST",
      "/openapi/v3/entity/dataset/batchGet",
      asked,
    );
    expect(body).toMatchObject([{ urn, domains: { value: { domains: [] } } }]);
  });

  test("a patch of one aspect respects its headers", async () => {
    const urn = table();
    await ingest(status(urn));
    const body = {
      patch: [{ op: "replace", path: "/removed", value: true }],
      headers: { "If-Version-Match": "77" },
      systemMetadata: { runId: "patched" },
    };
    const path = `${entity(urn)}/status`;
    expect((await service.client.call("PATCH", path, body)).status).toBe(412);
    const { headers: _, ...unconditional } = body;
    expect((await service.client.call("PATCH", path, unconditional)).status).toBe(200);
    const { status: patchedStatus } = (await aspectsOf(urn)) as Record<string, never>;
    expect(patchedStatus).toMatchObject({
      value: { removed: true },
      systemMetadata: { runId: "patched" },
    });
  });

  test("records of the v1 form are identified by __type at any depth", async () => {
    const urn = table();
    const aspect = {
      ...{ __type: "SchemaMetadata", schemaName: "s", platform: "urn:li:dataPlatform:mysql" },
      platformSchema: { __type: "MySqlDDL", tableSchema: "schema" },
      ...{ version: 0, hash: "" },
      fields: [
        {
          ...{ fieldPath: "a", nativeDataType: "String()" },
          type: { type: { __type: "StringType" } },
        },
        {
          ...{ fieldPath: "b", nativeDataType: "int" },
          type: { __type: "SchemaFieldDataType", type: { "com.linkedin.schema.NumberType": {} } },
        },
      ],
    };
    const body = [{ entityType: "dataset", entityUrn: urn, aspect }];
    const reply = await service.client.call("POST", "/openapi/entities/v1/", body);
    expect(reply.status).toBe(201);
    expect((await aspectsOf(urn)).schemaMetadata?.value).toMatchObject({
      platformSchema: { "com.linkedin.schema.MySqlDDL": { tableSchema: "schema" } },
      fields: [
        { fieldPath: "a", type: { type: { "com.linkedin.schema.StringType": {} } } },
        { fieldPath: "b", type: { type: { "com.linkedin.schema.NumberType": {} } } },
      ],
    });
    const wrong = { ...aspect, platformSchema: { __type: "Nonsense" } };
    const rejected = await service.client.call("POST", "/openapi/entities/v1/", [
      { ...body[0], aspect: wrong },
    ]);
    expect(rejected.status).toBe(400);
  });
});

test("events that outlived their entity are deleted by the next delete", async () => {
  const urn = table();
  await ingest(status(urn));
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    const created = { time: 1, actor: "urn:li:corpuser:mira" };
    const value = JSON.stringify({ timestampMillis: 7, rowCount: 7 });
    const change: Change = {
      ...{ urn, entityType: "dataset", aspect: "datasetProfile", changeType: "UPSERT", value },
      ...{ created, system: { lastObserved: 1, runId: "before" } },
    };
    const gone: Change = {
      ...change,
      aspect: "datasetKey",
      changeType: "DELETE",
      value: undefined,
    };
    await log.append([
      { stream: entityStream(urn), expected: "any", records: [encodeChange(gone)] },
      ...["datasetProfile"].map((aspect) => ({
        stream: timeseriesStream(urn, aspect),
        expected: "any" as const,
        records: [encodeChange(change)],
      })),
    ]);
    await log.close();
  });
  expect(await exists(urn)).toBe(false);
  expect(await eventsOf(urn)).toEqual([7]);
  const del = () => service.client.call("POST", "/entities?action=delete", { urn });
  expect((await del()).body.value).toMatchObject({ rows: 0, timeseriesRows: 1 });
  expect(await eventsOf(urn)).toEqual([]);
  expect((await del()).body.value).toMatchObject({ rows: 0, timeseriesRows: 0 });
});
