/**
 * Avro schemas of others: whether they hold together, whether two are one, and whether what one
 * wrote can be read with another.
 */
import { createHash } from "node:crypto";
import avro, { type Schema, type Type } from "avsc";
import { saidBy } from "../core/errors.ts";
import { invalidLevel, invalidSchema } from "./registry-error.ts";
import { withoutNamespaces } from "./schema-names.ts";

const levels = [
  "NONE",
  "BACKWARD",
  "BACKWARD_TRANSITIVE",
  "FORWARD",
  "FORWARD_TRANSITIVE",
  "FULL",
  "FULL_TRANSITIVE",
] as const;

export type Level = (typeof levels)[number];

/** Throws RegistryError for what is none. */
export function readLevel(text: string): Level {
  const level = levels.find((one) => one === text.toUpperCase());
  if (level === undefined) throw invalidLevel(text, levels);
  return level;
}

export interface ReadSchema {
  /** Compact JSON text; members in their order. */
  readonly text: string;
  /** The same for the same schema, however it is written: docs and other attributes count. */
  readonly key: string;
}

/** Throws RegistryError for text that is no Avro schema. */
export function readSchema(given: string): ReadSchema {
  try {
    const schema = JSON.parse(given) as Schema;
    avro.Type.forSchema(schema);
    return { text: JSON.stringify(schema), key: keyOf(schema) };
  } catch (cause) {
    throw invalidSchema(saidBy(cause), cause);
  }
}

export function keyOf(schema: unknown): string {
  return createHash("sha256").update(JSON.stringify(schema, sorted)).digest("base64");
}

function sorted(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export interface Earlier {
  readonly version: number;
  readonly text: string;
}

/**
 * What stands against the schema beside earlier ones, the newest last: nothing when it is compatible.
 * BACKWARD: it reads what they wrote. FORWARD: they read what it writes. FULL: both. Without
 * TRANSITIVE the newest alone counts.
 */
export function incompatibilities(
  text: string,
  earlier: readonly Earlier[],
  level: Level,
): readonly string[] {
  if (level === "NONE") return [];
  const compared = level.endsWith("_TRANSITIVE") ? earlier : earlier.slice(-1);
  const findings: string[] = [];
  for (const { version, text: other } of compared) {
    if (!level.startsWith("FORWARD")) {
      const why = cannotRead(text, other);
      if (why !== undefined)
        findings.push(`it does not read what version ${version} wrote: ${why}`);
    }
    if (!level.startsWith("BACKWARD")) {
      const why = cannotRead(other, text);
      if (why !== undefined)
        findings.push(`version ${version} does not read what it writes: ${why}`);
    }
  }
  return findings;
}

function cannotRead(reader: string, writer: string): string | undefined {
  try {
    typeOf(reader).createResolver(typeOf(writer));
    return undefined;
  } catch (cause) {
    // The library throws a TypeError when it compares a record with another type.
    return cause instanceof TypeError ? "the types differ" : saidBy(cause);
  }
}

/** By names without namespaces, as Avro compares; with them where names would fall together. */
function typeOf(text: string): Type {
  const schema = JSON.parse(text) as Schema;
  try {
    return avro.Type.forSchema(withoutNamespaces(schema) as Schema);
  } catch {
    return avro.Type.forSchema(schema);
  }
}
