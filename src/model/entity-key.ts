/**
 * An entity's urn and its key aspect say the same: the parts of the urn's id are the fields of the
 * key, by position. A field that may be absent is empty in the urn.
 */
import { CatalogError } from "../core/errors.ts";
import { commasOutside, joinId, parseUrn, splitId, wrongPartCount } from "../core/urn.ts";
import { shortened } from "../lib/shortened.ts";
import type { Entity, EntityKeyPart } from "./model.ts";

/**
 * The value of the key aspect of a urn that is of this entity's type, fields in urn order. Throws
 * CatalogError `malformed` when the number of parts does not fit or a nested urn does not parse,
 * `invalid` when a part is not a symbol of its enum.
 */
export function keyValue(entity: Entity, urn: string): Record<string, string> {
  const { keyParts } = entity;
  // The limits are the caller's: this urn has passed them.
  const values = splitId(urn, parseUrn(urn, unlimited).id, keyParts);
  const key: Record<string, string> = {};
  keyParts.forEach((part, i) => {
    const value = values[i] ?? "";
    if (value === "" && part.optional) return;
    checkPart(part, value, urn);
    key[part.name] = value;
  });
  return key;
}

/** The error of a key that only older entities may have: a comma in a name. Nested urns are not checked. */
export function faultOfParts(
  { keyParts }: Entity,
  key: Readonly<Record<string, unknown>>,
  urn: string,
): CatalogError | undefined {
  if (keyParts.length === 1) return undefined;
  const texts = keyParts.filter(({ kind }) => kind === "text");
  // Safe lookup: the model names the parts.
  const commas = texts.reduce((sum, part) => sum + commasOutside(String(key[part.name] ?? "")), 0);
  return commas > 0 ? wrongPartCount(urn, keyParts.length + commas, keyParts) : undefined;
}

const unlimited = {
  bytesMax: Number.POSITIVE_INFINITY,
  schemaFieldBytesMax: Number.POSITIVE_INFINITY,
};

/**
 * The urn that a key makes, in the namespace. `key` is what a client sent: parsed JSON. Throws
 * CatalogError `invalid` when a field that the urn needs is absent or no text, or when the urn would
 * be read as another key (a comma in a name, where more than one field is free text).
 */
export function urnOfKey(entity: Entity, key: unknown, namespace: string): string {
  const fields = typeof key === "object" && key !== null ? Object.entries(key) : [];
  const given = new Map<string, unknown>(fields);
  const values = entity.keyParts.map(({ name, optional }) => {
    const value = given.get(name) ?? undefined;
    if (typeof value === "string") return value;
    if (value === undefined && optional) return "";
    const found = value === undefined ? "no" : "a bad";
    throw new CatalogError("invalid", `key of "${entity.name}" has ${found} "${name}"`, {
      hint: `A key of "${entity.name}" has, as text, ${entity.keyParts.map((part) => part.name).join(", ")}`,
    });
  });
  const urn = `urn:${namespace}:${entity.name}:${joinId(values)}`;
  const back = keyValue(entity, urn);
  // Safe lookup: the model names the parts, and `back` has each of them.
  const lost = entity.keyParts.find(({ name }, i) => (back[name] ?? "") !== values[i]);
  if (lost !== undefined) {
    throw new CatalogError(
      "invalid",
      `"${lost.name}" could not be read from the urn "${shortened(urn)}" again`,
      {
        hint: `Leave commas and unpaired parentheses out of "${lost.name}"`,
      },
    );
  }
  return urn;
}

function checkPart({ name, kind, symbols }: EntityKeyPart, value: string, urn: string): void {
  if (kind === "enum" && !symbols.includes(value)) {
    throw new CatalogError(
      "invalid",
      `urn "${shortened(urn)}" has the ${name} "${shortened(value)}"`,
      {
        hint: `The ${name} is one of ${symbols.join(", ")}`,
      },
    );
  }
  if (kind === "urn") checkNested(name, value, urn);
}

function checkNested(name: string, value: string, urn: string): void {
  try {
    parseUrn(value, unlimited);
  } catch (cause) {
    if (!(cause instanceof CatalogError)) throw cause;
    const message = `urn "${shortened(urn)}" has the ${name} "${shortened(value)}", which is not a urn`;
    throw new CatalogError("malformed", message, {
      hint: `The ${name} is a urn itself, such as urn:li:dataPlatform:hive`,
      cause,
    });
  }
}
