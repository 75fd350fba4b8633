/**
 * Reading JSON text from outside. JSON.parse lets three things pass that must not: nesting that
 * exhausts the stack of whoever walks the value, members told twice (readers differ on which one
 * counts), and names that reach for prototypes. One pass over the text finds them before a value
 * is made; what else is wrong with the text is JSON.parse's to say.
 */
import { saidBy } from "./errors.ts";

/** Deepest nesting: no aspect of the model goes beyond a tenth of it. */
export const jsonDepthMax = 128;

export type JsonHazard =
  | { readonly kind: "too_deep"; readonly offset: number }
  | { readonly kind: "told_twice" | "prototype"; readonly member: string; readonly offset: number };

export type JsonRead =
  | { readonly ok: true; readonly value: unknown }
  /** `fault` is a sentence without its full stop that names what is wrong and where. */
  | { readonly ok: false; readonly fault: string };

/** Parses text that may hold anything. Never throws. */
export function readJson(text: string): JsonRead {
  const hazard = findHazard(text);
  if (hazard !== undefined) return { ok: false, fault: describe(hazard) };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, fault: saidBy(error) };
  }
}

function describe(hazard: JsonHazard): string {
  const at = `at position ${hazard.offset}`;
  if (hazard.kind === "too_deep") return `Nested deeper than ${jsonDepthMax} levels ${at}`;
  const member = JSON.stringify(hazard.member.slice(0, 100));
  return hazard.kind === "told_twice"
    ? `Member ${member} is told twice in one object ${at}`
    : `Member ${member} is not allowed ${at}`;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Objects of up to so many members are compared by hash; larger ones get a set of their names. */
const comparedMax = 16;

// What the pass knows of each level it is in. It never yields, so one set of tables serves all.
const inObject = new Uint8Array(jsonDepthMax + 1);
const ofConstructor = new Uint8Array(jsonDepthMax + 1);
const members = new Int32Array(jsonDepthMax + 1);
const hashes = new Int32Array((jsonDepthMax + 1) * comparedMax);
const starts = new Int32Array((jsonDepthMax + 1) * comparedMax);
const names: (Set<string> | undefined)[] = new Array(jsonDepthMax + 1).fill(undefined);

/** The first hazard of the text; undefined for text without one, be it JSON or not. */
export function findHazard(text: string): JsonHazard | undefined {
  const length = text.length;
  let depth = 0;
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
      expectsName = inObject[depth] === 1;
      afterConstructor = false;
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (depth === jsonDepthMax) return { kind: "too_deep", offset: i };
      depth++;
      const object = c === OPEN_OBJECT;
      inObject[depth] = object ? 1 : 0;
      ofConstructor[depth] = object && afterConstructor ? 1 : 0;
      members[depth] = 0;
      names[depth] = undefined;
      expectsName = object;
      afterConstructor = false;
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      if (depth > 0) depth--;
      expectsName = false;
      afterConstructor = false;
    }
  }
  return undefined;
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

/** What is wrong with the name whose text starts there, in the object at this depth. */
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
  if (toldBefore(text, depth, start, hash)) {
    return { kind: "told_twice", member: nameAt(text, start), offset };
  }
  return undefined;
}

/** Whether the object at this depth has a member of that name; if not, it has now. */
function toldBefore(text: string, depth: number, start: number, hash: number): boolean {
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
    // No JSON string: JSON.parse of the whole text will say so.
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
