/**
 * Encodes and decodes records with one schema of avro/log/ in Avro's single-object encoding: a header
 * with the schema's fingerprint, then the body.
 */
import { readFileSync } from "node:fs";
import avro, { type Schema, type Type } from "avsc";
import { CatalogError } from "../../core/errors.ts";
import type { LogRecord } from "../change-log.ts";
import { fingerprint } from "./fingerprint.ts";

const HEADER_BYTES = 10;
const FINGERPRINT_AT = 2;

interface SingleObjectCodec<T> {
  encode(value: T): Uint8Array;
  /** Throws CatalogError `unreadable` for a record that this release cannot read. */
  decode(record: LogRecord): T;
  /** True if the record has this schema. */
  writes(record: LogRecord): boolean;
}

/** `file`: name of the schema in avro/log/. `what`: the content of its records, for messages. */
export function createSingleObjectCodec<T>(file: string, what: string): SingleObjectCodec<T> {
  let compiled: CompiledSchema | undefined;
  // Compiled with the first record: most threads read and write few of these streams.
  const schema = (): CompiledSchema => {
    compiled ??= compile(file);
    return compiled;
  };

  function isKnown({ data }: LogRecord): boolean {
    return data.length >= HEADER_BYTES && schema().header.equals(data.subarray(0, HEADER_BYTES));
  }

  function body(record: LogRecord): Buffer {
    if (!isKnown(record)) throw new Error("its schema is unknown");
    const { data } = record;
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).subarray(HEADER_BYTES);
  }

  return {
    writes: isKnown,
    encode: (value) => Buffer.concat([schema().header, schema().type.toBuffer(value)]),
    decode(record) {
      try {
        return schema().type.fromBuffer(body(record));
      } catch (cause) {
        throw new CatalogError(
          "unreadable",
          `record at position ${record.position} of stream "${record.stream}" holds no ${what}: ${(cause as Error).message}`,
          { hint: "A later release wrote it, or the log is damaged", cause },
        );
      }
    },
  };
}

interface CompiledSchema {
  readonly type: Type;
  readonly header: Buffer;
}

function compile(file: string): CompiledSchema {
  const url = new URL(`../../../avro/log/${file}`, import.meta.url);
  const type = avro.Type.forSchema(JSON.parse(readFileSync(url, "utf8")) as Schema);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(0xc301);
  header.writeBigUInt64LE(fingerprint(type), FINGERPRINT_AT);
  return { type, header };
}
