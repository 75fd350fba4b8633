/**
 * Encodes changes to records of the log and decodes them: Avro MetadataChangeLog in single-object
 * encoding, which is C3 01, the fingerprint of the writer's schema (8 bytes, little-endian) and the
 * body (avro/log/README.md).
 *
 * Records of any schema in avro/log/ can be read, so of any earlier release. For other records the
 * error has the record's position and fingerprint.
 */
import { readdirSync, readFileSync } from "node:fs";
import avro, { type Resolver, type Schema, type Type } from "avsc";
import type {
  AuditStamp,
  Change,
  ChangeType,
  PlacedChange,
  SystemMetadata,
} from "../../core/change.ts";
import { assert, CatalogError, messageOf } from "../../core/errors.ts";
import { parseStream, type StreamName, type StreamOf } from "../../core/stream.ts";
import type { LogRecord } from "../change-log.ts";
import { fingerprint } from "./fingerprint.ts";

interface RecordCodec {
  /** The caller owns the bytes. Throws CatalogError `invalid` if the values do not fit the schema. */
  readonly encodeChange: (change: Change) => Uint8Array;
  /**
   * Undefined for a record of a stream that holds no changes (core/stream.ts). Throws CatalogError
   * `unreadable` for a record with an unknown schema. Members that are null in the record are absent.
   */
  readonly decodeRecord: (record: LogRecord) => PlacedChange | undefined;
}

const CONTENT_TYPE = "application/json";
const HEADER_BYTES = 10;
const FINGERPRINT_AT = 2;
/** Large enough for nearly every record; a larger one gets a temporary buffer. */
const SCRATCH_BYTES = 256 * 1024;

/** Creates a codec that writes one schema, and reads it and earlier ones. */
export function createRecordCodec(current: Schema, earlier: readonly Schema[] = []): RecordCodec {
  const own = asText(current);
  const writer = avro.Type.forSchema(current);
  const earlierWriters = earlier.map((schema) => avro.Type.forSchema(schema));
  return {
    encodeChange: createEncoder(own, fingerprint(writer)),
    decodeRecord: createDecoder(own, [writer, ...earlierWriters]),
  };
}

function readSchema(file: URL): Schema {
  return JSON.parse(readFileSync(file, "utf8")) as Schema;
}

/**
 * The same type with `string` instead of `bytes`. Both have the same encoding; aspect values are text
 * in memory, so this avoids a buffer.
 */
const asText = (schema: Schema): Type =>
  avro.Type.forSchema(
    JSON.parse(JSON.stringify(schema), (key, value) =>
      key === "type" && value === "bytes" ? "string" : value,
    ),
  );

function createEncoder(type: Type, schemaFingerprint: bigint): RecordCodec["encodeChange"] {
  const withHeader = (size: number): Buffer => {
    const buffer = Buffer.allocUnsafeSlow(size);
    buffer.writeUInt16BE(0xc301);
    buffer.writeBigUInt64LE(schemaFingerprint, FINGERPRINT_AT);
    return buffer;
  };
  const scratch = withHeader(SCRATCH_BYTES);

  return (change) => {
    const { value, created, system, headers } = change;
    const record = {
      entityType: change.entityType,
      changeType: change.changeType,
      aspectName: change.aspect,
      aspect: value === undefined ? undefined : { value, contentType: CONTENT_TYPE },
      systemMetadata: system,
      headers,
      created,
    };
    let end: number;
    try {
      end = type.encode(record, scratch, HEADER_BYTES);
    } catch (cause) {
      throw unwritable(type, change, record, cause);
    }
    if (end >= 0) {
      const bytes = Buffer.allocUnsafe(end);
      scratch.copy(bytes, 0, 0, end);
      return bytes;
    }
    // A negative end is the number of missing bytes.
    const large = withHeader(SCRATCH_BYTES - end);
    assert(type.encode(record, large, HEADER_BYTES) === large.length, "a record has one size");
    return large;
  };
}

/** Finds the invalid field: the encoder's error has the value, but not the field. */
function unwritable(type: Type, change: Change, record: unknown, cause: unknown): CatalogError {
  const fields: string[] = [];
  type.isValid(record, {
    errorHook: (path) => {
      fields.push(path.join("."));
    },
  });
  const where = fields[0] === undefined ? "" : ` at ${fields[0]}`;
  return new CatalogError(
    "invalid",
    `change of "${change.aspect}" of "${change.urn}" cannot be recorded: ${messageOf(cause)}${where}`,
    {
      hint: "Times and versions must be whole numbers below 2^53 - 1, all else must be text",
      cause,
    },
  );
}

interface Reader {
  readonly fingerprintLow: number;
  readonly fingerprintHigh: number;
  readonly resolver: Resolver;
}

/** The decoded form of avsc: absent members are null. */
interface WireStamp {
  readonly time: number;
  readonly actor: string;
}

interface WireRecord {
  readonly entityType: string;
  readonly changeType: string;
  readonly aspectName: string | null;
  readonly aspect: { readonly value: string } | null;
  readonly systemMetadata: {
    readonly lastObserved: number;
    readonly runId: string;
    readonly lastRunId: string | null;
    readonly pipelineName: string | null;
    readonly registryName: string | null;
    readonly registryVersion: string | null;
    readonly properties: Record<string, string> | null;
    readonly version: string | null;
    readonly schemaVersion: number | null;
    readonly aspectCreated: WireStamp | null;
    readonly aspectModified: WireStamp | null;
  } | null;
  readonly headers: Record<string, string> | null;
  readonly created: WireStamp | null;
}

