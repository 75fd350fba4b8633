/**
 * Changes to records of the log and back: Avro MetadataChangeLog in single-object encoding, that
 * is C3 01, the writer schema's fingerprint (8 bytes, little-endian), the body (avro/log/README.md).
 *
 * A record of any schema in avro/log/ is read, whichever release wrote it. What cannot be read is
 * an error that names the record's position and fingerprint, never a guess.
 */
import { readdirSync, readFileSync } from "node:fs";
import avro, { type Resolver, type Schema, type Type } from "avsc";
import type {
  AuditStamp,
  Change,
  ChangeType,
  PlacedChange,
  SystemMetadata,
} from "../core/change.ts";
import { assert, CatalogError, saidBy } from "../core/errors.ts";
import { parseStream, type StreamName, type StreamOf } from "../core/stream.ts";
import type { LogRecord } from "./change-log.ts";
import { fingerprint } from "./fingerprint.ts";

export interface RecordCodec {
  /** The bytes are the caller's own. Throws CatalogError `invalid` for what no record can hold. */
  readonly encodeChange: (change: Change) => Uint8Array;
  /**
   * Undefined for a record of a stream that holds no changes (core/stream.ts). Throws CatalogError
   * `unreadable` for one that no known schema reads. Members that were not told are absent.
   */
  readonly decodeRecord: (record: LogRecord) => PlacedChange | undefined;
}

const CONTENT_TYPE = "application/json";
const HEADER_BYTES = 10;
const FINGERPRINT_AT = 2;
/** Room for nearly every record; a larger one gets a buffer of its own, which is not kept. */
const SCRATCH_BYTES = 256 * 1024;

/** A codec that writes one schema and reads it and earlier ones. */
export function createRecordCodec(current: Schema, earlier: readonly Schema[] = []): RecordCodec {
  const own = asText(current);
  return {
    encodeChange: createEncoder(own, fingerprint(avro.Type.forSchema(current))),
    decodeRecord: createDecoder(
      own,
      [current, ...earlier].map((schema) => avro.Type.forSchema(schema)),
    ),
  };
}

function readSchema(file: URL): Schema {
  return JSON.parse(readFileSync(file, "utf8")) as Schema;
}

/**
 * The type of the same wire with `string` for `bytes`, whose encodings are alike: aspect values are
 * text in memory, and need no buffer of their own on the way.
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
    // A negative end tells how many bytes were missing.
    const large = withHeader(SCRATCH_BYTES - end);
    assert(type.encode(record, large, HEADER_BYTES) === large.length, "a record has one size");
    return large;
  };
}

/** Runs only when the encoder has refused: it names a value, but not the field that has it. */
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
    `change of "${change.aspect}" of "${change.urn}" cannot be recorded: ${saidBy(cause)}${where}`,
    { hint: "Times and versions are whole numbers below 2^53 - 1, all else is text", cause },
  );
}

interface Reader {
  readonly fingerprintLow: number;
  readonly fingerprintHigh: number;
  readonly resolver: Resolver;
}

/** What avsc makes of a record: null for what is absent. */
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
    throw unreadable(record, "does not begin as a record of the log does");
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
    const how = decoded.offset < 0 ? "ends too early" : "goes on after its end";
    throw unreadable(record, `is damaged: it ${how} (fingerprint ${shownFingerprint(data)})`);
  }
  return decoded.value as WireRecord;
}

function toChange(wire: WireRecord, stream: StreamOf, record: LogRecord): PlacedChange {
  const { changeType, aspectName, systemMetadata, created } = wire;
  if (!isChangeType(changeType) || aspectName === null) {
    throw unreadable(record, `tells no change: ${changeType} of aspect "${aspectName}"`);
  }
  if (systemMetadata === null || created === null) {
    throw unreadable(record, "does not say who told it and when");
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

/** As the canonical form's fingerprint is written elsewhere: 16 hexadecimal digits. */
const shownFingerprint = (data: Buffer): string =>
  data.readBigUInt64LE(FINGERPRINT_AT).toString(16).padStart(16, "0");

const unreadable = (record: LogRecord, finding: string, cause?: unknown): CatalogError =>
  new CatalogError("unreadable", `record at position ${record.position} ${finding}`, {
    hint: `Restore the log from a backup; the record is revision ${record.revision} of "${record.stream}"`,
    cause,
  });

const directory = new URL("../../avro/log/", import.meta.url);

/** The codec of this release. Last in the file, because it needs what is above. */
export const { encodeChange, decodeRecord }: RecordCodec = createRecordCodec(
  readSchema(new URL("MetadataChangeLog.avsc", directory)),
  readdirSync(new URL("history/", directory))
    .filter((name) => name.endsWith(".avsc"))
    .map((name) => readSchema(new URL(`history/${name}`, directory))),
);
