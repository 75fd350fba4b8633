import { readFileSync } from "node:fs";
import avro, { type Schema } from "avsc";
import { describe, expect, test } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import { createEventCodec, type SchemaSource } from "../../src/feed/event-codec.ts";
import { eventSchemas, schemaOfTopic, topics } from "../../src/feed/event-schemas.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,straße.東京,PROD)";

const own: SchemaSource = {
  findSchema: async (id) => eventSchemas.find((schema) => schema.id === id)?.text,
};
const codec = createEventCodec(own);

const changed: PlacedChange = {
  urn,
  entityType: "dataset",
  aspect: "datasetProperties",
  changeType: "UPSERT",
  value: '{"description":"🚀"}',
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:jdoe" },
  system: {
    lastObserved: 1_700_000_000_001,
    runId: "run-2",
    lastRunId: "run-1",
    version: "2",
    aspectCreated: { time: 1, actor: "urn:li:corpuser:a" },
    properties: { clientId: "x" },
  },
  headers: { trace: "t" },
  position: position(17),
  revision: revision(4),
  timeseries: false,
};

const schemaFile = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../avro/events/${name}.avsc`, import.meta.url), "utf8"));

/** Decodes a message as a consumer does: by the schema id of the frame, then the body. */
function consume(message: Buffer): { readonly id: number; readonly record: unknown } {
  expect(message[0]).toBe(0);
  const id = message.readUInt32BE(1);
  const text = eventSchemas.find((schema) => schema.id === id)?.text ?? "";
  const type = avro.Type.forSchema(JSON.parse(text));
  return { id, record: JSON.parse(JSON.stringify(type.fromBuffer(message.subarray(5)))) };
}

const bytes = (text: string) => ({ type: "Buffer", data: [...Buffer.from(text)] });

function frame(id: number, schema: Schema, record: unknown): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(id, 1);
  return Buffer.concat([head, avro.Type.forSchema(schema).toBuffer(record)]);
}

describe("encoding a change", () => {
  test("a change is encoded as DataHub's record for its topic, with the urn as key", () => {
    const message = codec.encodeChange({
      change: changed,
      previous: { value: "{}", system: { lastObserved: 5, runId: "run-1", version: "1" } },
    });
    expect(message).toMatchObject({ topic: "MetadataChangeLog_Versioned_v1", key: urn });
    const absent = {
      ...{ pipelineName: null, registryName: null, registryVersion: null, properties: null },
      ...{ schemaVersion: null, aspectCreated: null, aspectModified: null },
    };
    expect(consume(message.value)).toStrictEqual({
      id: 18,
      record: {
        auditHeader: null,
        entityType: "dataset",
        entityUrn: urn,
        entityKeyAspect: null,
        changeType: "UPSERT",
        aspectName: "datasetProperties",
        aspect: { value: bytes('{"description":"🚀"}'), contentType: "application/json" },
        systemMetadata: {
          ...absent,
          lastObserved: 1_700_000_000_001,
          runId: "run-2",
          lastRunId: "run-1",
          version: "2",
          properties: { clientId: "x" },
          aspectCreated: { time: 1, actor: "urn:li:corpuser:a", impersonator: null, message: null },
        },
        headers: { trace: "t" },
        previousAspectValue: { value: bytes("{}"), contentType: "application/json" },
        previousSystemMetadata: {
          ...absent,
          ...{ lastObserved: 5, runId: "run-1", lastRunId: "no-run-id-provided", version: "1" },
        },
        created: {
          time: 1_700_000_000_000,
          actor: "urn:li:corpuser:jdoe",
          impersonator: null,
          message: null,
        },
      },
    });
  });

  test("a timeseries change goes to the timeseries topic, and a deletion has no value", () => {
    const event = codec.encodeChange({ change: { ...changed, timeseries: true } });
    expect(event.topic).toBe("MetadataChangeLog_Timeseries_v1");
    const gone = { ...changed, changeType: "DELETE" as const, value: undefined };
    expect(consume(codec.encodeChange({ change: gone }).value).record).toMatchObject({
      changeType: "DELETE",
      aspect: null,
      previousAspectValue: null,
    });
  });

  test("a change may be larger than the preallocated buffer", () => {
    const value = JSON.stringify("x".repeat(700_000));
    const { record } = consume(codec.encodeChange({ change: { ...changed, value } }).value);
    const { aspect } = record as { aspect: { value: { data: number[] } } };
    expect(Buffer.from(aspect.value.data).toString()).toBe(value);
    // The buffer still has the previous message.
    expect(consume(codec.encodeChange({ change: changed }).value).id).toBe(18);
  });

  test("a change that no record can hold is rejected with its position", () => {
    const created = { time: 2 ** 60, actor: "urn:li:corpuser:a" };
    expect(() => codec.encodeChange({ change: { ...changed, created } })).toThrow(
      /change of "datasetProperties" of .* at position 17 cannot be written/,
    );
  });
});

describe("decoding a proposal", () => {
  const wire = {
    entityType: "dataset",
    entityUrn: urn,
    changeType: "UPSERT",
    aspectName: "status",
    aspect: { value: Buffer.from('{"removed":false}'), contentType: "application/json" },
    systemMetadata: { lastObserved: 7, runId: "r", properties: { a: "b" } },
    headers: { "If-Version-Match": "1" },
  };
  const proposal = {
    entityType: "dataset",
    entityUrn: urn,
    changeType: "UPSERT",
    aspectName: "status",
    aspect: { value: '{"removed":false}', contentType: "application/json" },
    systemMetadata: {
      ...{ lastObserved: 7, runId: "r", lastRunId: "no-run-id-provided", properties: { a: "b" } },
    },
    headers: { "If-Version-Match": "1" },
  };

  test("a proposal is decoded into the form of the API, without absent fields", async () => {
    const message = frame(16, schemaFile("MetadataChangeProposal"), wire);
    expect(await codec.decodeProposal(message)).toStrictEqual(proposal);
  });

  test("a proposal is read with the schema of its id: other names, fewer fields, other unions", async () => {
    const older: Schema = {
      type: "record",
      name: "MetadataChangeProposal",
      namespace: "com.linkedin.mxe",
      fields: [
        {
          name: "auditHeader",
          type: [
            "null",
            {
              type: "record",
              name: "KafkaAuditHeader",
              namespace: "com.linkedin.avro2pegasus.events",
              fields: [
                { name: "time", type: "long" },
                { name: "server", type: "string" },
                { name: "appName", type: "string" },
                { name: "messageId", type: { type: "fixed", name: "UUID", size: 16 } },
              ],
            },
          ],
        },
        { name: "remark", type: "string" },
        { name: "entityType", type: "string" },
        { name: "entityUrn", type: "string" },
        {
          name: "changeType",
          type: { type: "enum", name: "ChangeType", symbols: ["DELETE", "UPSERT"] },
        },
        { name: "aspectName", type: ["string", "null"] },
        {
          name: "aspect",
          type: {
            type: "record",
            name: "GenericAspect",
            fields: [
              { name: "contentType", type: "string" },
              { name: "value", type: "bytes" },
            ],
          },
        },
      ],
    };
    const registry: SchemaSource = {
      findSchema: async (id) => (id === 1_001 ? JSON.stringify(older) : undefined),
    };
    const auditHeader = { time: 1, server: "s", appName: "a", messageId: Buffer.alloc(16) };
    const message = frame(1_001, older, { ...wire, auditHeader, remark: "hello" });
    const { systemMetadata, headers, ...expected } = proposal;
    expect(await createEventCodec(registry).decodeProposal(message)).toStrictEqual(expected);
  });

  test("bytes that are not a valid proposal are rejected", async () => {
    const good = frame(16, schemaFile("MetadataChangeProposal"), wire);
    const expectRejected = (value: Buffer, text: RegExp) =>
      expect(codec.decodeProposal(value)).rejects.toMatchObject({
        code: "malformed",
        message: expect.stringMatching(text),
      });
    await expectRejected(Buffer.from("{}"), /does not begin with 0/);
    await expectRejected(Buffer.from([0, 0, 0, 9, 9, 1]), /no schema has the id 2313/);
    await expectRejected(
      good.subarray(0, good.length - 3),
      /is too short|does not match its schema 16/,
    );
    await expectRejected(Buffer.concat([good, Buffer.from([1])]), /is too long/);
    const { text } = schemaOfTopic(topics.platformEvents);
    const platformEvent = frame(4, JSON.parse(text) as Schema, {
      header: { timestampMillis: 1 },
      name: "n",
      payload: { value: Buffer.from("{}"), contentType: "application/json" },
    });
    await expectRejected(platformEvent, /schema 4 is not one of proposals/);
    const aspect = { value: Buffer.from([0xff, 0xfe]), contentType: "application/json" };
    const bad = frame(16, schemaFile("MetadataChangeProposal"), { ...wire, aspect });
    await expectRejected(bad, /the value of aspect is not UTF-8/);
  });

  test("a failed proposal is encoded with its error and its original value", async () => {
    const value = frame(16, schemaFile("MetadataChangeProposal"), wire);
    const message = await codec.encodeFailure({ value, key: "k", error: "no such aspect" });
    expect(message).toMatchObject({ topic: "FailedMetadataChangeProposal_v1", key: urn });
    expect(consume(message.value)).toMatchObject({
      id: 17,
      record: {
        metadataChangeProposal: {
          aspectName: "status",
          aspect: { value: bytes('{"removed":false}') },
        },
        error: "no such aspect",
      },
    });
  });

  test("an unreadable proposal is encoded as bytes", async () => {
    const value = Buffer.from("nonsense");
    const message = await codec.encodeFailure({ value, key: "k", error: "unreadable" });
    expect(message.key).toBe("k");
    expect(consume(message.value).record).toMatchObject({
      metadataChangeProposal: {
        entityType: "",
        aspect: { value: bytes("nonsense"), contentType: "application/octet-stream" },
      },
    });
  });

  test("an unavailable registry is an error of decoding and of encoding failures", async () => {
    const away: SchemaSource = { findSchema: () => Promise.reject(new Error("away")) };
    const failing = createEventCodec(away);
    const value = Buffer.from([0, 0, 0, 0, 16, 1]);
    await expect(failing.decodeProposal(value)).rejects.toThrow("away");
    await expect(failing.encodeFailure({ value, key: "k", error: "e" })).rejects.toThrow("away");
  });
});

test("the schemas of messages are DataHub's", () => {
  const shapes = eventSchemas.map(({ id, text, subjects, alsoRead }) => {
    const { name, namespace, fields } = JSON.parse(text);
    const names = fields.map((field: { name: string }) => field.name);
    return { id, alsoRead, name: `${namespace}.${name}`, subjects, names };
  });
  const proposal = [
    ...["auditHeader", "entityType", "entityUrn", "entityKeyAspect", "changeType", "aspectName"],
    ...["aspect", "systemMetadata", "headers"],
  ];
  expect(shapes).toStrictEqual([
    {
      ...{ id: 4, alsoRead: [], name: "com.linkedin.pegasus2avro.mxe.PlatformEvent" },
      subjects: ["PlatformEvent_v1-value"],
      names: ["header", "name", "payload"],
    },
    {
      ...{ id: 8, alsoRead: [] },
      name: "com.linkedin.pegasus2avro.mxe.DataHubUpgradeHistoryEvent",
      subjects: ["DataHubUpgradeHistory_v1-value"],
      names: ["version", "systemMetadata"],
    },
    {
      ...{ id: 16, alsoRead: [], name: "com.linkedin.pegasus2avro.mxe.MetadataChangeProposal" },
      subjects: ["MetadataChangeProposal_v1-value"],
      names: proposal,
    },
    {
      ...{ id: 17, alsoRead: [] },
      name: "com.linkedin.pegasus2avro.mxe.FailedMetadataChangeProposal",
      subjects: ["FailedMetadataChangeProposal_v1-value"],
      names: ["auditHeader", "metadataChangeProposal", "error"],
    },
    {
      ...{ id: 18, alsoRead: [19], name: "com.linkedin.pegasus2avro.mxe.MetadataChangeLog" },
      subjects: ["MetadataChangeLog_Versioned_v1-value", "MetadataChangeLog_Timeseries_v1-value"],
      names: [...proposal, "previousAspectValue", "previousSystemMetadata", "created"],
    },
  ]);
});
