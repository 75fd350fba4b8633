/**
 * Reads untrusted JSON text. Rejects four hazards that JSON.parse accepts: nesting that overflows
 * the stack of recursive functions, so many members that they exhaust the memory, duplicate members
 * (parsers differ on which one counts), and names that reach prototypes. One pass over the text
 * finds them before JSON.parse allocates a value. JSON.parse reports all other errors.
 */
import { messageOf } from "./errors.ts";

/** Upper bound of all depth limits; aspects of the model need a tenth of it. */
export const jsonDepthMax = 128;

export interface JsonLimits {
  /** Levels of objects and lists; at most jsonDepthMax. */
  readonly depthMax: number;
  /** Members of all objects and lists of the text together. */
  readonly membersMax: number;
}

/** The default limits. A parsed member takes up to a hundred bytes. */
export const jsonLimits: JsonLimits = { depthMax: jsonDepthMax, membersMax: 1_000_000 };

type JsonHazard =
  | { readonly kind: "too_deep" | "too_many"; readonly offset: number }
  | { readonly kind: "duplicate" | "prototype"; readonly member: string; readonly offset: number };

type JsonRead =
  | { readonly ok: true; readonly value: unknown }
  /** `fault` is a sentence without its full stop: the error and its position. */
  | { readonly ok: false; readonly code: "malformed" | "too_large"; readonly fault: string };

/** Parses any text. Never throws. */
export function readJson(text: string, limits: JsonLimits = jsonLimits): JsonRead {
  const hazard = findHazard(text, limits);
  if (hazard !== undefined) {
    const code = hazard.kind === "too_many" ? "too_large" : "malformed";
    return { ok: false, code, fault: describe(hazard, limits) };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, code: "malformed", fault: messageOf(error) };
  }
}

function describe(hazard: JsonHazard, { depthMax, membersMax }: JsonLimits): string {
  const at = `at position ${hazard.offset}`;
  switch (hazard.kind) {
    case "too_deep":
      return `Nested deeper than ${depthMax} levels ${at}`;
    case "too_many":
      return `Its objects and lists have more than ${membersMax} members, the first excess one ${at}`;
  }
  const member = JSON.stringify(hazard.member.slice(0, 100));
  return hazard.kind === "duplicate"
    ? `Member ${member} appears twice in one object ${at}`
    : `Member ${member} is not allowed ${at}`;
}

const BLANK = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Larger objects get a set of their names; in smaller ones, names are compared by hash. */
const comparedMax = 16;

// State of the pass for each level of nesting. It is synchronous, so that all calls share the tables.
const inObject = new Uint8Array(jsonDepthMax + 1);
const ofConstructor = new Uint8Array(jsonDepthMax + 1);
const members = new Int32Array(jsonDepthMax + 1);
const hashes = new Int32Array((jsonDepthMax + 1) * comparedMax);
const starts = new Int32Array((jsonDepthMax + 1) * comparedMax);
const names: (Set<string> | undefined)[] = new Array(jsonDepthMax + 1).fill(undefined);

/** The first hazard of the text; undefined for text without one, whether it is JSON or not. */
export function findHazard(
  text: string,
  { depthMax, membersMax }: JsonLimits = jsonLimits,
): JsonHazard | undefined {
  const length = text.length;
  let depth = 0;
  // Counts a member at the comma after it, and the last member at the closing bracket.
  let count = 0;
  let expectsName = false;
  let afterConstructor = false;
  inObject[0] = 0;

  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const start = i + 1;
      if (!expectsName) {
        i = endOfString(text, start);
        continue;
      }
      let hash = 0;
      let escaped = false;
      for (i = start; i < length; i++) {
        const d = text.charCodeAt(i);
        if (d === QUOTE) break;
        if (d === BACKSLASH) {
          escaped = true;
          i++;
        }
        hash = (Math.imul(hash, 31) + d) | 0;
      }
      expectsName = false;
      if (escaped) hash = hashOf(nameAt(text, start));
      const hazard = hazardOfName(text, depth, start, hash);
      if (hazard !== undefined) return hazard;
      afterConstructor = hash === CONSTRUCTOR && nameAt(text, start) === "constructor";
    } else if (c === COMMA) {
      if (++count > membersMax) return { kind: "too_many", offset: i };
      expectsName = inObject[depth] === 1;
      afterConstructor = false;
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (depth === depthMax) return { kind: "too_deep", offset: i };
      depth++;
      const object = c === OPEN_OBJECT;
      inObject[depth] = object ? 1 : 0;
      ofConstructor[depth] = object && afterConstructor ? 1 : 0;
      members[depth] = 0;
      names[depth] = undefined;
      expectsName = object;
      afterConstructor = false;
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      if (!isEmptyBefore(text, i) && ++count > membersMax) return { kind: "too_many", offset: i };
      if (depth > 0) depth--;
      expectsName = false;
      afterConstructor = false;
    }
  }
  return undefined;
}

/** True if only blanks separate the closing bracket from its opening bracket. */
function isEmptyBefore(text: string, close: number): boolean {
  let i = close - 1;
  while (i >= 0 && text.charCodeAt(i) <= BLANK) i--;
  const c = text.charCodeAt(i);
  return c === OPEN_OBJECT || c === OPEN_ARRAY;
}

/** Index of the quote that ends the string; the text's length if none does. */
function endOfString(text: string, start: number): number {
  const length = text.length;
  let i = start;
  for (; i < length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) break;
    if (c === BACKSLASH) i++;
  }
  return i;
}

/** Checks the name that starts there, in the object at this depth. */
function hazardOfName(
  text: string,
  depth: number,
  start: number,
  hash: number,
): JsonHazard | undefined {
  const offset = start - 1;
  if (hash === PROTO && nameAt(text, start) === "__proto__") {
    return { kind: "prototype", member: "__proto__", offset };
  }
  if (hash === PROTOTYPE && ofConstructor[depth] === 1 && nameAt(text, start) === "prototype") {
    return { kind: "prototype", member: "constructor.prototype", offset };
  }
  if (isDuplicate(text, depth, start, hash)) {
    return { kind: "duplicate", member: nameAt(text, start), offset };
  }
  return undefined;
}

/** The object at this depth has a member of that name already; if not, adds the name. */
function isDuplicate(text: string, depth: number, start: number, hash: number): boolean {
  const count = members[depth] ?? 0;
  const base = depth * comparedMax;
  if (count < comparedMax) {
    for (let i = base; i < base + count; i++) {
      if (hashes[i] === hash && nameAt(text, starts[i] ?? 0) === nameAt(text, start)) return true;
    }
    hashes[base + count] = hash;
    starts[base + count] = start;
    members[depth] = count + 1;
    return false;
  }
  let set = names[depth];
  if (set === undefined) {
    set = new Set();
    for (let i = base; i < base + count; i++) set.add(nameAt(text, starts[i] ?? 0));
    names[depth] = set;
  }
  const name = nameAt(text, start);
  if (set.has(name)) return true;
  set.add(name);
  return false;
}

/** The name whose text starts there, its escapes resolved. */
function nameAt(text: string, start: number): string {
  const raw = text.slice(start, endOfString(text, start));
  if (!raw.includes("\\")) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    // Not a JSON string: JSON.parse of the whole text reports the error.
    return raw;
  }
}

function hashOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
  return hash;
}

const PROTO = hashOf("__proto__");
const PROTOTYPE = hashOf("prototype");
const CONSTRUCTOR = hashOf("constructor");
