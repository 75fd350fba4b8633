/**
 * Parses and compares Avro schemas of clients: validity, identity, and compatibility between the
 * versions of a subject.
 */
import { createHash } from "node:crypto";
import avro, { type Schema, type Type } from "avsc";
import { messageOf } from "../core/errors.ts";
import { sortedMembers } from "../lib/json.ts";
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

export type CompatibilityLevel = (typeof levels)[number];

/** Throws RegistryError for an unknown level. */
export function readLevel(text: string): CompatibilityLevel {
  const level = levels.find((one) => one === text.toUpperCase());
  if (level === undefined) throw invalidLevel(text, levels);
  return level;
}

interface ReadSchema {
  /** Compact JSON text; members in their order. */
  readonly text: string;
  /** Equal for equal schemas in any notation; docs and other attributes count. */
  readonly key: string;
}

/** Throws RegistryError for text that is not a valid Avro schema. */
export function readSchema(given: string): ReadSchema {
  try {
    const schema = JSON.parse(given) as Schema;
    avro.Type.forSchema(schema);
    return { text: JSON.stringify(schema), key: keyOf(schema) };
  } catch (cause) {
    throw invalidSchema(messageOf(cause), cause);
  }
}

export function keyOf(schema: unknown): string {
  return createHash("sha256").update(JSON.stringify(schema, sortedMembers)).digest("base64");
}

interface Earlier {
  readonly version: number;
  readonly text: string;
}

/**
 * Returns the incompatibilities of a schema with earlier ones (newest last); empty if it is
 * compatible. BACKWARD: it can read data of earlier schemas. FORWARD: they can read its data. FULL:
 * both. Without TRANSITIVE only the newest one is compared.
 */
export function incompatibilities(
  text: string,
  earlier: readonly Earlier[],
  level: CompatibilityLevel,
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
    return cause instanceof TypeError ? "the types differ" : messageOf(cause);
  }
}

/** Ignores namespaces, as Avro does when it compares, unless names would collide. */
function typeOf(text: string): Type {
  const schema = JSON.parse(text) as Schema;
  try {
    return avro.Type.forSchema(withoutNamespaces(schema) as Schema);
  } catch {
    return avro.Type.forSchema(schema);
  }
}