function createDecoder(type: Type, writers: readonly Type[]): RecordCodec["decodeRecord"] {
  const readers: readonly Reader[] = writers.map((writer) => {
    const sum = fingerprint(writer);
    return {
      fingerprintLow: Number(sum & 0xffff_ffffn),
      fingerprintHigh: Number(sum >> 32n),
      resolver: type.createResolver(writer),
    };
  });
  // Records of one append come one after the other.
  let lastName: StreamName | undefined;
  let lastStream: StreamOf | undefined;

  return (record) => {
    if (record.stream !== lastName) {
      lastStream = parseStream(record.stream);
      lastName = record.stream;
    }
    if (lastStream === undefined) return undefined;
    const data = asBuffer(record.data);
    const wire = decodeBody(type, findReader(readers, data, record), data, record);
    return toChange(wire, lastStream, record);
  };
}

function findReader(readers: readonly Reader[], data: Buffer, record: LogRecord): Reader {
  if (data.length < HEADER_BYTES || data[0] !== 0xc3 || data[1] !== 0x01) {
    throw unreadable(record, "does not begin with the header of a record");
  }
  const low = data.readUInt32LE(FINGERPRINT_AT);
  const high = data.readUInt32LE(FINGERPRINT_AT + 4);
  for (const reader of readers) {
    if (reader.fingerprintLow === low && reader.fingerprintHigh === high) return reader;
  }
  throw new CatalogError(
    "unreadable",
    `record at position ${record.position} has an unknown schema, fingerprint ${shownFingerprint(data)}`,
    { hint: "A later release wrote it: start that one, or put the schema into avro/log/history" },
  );
}

function decodeBody(type: Type, reader: Reader, data: Buffer, record: LogRecord): WireRecord {
  let decoded: { readonly value: unknown; readonly offset: number };
  try {
    decoded = type.decode(data, HEADER_BYTES, reader.resolver);
  } catch (cause) {
    throw unreadable(record, `is damaged (fingerprint ${shownFingerprint(data)})`, cause);
  }
  if (decoded.offset !== data.length) {
    const how = decoded.offset < 0 ? "is too short" : "is too long";
    throw unreadable(record, `is damaged: it ${how} (fingerprint ${shownFingerprint(data)})`);
  }
  return decoded.value as WireRecord;
}

function toChange(wire: WireRecord, stream: StreamOf, record: LogRecord): PlacedChange {
  const { changeType, aspectName, systemMetadata, created } = wire;
  if (!isChangeType(changeType) || aspectName === null) {
    throw unreadable(record, `holds no change: ${changeType} of aspect "${aspectName}"`);
  }
  if (systemMetadata === null || created === null) {
    throw unreadable(record, "has no actor or no time");
  }
  const change: Writable<PlacedChange> = {
    position: record.position,
    revision: record.revision,
    timeseries: stream.kind !== "entity",
    urn: stream.urn ?? "",
    entityType: wire.entityType,
    aspect: aspectName,
    changeType,
    created: toStamp(created),
    system: toSystemMetadata(systemMetadata),
  };
  if (wire.aspect !== null) change.value = wire.aspect.value;
  if (wire.headers !== null) change.headers = wire.headers;
  return change;
}

function toSystemMetadata(wire: NonNullable<WireRecord["systemMetadata"]>): SystemMetadata {
  const system: Writable<SystemMetadata> = { lastObserved: wire.lastObserved, runId: wire.runId };
  if (wire.lastRunId !== null) system.lastRunId = wire.lastRunId;
  if (wire.pipelineName !== null) system.pipelineName = wire.pipelineName;
  if (wire.registryName !== null) system.registryName = wire.registryName;
  if (wire.registryVersion !== null) system.registryVersion = wire.registryVersion;
  if (wire.properties !== null) system.properties = wire.properties;
  if (wire.version !== null) system.version = wire.version;
  if (wire.schemaVersion !== null) system.schemaVersion = wire.schemaVersion;
  if (wire.aspectCreated !== null) system.aspectCreated = toStamp(wire.aspectCreated);
  if (wire.aspectModified !== null) system.aspectModified = toStamp(wire.aspectModified);
  return system;
}

const toStamp = ({ time, actor }: WireStamp): AuditStamp => ({ time, actor });

const isChangeType = (word: string): word is ChangeType =>
  word === "UPSERT" || word === "RESTATE" || word === "DELETE";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const asBuffer = (data: Uint8Array): Buffer =>
  Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** The usual notation of the fingerprint: 16 hexadecimal digits. */
const shownFingerprint = (data: Buffer): string =>
  data.readBigUInt64LE(FINGERPRINT_AT).toString(16).padStart(16, "0");

const unreadable = (record: LogRecord, finding: string, cause?: unknown): CatalogError =>
  new CatalogError("unreadable", `record at position ${record.position} ${finding}`, {
    hint: `Restore the log from a backup; the record is revision ${record.revision} of "${record.stream}"`,
    cause,
  });

const directory = new URL("../../../avro/log/", import.meta.url);

/** The codec of this release. Last in the file, because it depends on the constants above. */
export const { encodeChange, decodeRecord }: RecordCodec = createRecordCodec(
  readSchema(new URL("MetadataChangeLog.avsc", directory)),
  readdirSync(new URL("history/", directory))
    .filter((name) => name.endsWith(".avsc"))
    .map((name) => readSchema(new URL(`history/${name}`, directory))),
);
