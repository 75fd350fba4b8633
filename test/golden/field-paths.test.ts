/**
 * Field paths of schemas over HTTP: a schema with a duplicate or empty path is rejected, and
 * nothing is written. Older values with such paths can be read, written again and patched.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
let tables = 0;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const table = () => `urn:li:dataset:(urn:li:dataPlatform:hive,paths.t${++tables},PROD)`;
const schemaOf = (...paths: readonly string[]) => ({
  ...{ schemaName: "s", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: paths.map((fieldPath) => ({
    ...{ fieldPath, nativeDataType: "int" },
    type: { type: { "com.linkedin.schema.NumberType": {} } },
  })),
});
const infosOf = (...paths: readonly string[]) =>
  paths.map((fieldPath) => ({ fieldPath, description: "d" }));
const schema = (urn: string, ...paths: readonly string[]) =>
  proposal(urn, "schemaMetadata", schemaOf(...paths));
const edited = (urn: string, ...paths: readonly string[]) =>
  proposal(urn, "editableSchemaMetadata", { editableSchemaFieldInfo: infosOf(...paths) });
const patch = (urn: string, aspect: string, ...operations: readonly object[]) =>
  proposal(urn, aspect, operations, { changeType: "PATCH" });

const ingest = (...proposals: readonly object[]) =>
  service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
async function aspectsOf(urn: string): Promise<Record<string, { value: object; version: number }>> {
  return (await service.client.get(`/entitiesV2/${encoded(urn)}`)).body.aspects;
}

test("a schema with a duplicate or empty field path is rejected", async () => {
  const urn = table();
  expect((await ingest(schema(urn, "a", "b"), edited(urn, "a", "b"))).status).toBe(200);
  const before = await aspectsOf(urn);
  const whole = { op: "add", path: "/editableSchemaFieldInfo", value: infosOf("x", "x") };
  const wrong: [string, ...object[]][] = [
    ['aspect "schemaMetadata" has duplicated field paths in fields: "a"', schema(urn, "a", "a")],
    ["proposals[1]: aspect", edited(urn, "a"), edited(urn, "b", "b")],
    ["has an empty field path in fields", schema(urn, "a", "")],
    [
      "duplicated field paths in editableSchemaFieldInfo",
      proposal(
        urn,
        "editableSchemaMetadata",
        { patch: [whole], forceGenericPatch: true, arrayPrimaryKeys: {} },
        { changeType: "PATCH" },
      ),
    ],
  ];
  for (const [message, ...proposals] of wrong) {
    const reply = await ingest(...proposals);
    expect(reply, message).toMatchObject({ status: 422, body: { code: "invalid" } });
    expect(reply.body.message).toContain(message);
  }
  expect(await aspectsOf(urn)).toEqual(before);
});

test("a stored schema with duplicate paths can be read, written again and patched", async () => {
  const urn = table();
  await ingest(edited(urn, "a"));
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    const created = { time: 1, actor: "urn:li:corpuser:mira" };
    const change: Change = {
      ...{ urn, entityType: "dataset", aspect: "schemaMetadata", changeType: "UPSERT" },
      value: JSON.stringify(schemaOf("a", "a")),
      ...{ created, system: { lastObserved: 1, runId: "before", version: "1" } },
    };
    const records = [encodeChange(change)];
    await log.append([{ stream: entityStream(urn), expected: "any", records }]);
    await log.close();
  });
  expect((await aspectsOf(urn)).schemaMetadata?.value).toMatchObject(schemaOf("a", "a"));
  expect((await ingest(schema(urn, "a", "a"))).status).toBe(200);
  const hashed = patch(urn, "schemaMetadata", { op: "add", path: "/hash", value: "h" });
  expect((await ingest(hashed)).status).toBe(200);
  expect((await aspectsOf(urn)).schemaMetadata?.value).toMatchObject({
    ...schemaOf("a", "a"),
    hash: "h",
  });
  expect((await ingest(schema(urn, "b", "b"))).status).toBe(422);
});
