/**
 * Query parameters in every notation that clients send, regardless of the protocol version:
 * `a=x`, `a=x&a=y`, `a[0]=x`, `a=List(x,y)` with elements encoded or raw, or encoded as a whole.
 *
 * DataHub reads `List(x)` as a list only with protocol 2.0.0. No name in the catalog has the form
 * `List(…)`, so it always is a list here; an unclosed one is rejected.
 */
import { CatalogError } from "../../core/errors.ts";
import { decodeOnce } from "./percent.ts";

export interface Query {
  readonly names: readonly string[];
  /** The parameter's one value. Throws `malformed` when it is given with different values. */
  one(name: string): string | undefined;
  /** All its values; undefined when it is absent. Throws `malformed` when a `List(` is not closed. */
  list(name: string): readonly string[] | undefined;
}

const NONE: Query = { names: [], one: () => undefined, list: () => undefined };
const OPENING = "List(";
const INDEXED = /\[\d*\]$/;

/** Throws `malformed` when a name is not UTF-8; a value is decoded when it is asked for. */
export function parseQuery(raw: string, plusIsBlank: boolean): Query {
  if (raw === "") return NONE;
  const names: string[] = [];
  const values: string[] = [];
  for (const pair of raw.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decodeOnce(equals < 0 ? pair : pair.slice(0, equals), plusIsBlank);
    names.push(name.endsWith("]") ? name.replace(INDEXED, "") : name);
    values.push(equals < 0 ? "" : pair.slice(equals + 1));
  }
  const decode = (value: string): string => decodeOnce(value, plusIsBlank);
  return {
    names,
    one(name) {
      const at = names.indexOf(name);
      if (at < 0) return undefined;
      const given = values.filter((_, i) => names[i] === name).map(decode);
      const [value = ""] = given;
      if (given.some((other) => other !== value)) {
        throw new CatalogError("malformed", `parameter "${name}" is given ${given.length} times`, {
          hint: "Give it once",
        });
      }
      return unquote(value);
    },
    list(name) {
      const at = names.indexOf(name);
      if (at < 0) return undefined;
      if (!names.includes(name, at + 1)) return elements(name, values[at] ?? "", decode);
      return values.flatMap((value, i) => (names[i] === name ? elements(name, value, decode) : []));
    },
  };
}

/**
 * A list as text is split before it is decoded, so that an encoded comma is part of an element.
 *
 *   List(urn:li:tag:a,urn:li:chart:(looker,b),x%2Cy) → [urn:li:tag:a, urn:li:chart:(looker,b), x,y]
 */
function elements(name: string, value: string, decode: (raw: string) => string): readonly string[] {
  const raw = listIn(value);
  if (raw !== undefined) return split(raw).map((element) => unquote(decode(element)));
  // Encoded as a whole (`List%28a%2Cb%29`), as form encoders do: its elements are decoded with it.
  const decoded = decode(value);
  const inner = listIn(decoded);
  if (inner === undefined && decoded.startsWith(OPENING)) {
    throw new CatalogError(
      "malformed",
      `the list of parameter "${name}" is not closed: "${decoded.slice(0, 120)}"`,
      { hint: "A list ends with a bracket: List(a,b)" },
    );
  }
  return inner === undefined ? [unquote(decoded)] : split(inner).map(unquote);
}

const listIn = (text: string): string | undefined =>
  text.startsWith(OPENING) && text.endsWith(")") ? text.slice(OPENING.length, -1) : undefined;

/** Splits at commas outside parentheses; no text is no element. */
function split(text: string): readonly string[] {
  if (text === "") return [];
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x28) depth++;
    else if (c === 0x29 && depth > 0) depth--;
    else if (c === 0x2c && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Protocol 2.0.0 writes empty text as two quotes. */
const unquote = (text: string): string => (text === "''" ? "" : text);
