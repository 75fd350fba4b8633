import { readFileSync } from "node:fs";
import avro, { type Schema } from "avsc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Change, SystemMetadata } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import { fingerprint } from "../../src/log/codecs/fingerprint.ts";
import {
  createRecordCodec,
  decodeRecord,
  encodeChange,
} from "../../src/log/codecs/record-codec.ts";

const schemaText = readFileSync(
  new URL("../../avro/log/MetadataChangeLog.avsc", import.meta.url),
  "utf8",
);
const schema = JSON.parse(schemaText) as Schema & { fields: { name: string }[] };

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,straße.東京,PROD)";

const upsert: Change = {
  urn,
  entityType: "dataset",
  aspect: "datasetProperties",
  changeType: "UPSERT",
  value: '{"description":"🚀"}',
  created: { time: 1_700_000_000_000, actor: "urn:li:corpuser:jdoe" },
  system: { lastObserved: 1_700_000_000_001, runId: "run-1", version: "3" },
};

const restate: Change = {
  urn,
  entityType: "dataset",
  aspect: "datasetProperties",
  changeType: "RESTATE",
  created: upsert.created,
  system: { ...upsert.system, lastRunId: "run-0", schemaVersion: 1 },
};

const recordOf = (
  change: Change,
  data: Uint8Array,
  stream = entityStream(change.urn),
): LogRecord => ({
  position: position(17),
  revision: revision(4),
  stream,
  data,
});

const placed = { position: 17, revision: 4, timeseries: false };

/** A record as avsc writes it with any schema. */
function encodeWith(writer: Schema, record: unknown): Uint8Array {
  const type = avro.Type.forSchema(writer);
  const header = Buffer.from([0xc3, 0x01, 0, 0, 0, 0, 0, 0, 0, 0]);
  header.writeBigUInt64LE(fingerprint(type), 2);
  return Buffer.concat([header, type.toBuffer(record)]);
}

describe("a change", () => {
  test("a change is decoded to the same change, with its position", () => {
    expect(decodeRecord(recordOf(upsert, encodeChange(upsert)))).toStrictEqual({
      ...upsert,
      ...placed,
    });
    expect(decodeRecord(recordOf(restate, encodeChange(restate)))).toStrictEqual({
      ...restate,
      ...placed,
    });
  });

  test("a change of a timeseries stream is marked as timeseries", () => {
    const stream = timeseriesStream(urn, "datasetProfile");
    expect(decodeRecord(recordOf(upsert, encodeChange(upsert), stream))).toMatchObject({
      urn,
      timeseries: true,
    });
  });

  test("any change is decoded to the same change", () => {
    const stamp = fc.record(
      {
        time: fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 }),
        actor: fc.string({ unit: "grapheme" }),
      },
      { noNullPrototype: true },
    );
    const texts = fc.dictionary(fc.string({ unit: "grapheme", minLength: 1 }), fc.string(), {
      noNullPrototype: true,
    });
    const system: fc.Arbitrary<SystemMetadata> = fc.record(
      {
        lastObserved: fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 }),
        runId: fc.string(),
        lastRunId: fc.string(),
        pipelineName: fc.string(),
        registryName: fc.string(),
        registryVersion: fc.string(),
        properties: texts,
        version: fc.nat().map(String),
        schemaVersion: fc.nat(),
        aspectCreated: stamp,
        aspectModified: stamp,
      },
      { requiredKeys: ["lastObserved", "runId"], noNullPrototype: true },
    );
    const change: fc.Arbitrary<Change> = fc.record(
      {
        urn: fc.constant(urn),
        entityType: fc.string(),
        aspect: fc.string(),
        changeType: fc.constantFrom("UPSERT", "RESTATE", "DELETE"),
        value: fc.json(),
        created: stamp,
        system,
        headers: texts,
      },
      {
        requiredKeys: ["urn", "entityType", "aspect", "changeType", "created", "system"],
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(change, (each) => {
        // Avro's maps are read into plain objects, which give this name another meaning.
        fc.pre(
          ![each.headers, each.system.properties].some((map) =>
            Object.hasOwn(map ?? {}, "__proto__"),
          ),
        );
        expect(decodeRecord(recordOf(each, encodeChange(each)))).toStrictEqual({
          ...each,
          ...placed,
        });
      }),
    );
  });

  test("a change may be as large as a value may be", () => {
    const value = JSON.stringify({ text: "é".repeat(7_999_990) });
    const bytes = encodeChange({ ...upsert, value });
    expect(bytes.length).toBeGreaterThan(15_999_980);
    expect(decodeRecord(recordOf(upsert, bytes))?.value).toBe(value);
    // The next change is not affected by the large one.
    expect(decodeRecord(recordOf(upsert, encodeChange(upsert)))?.value).toBe(upsert.value);
  });

  test("a restatement takes tens of bytes besides its names", () => {
    const { entityType, aspect, created, system } = restate;
    const names = [entityType, aspect, created.actor, system.runId, system.lastRunId].join("");
    expect(encodeChange(restate).length - names.length).toBeLessThan(64);
  });

  test.each([
    ["systemMetadata.lastObserved", { system: { ...upsert.system, lastObserved: 2 ** 53 } }],
    ["created.time", { created: { ...upsert.created, time: 1.5 } }],
    ["systemMetadata.runId", { system: JSON.parse('{"lastObserved":1,"runId":7}') }],
    ["systemMetadata.properties", { system: { ...upsert.system, properties: JSON.parse("[1]") } }],
  ])("a change with an invalid %s is rejected with that path", (path, part) => {
    const encoding = () => encodeChange({ ...upsert, ...part });
    expect(encoding).toThrow(expect.objectContaining({ code: "invalid" }));
    expect(encoding).toThrow(new RegExp(`"datasetProperties".*at ${path}`));
    expect(decodeRecord(recordOf(upsert, encodeChange(upsert)))?.value).toBe(upsert.value);
  });

  test("an encoded change does not share its bytes", () => {
    const first = encodeChange(upsert);
    const copy = Uint8Array.from(first);
    encodeChange({ ...upsert, value: '{"other":true}' });
    expect(Buffer.compare(first, copy)).toBe(0);
  });
});

