/**
 * Urns: `urn:<namespace>:<entityType>:<id>`, the id a bare string or a tuple in parentheses whose
 * parts are the fields of the entity's key, by position.
 *
 * A urn is an opaque key: it is not percent-decoded. The key's fields determine how a tuple is
 * split: if exactly one field is free text, it gets the remaining text. So reads accept names with
 * commas, which writes reject (model/urn-check.ts).
 */

import { shortened } from "../lib/shortened.ts";
import { CatalogError } from "./errors.ts";

interface Urn {
  readonly namespace: string;
  readonly entityType: string;
  /** Everything after the third colon. */
  readonly id: string;
}

/** How a key field is read from a urn. */
export interface KeyPart {
  readonly name: string;
  readonly kind: "urn" | "enum" | "text";
}

export interface UrnLimits {
  readonly bytesMax: number;
  /** schemaField urns hold a whole dataset urn and a field path. */
  readonly schemaFieldBytesMax: number;
}

export const defaultUrnLimits: UrnLimits = { bytesMax: 512, schemaFieldBytesMax: 2048 };

/** The id of the first user, urn:li:corpuser:datahub. */
export const rootUserId = "datahub";

const SHAPE = /^urn:([A-Za-z0-9][A-Za-z0-9-]{0,31}):([A-Za-z][A-Za-z0-9_]*):(.+)$/s;
/** Control characters, and U+241F, which delimits browse paths. */
const FORBIDDEN = /[\u0000-\u001f\u007f\u241f]/;
/** A urn begins a text, or a part of another's id: "turn:left:at:x" is a name like any other. */
const NESTED = /(?<![^(,:])urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:(?=[A-Za-z][A-Za-z0-9_]*:)/g;

/** Hint for a lone surrogate. */
export const HALF =
  "A surrogate such as \\ud800 stands for a character only together with its other half";

/** Throws `malformed` with the urn and the reason. */
export function parseUrn(text: string, limits: UrnLimits = defaultUrnLimits): Urn {
  const match = SHAPE.exec(text);
  if (match === null || text !== text.trim()) {
    throw new CatalogError("malformed", `"${shortened(text)}" is not a urn`, {
      hint: "A urn looks like urn:li:corpuser:jdoe or urn:li:dataset:(urn:li:dataPlatform:hive,a.b,PROD)",
    });
  }
  if (!text.isWellFormed()) {
    throw new CatalogError(
      "malformed",
      `urn ${JSON.stringify(shortened(text))} contains an unpaired surrogate, which is invalid Unicode`,
      { hint: HALF },
    );
  }
  const bad = FORBIDDEN.exec(text);
  if (bad !== null) {
    const code = bad[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    throw new CatalogError("malformed", `urn "${shortened(text)}" holds the character U+${code}`, {
      hint: "Control characters and U+241F cannot be part of a urn",
    });
  }
  const [, namespace = "", entityType = "", id = ""] = match;
  const max = entityType === "schemaField" ? limits.schemaFieldBytesMax : limits.bytesMax;
  // Text of n UTF-16 units has at most 3n bytes: most urns need no counting.
  if (text.length * 3 > max) {
    const bytes = Buffer.byteLength(text);
    if (bytes > max) {
      throw new CatalogError(
        "malformed",
        `urn "${shortened(text)}" has ${bytes} bytes; at most ${max} are allowed`,
      );
    }
  }
  return { namespace, entityType, id };
}

/** False for a text that parseUrn rejects. */
export function isValidUrn(text: string): boolean {
  try {
    parseUrn(text);
    return true;
  } catch {
    return false;
  }
}

/** The text has the form of a urn; its entity type and length are not checked. */
export const isUrn = (text: string): boolean => SHAPE.test(text);

/** The entity type that a urn names. Nothing is checked: empty for a text that names none. */
export function entityTypeOf(urn: string): string {
  const start = urn.indexOf(":", urn.indexOf(":") + 1) + 1;
  if (start === 0) return "";
  const end = urn.indexOf(":", start);
  return end < 0 ? urn.slice(start) : urn.slice(start, end);
}

/** Replaces the namespace of every urn in the text, including nested ones. */
export function withNamespace(text: string, namespace: string): string {
  const prefix = `urn:${namespace}:`;
  let at = text.indexOf("urn:");
  while (at >= 0 && text.startsWith(prefix, at)) at = text.indexOf("urn:", at + prefix.length);
  if (at < 0) return text;
  return text.replace(NESTED, prefix);
}

/**
 * The same for a pattern of urns as LIKE has it (% and _), whose types may be cut short by those.
 */
export function patternWithNamespace(like: string, namespace: string): string {
  return like.replace(NESTED_IN_PATTERN, `urn:${namespace}:`);
}

const NESTED_IN_PATTERN =
  /(?<![^(,:%])urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:(?=[A-Za-z][A-Za-z0-9_]*[:%]|[%_]|$)/g;

/**
 * The parts of a urn's id, one per key field. Throws `malformed` when their number does not fit.
 *
 *   parts [platform urn, name text, origin enum], id (urn:li:dataPlatform:hive,a,b,PROD)
 *   → ["urn:li:dataPlatform:hive", "a,b", "PROD"]
 */
export function splitId(urn: string, id: string, parts: readonly KeyPart[]): readonly string[] {
  if (parts.length === 1) return [id];
  const tuple = id.startsWith("(") && id.endsWith(")") ? id.slice(1, -1) : undefined;
  const values = tuple === undefined ? undefined : splitTuple(tuple, parts);
  if (values === undefined) {
    const found = tuple === undefined ? 1 : splitAtCommas(tuple).length;
    throw wrongPartCount(urn, found, parts);
  }
  return values;
}

/** The `malformed` error of a urn whose number of key parts differs from the fields of its key. */
export function wrongPartCount(
  urn: string,
  found: number,
  parts: readonly KeyPart[],
): CatalogError {
  const names = parts.map(({ name }) => name).join(",");
  return new CatalogError(
    "malformed",
    `urn "${shortened(urn)}" has ${found} key part${found === 1 ? "" : "s"} where ${parts.length} are needed: (${names})`,
    { hint: found > parts.length ? "Write a comma inside a part as %2C" : undefined },
  );
}

/** Number of commas outside parentheses: 1 for a,f(b,c). */
export function commasOutside(text: string): number {
  if (!text.includes(",")) return 0;
  const perLevel = [0];
  for (const [c] of text.matchAll(/[(),]/g)) {
    if (c === "(") perLevel.push(0);
    else if (c === ",") perLevel.push((perLevel.pop() ?? 0) + 1);
    else if (perLevel.length > 1) perLevel.pop();
  }
  // A parenthesis that is never closed encloses nothing.
  return perLevel.reduce((sum, commas) => sum + commas, 0);
}

/** The first urn of an entity type that is a part of a urn's key: a column's dataset. */
export function nestedUrn(text: string, entityType: string): string | undefined {
  const id = text.slice(text.indexOf(":", text.indexOf(":", 4) + 1) + 1);
  let rest = id.startsWith("(") && id.endsWith(")") ? id.slice(1, -1) : id;
  for (;;) {
    const end = rest.startsWith("urn:") ? endOfUrn(rest) : endOfPart(rest);
    const part = end < 0 ? rest : rest.slice(0, end);
    const [urn, , type] = part.split(":", 3);
    if (urn === "urn" && type === entityType) return part;
    if (end < 0) return undefined;
    rest = rest.slice(end + 1);
  }
}

/** The id of a key's values: bare for one, a tuple for several. */
export const joinId = (values: readonly string[]): string =>
  values.length === 1 ? (values[0] ?? "") : `(${values.join(",")})`;

function splitTuple(tuple: string, parts: readonly KeyPart[]): readonly string[] | undefined {
  const free = parts.filter((part) => part.kind === "text").length;
  if (free !== 1) return splitSeveralTexts(tuple, parts);
  // One free text: take what stands before it from the left, what stands after it from the right.
  const at = parts.findIndex((part) => part.kind === "text");
  let rest = tuple;
  const before: string[] = [];
  for (let i = 0; i < at; i++) {
    const end = parts[i]?.kind === "urn" ? endOfUrn(rest) : endOfPart(rest);
    if (end < 0) return undefined;
    before.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  const after: string[] = [];
  for (let i = parts.length - 1; i > at; i--) {
    const comma = rest.lastIndexOf(",");
    if (comma < 0) return undefined;
    after.unshift(rest.slice(comma + 1));
    rest = rest.slice(0, comma);
  }
  return [...before, rest, ...after];
}

/**
 * Several free texts hold commas in parentheses only; where that leaves too few parts, parentheses
 * are characters like any other: (looker,a(b) has the parts looker and a(b.
 */
function splitSeveralTexts(
  tuple: string,
  parts: readonly KeyPart[],
): readonly string[] | undefined {
  const values = splitAtCommas(tuple);
  if (values.length === parts.length) return values;
  const plain = tuple.split(",");
  return plain.length === parts.length ? plain : undefined;
}

/** Index of the first comma outside parentheses; -1 if there is none. */
function endOfPart(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 40) depth++;
    else if (c === 41) depth--;
    else if (c === 44 && depth <= 0) return i;
  }
  return -1;
}

/**
 * Index of the comma after the urn that the text begins with; -1 if there is none. A urn whose id
 * is a tuple ends with its parenthesis, even if a name in it holds unpaired ones.
 */
function endOfUrn(text: string): number {
  if (!/^urn:[^:]*:[^:]*:\(/.test(text)) return endOfPart(text);
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 40) depth++;
    else if (c === 41) depth--;
    else if (c === 44 && depth <= 0 && text.charCodeAt(i - 1) === 41) return i;
  }
  const first = text.indexOf("),");
  return first >= 0 && first === text.lastIndexOf("),") ? first + 1 : -1;
}

function splitAtCommas(text: string): readonly string[] {
  const values: string[] = [];
  let rest = text;
  for (let end = endOfPart(rest); end >= 0; end = endOfPart(rest)) {
    values.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  values.push(rest);
  return values;
}
