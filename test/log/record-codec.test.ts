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

const place = (change: Change, data: Uint8Array, stream = entityStream(change.urn)): LogRecord => ({
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
  test("comes back as it was, with its place", () => {
    expect(decodeRecord(place(upsert, encodeChange(upsert)))).toStrictEqual({
      ...upsert,
      ...placed,
    });
    expect(decodeRecord(place(restate, encodeChange(restate)))).toStrictEqual({
      ...restate,
      ...placed,
    });
  });

  test("of a timeseries stream is marked so", () => {
    const stream = timeseriesStream(urn, "datasetProfile");
    expect(decodeRecord(place(upsert, encodeChange(upsert), stream))).toMatchObject({
      urn,
      timeseries: true,
    });
  });

  test("comes back as it was, whatever it holds", () => {
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
        expect(decodeRecord(place(each, encodeChange(each)))).toStrictEqual({ ...each, ...placed });
      }),
    );
  });

  test("may be as large as a value may be", () => {
    const value = JSON.stringify({ text: "é".repeat(7_999_990) });
    const bytes = encodeChange({ ...upsert, value });
    expect(bytes.length).toBeGreaterThan(15_999_980);
    expect(decodeRecord(place(upsert, bytes))?.value).toBe(value);
    // The next one is not affected by the large one.
    expect(decodeRecord(place(upsert, encodeChange(upsert)))?.value).toBe(upsert.value);
  });

  test("that says nothing new costs tens of bytes besides its names", () => {
    const { entityType, aspect, created, system } = restate;
    const names = [entityType, aspect, created.actor, system.runId, system.lastRunId].join("");
    expect(encodeChange(restate).length - names.length).toBeLessThan(64);
  });

  test.each([
    ["systemMetadata.lastObserved", { system: { ...upsert.system, lastObserved: 2 ** 53 } }],
    ["created.time", { created: { ...upsert.created, time: 1.5 } }],
    ["systemMetadata.runId", { system: JSON.parse('{"lastObserved":1,"runId":7}') }],
    ["systemMetadata.properties", { system: { ...upsert.system, properties: JSON.parse("[1]") } }],
  ])("with what no record can hold at %s is refused, and named", (path, part) => {
    const encoding = () => encodeChange({ ...upsert, ...part });
    expect(encoding).toThrow(expect.objectContaining({ code: "invalid" }));
    expect(encoding).toThrow(new RegExp(`"datasetProperties".*at ${path}`));
    expect(decodeRecord(place(upsert, encodeChange(upsert)))?.value).toBe(upsert.value);
  });

  test("has bytes of its own", () => {
    const first = encodeChange(upsert);
    const copy = Uint8Array.from(first);
    encodeChange({ ...upsert, value: '{"other":true}' });
    expect(Buffer.compare(first, copy)).toBe(0);
  });
});

describe("a record", () => {
  test("is the published schema in single-object encoding", () => {
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

  test("has the schema that it had, or the old one is in history", () => {
    // A new number here means that records of before need their schema kept: avro/log/README.md.
    expect(fingerprint(avro.Type.forSchema(schema)).toString(16)).toBe("6c721901f4431760");
  });

  test("has the fields of the reference in their order", () => {
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

  test("of an earlier schema is read", () => {
    // As the record would be without stamps, and with a field that was dropped since.
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
    expect(codec.decodeRecord(place(upsert, data))).toStrictEqual({
      ...placed,
      urn,
      entityType: "dataset",
      aspect: "status",
      changeType: "UPSERT",
      value: '{"removed":true}',
      created: { time: 4, actor: "urn:li:corpuser:old" },
      system: { lastObserved: 5, runId: "old", version: "1" },
    });
    expect(codec.decodeRecord(place(upsert, codec.encodeChange(upsert)))?.value).toBe(upsert.value);
  });

  test("of a stream that holds no changes is passed over", () => {
    expect(decodeRecord(place(upsert, new Uint8Array([1, 2, 3]), "job-7"))).toBeUndefined();
  });
});

describe("what cannot be read", () => {
  const good = Buffer.from(encodeChange(upsert));

  test("names position and fingerprint of an unknown schema", () => {
    const data = Buffer.from(good);
    data.writeBigUInt64LE(0x00ab_cdef_0123_4567n, 2);
    const reading = () => decodeRecord(place(upsert, data));
    expect(reading).toThrow(/position 17 .* fingerprint 00abcdef01234567/);
    expect(reading).toThrow(expect.objectContaining({ code: "unreadable" }));
  });

  test("is refused at whatever byte it ends too early", () => {
    for (let end = 0; end < good.length; end++) {
      expect(() => decodeRecord(place(upsert, good.subarray(0, end)))).toThrow(/position 17/);
    }
  });

  test("names position and fingerprint of a record that goes on after its end", () => {
    const data = Buffer.concat([good, Buffer.from([0])]);
    expect(() => decodeRecord(place(upsert, data))).toThrow(
      /position 17 .*is too long.*6c721901f4431760/,
    );
  });

  test("is refused when a byte was changed into what no record has", () => {
    const data = Buffer.from(good);
    // The change type, after the header and the entity type with its length.
    data[10 + 1 + "dataset".length + 1] = 100;
    expect(() => decodeRecord(place(upsert, data))).toThrow(/position 17/);
  });

  test("never comes out of damaged bytes as anything but an error or a change", () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
        const data = Buffer.from(good);
        data[at] = byte;
        try {
          expect(decodeRecord(place(upsert, data))).toMatchObject({ urn, position: 17 });
        } catch (error) {
          expect(error).toMatchObject({ name: "CatalogError", code: "unreadable" });
        }
      }),
      { numRuns: 500 },
    );
  });
});