describe("a record", () => {
  test("a record is encoded with the published schema in single-object encoding", () => {
    const bytes = encodeChange(restate);
    const type = avro.Type.forSchema(schema);
    expect([...bytes.subarray(0, 2)]).toEqual([0xc3, 0x01]);
    expect(Buffer.from(bytes).readBigUInt64LE(2)).toBe(fingerprint(type));
    expect(type.fromBuffer(Buffer.from(bytes.subarray(10)))).toMatchObject({
      entityType: "dataset",
      entityUrn: null,
      changeType: "RESTATE",
      aspectName: "datasetProperties",
      aspect: null,
      created: { ...restate.created, impersonator: null, message: null },
    });
  });

  test("a changed schema must be added to the history", () => {
    // Another number here means that earlier records need their schema kept: avro/log/README.md.
    expect(fingerprint(avro.Type.forSchema(schema)).toString(16)).toBe("6c721901f4431760");
  });

  test("a record has DataHub's fields in their order", () => {
    expect(schema.fields.map((field) => field.name)).toEqual([
      "auditHeader",
      "entityType",
      "entityUrn",
      "entityKeyAspect",
      "changeType",
      "aspectName",
      "aspect",
      "systemMetadata",
      "headers",
      "previousAspectValue",
      "previousSystemMetadata",
      "created",
    ]);
  });

  test("a record of an earlier schema is read", () => {
    // The earlier schema lacks stamps and has a field that was dropped later.
    const earlier = JSON.parse(schemaText, (_, value) =>
      Array.isArray(value)
        ? value.filter(({ name }) => !/^(schemaVersion|aspectModified|headers)$/.test(name ?? ""))
        : value,
    );
    earlier.fields.push({ name: "dropped", type: "string" });
    const data = encodeWith(earlier, {
      entityType: "dataset",
      changeType: "UPSERT",
      aspectName: "status",
      aspect: { value: Buffer.from('{"removed":true}'), contentType: "application/json" },
      systemMetadata: { lastObserved: 5, runId: "old", version: "1" },
      created: { time: 4, actor: "urn:li:corpuser:old" },
      dropped: "whatever",
    });
    const codec = createRecordCodec(schema, [earlier]);
    expect(codec.decodeRecord(recordOf(upsert, data))).toStrictEqual({
      ...placed,
      urn,
      entityType: "dataset",
      aspect: "status",
      changeType: "UPSERT",
      value: '{"removed":true}',
      created: { time: 4, actor: "urn:li:corpuser:old" },
      system: { lastObserved: 5, runId: "old", version: "1" },
    });
    expect(codec.decodeRecord(recordOf(upsert, codec.encodeChange(upsert)))?.value).toBe(
      upsert.value,
    );
  });

  test("a record of a stream without changes is skipped", () => {
    expect(decodeRecord(recordOf(upsert, new Uint8Array([1, 2, 3]), "job-7"))).toBeUndefined();
  });
});

describe("an unreadable record", () => {
  const good = Buffer.from(encodeChange(upsert));

  test("the error for an unknown schema has the position and the fingerprint", () => {
    const data = Buffer.from(good);
    data.writeBigUInt64LE(0x00ab_cdef_0123_4567n, 2);
    const reading = () => decodeRecord(recordOf(upsert, data));
    expect(reading).toThrow(/position 17 .* fingerprint 00abcdef01234567/);
    expect(reading).toThrow(expect.objectContaining({ code: "unreadable" }));
  });

  test("a record that ends too early is rejected, at any byte", () => {
    for (let end = 0; end < good.length; end++) {
      expect(() => decodeRecord(recordOf(upsert, good.subarray(0, end)))).toThrow(/position 17/);
    }
  });

  test("the error for a record with extra bytes has the position and the fingerprint", () => {
    const data = Buffer.concat([good, Buffer.from([0])]);
    expect(() => decodeRecord(recordOf(upsert, data))).toThrow(
      /position 17 .*is too long.*6c721901f4431760/,
    );
  });

  test("a record with an invalid enum value is rejected", () => {
    const data = Buffer.from(good);
    // The change type, after the header and the entity type with its length.
    data[10 + 1 + "dataset".length + 1] = 100;
    expect(() => decodeRecord(recordOf(upsert, data))).toThrow(/position 17/);
  });

  test("damaged bytes are decoded to a change or rejected as unreadable", () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
        const data = Buffer.from(good);
        data[at] = byte;
        try {
          expect(decodeRecord(recordOf(upsert, data))).toMatchObject({ urn, position: 17 });
        } catch (error) {
          expect(error).toMatchObject({ name: "CatalogError", code: "unreadable" });
        }
      }),
      { numRuns: 500 },
    );
  });
});
