/**
 * CRC-64-AVRO, the Rabin fingerprint of a schema's canonical form, by the Avro specification. It runs
 * once per schema, so the code is simple rather than fast.
 */
import type { Type } from "avsc";

/** Fingerprint of the empty text (Avro specification, "Schema Fingerprints"). */
const EMPTY = 0xc15d213aa4d7a795n;

const TABLE: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => {
  let entry = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) entry = (entry >> 1n) ^ (entry & 1n ? EMPTY : 0n);
  return entry;
});

/** An unsigned 64-bit number. */
export const fingerprint = (type: Type): bigint => fingerprintOf(canonicalForm(type));

/** avsc writes names, members and their order as in the canonical form, without whitespace. */
const canonicalForm = (type: Type): string => JSON.stringify(type.schema());

function fingerprintOf(text: string): bigint {
  let sum = EMPTY;
  for (const byte of Buffer.from(text)) {
    sum = (sum >> 8n) ^ (TABLE[Number((sum ^ BigInt(byte)) & 0xffn)] ?? 0n);
  }
  return sum;
}
