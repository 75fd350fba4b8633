/**
 * Names of the index fields. A name is a prefix and the encoded name of a document's field, or a
 * kind of text. The prefix selects the mapping (search-shape.ts).
 *
 *   shown.<field>    values as texts, for facets and folders
 *   text.<field>     unchanged texts; number.<field> and truth.<field>: numbers and booleans
 *   order.<field>    sort keys: numbers and booleans, then lower-case texts; `like` reads them, too
 *   part.<field>     overlapping pieces of texts that are too long for a term, in lower case
 *   <AS_TEXT>.<field> numbers and booleans as texts
 *   words.<kind>     words of the texts of one boost, suggested or not; whole.<kind> folded texts
 */
import { createHash } from "node:crypto";

export const fieldNames = {
  shown: (field: string) => `shown.${encoded(field)}`,
  text: (field: string) => `text.${encoded(field)}`,
  number: (field: string) => `number.${encoded(field)}`,
  truth: (field: string) => `truth.${encoded(field)}`,
  order: (field: string) => `order.${encoded(field)}`,
  part: (field: string) => `part.${encoded(field)}`,
  asText: (field: string) => `${AS_TEXT}.${encoded(field)}`,
  words: (kind: TextFieldKind) => `words.${kind}`,
  whole: (kind: TextFieldKind) => `whole.${kind}`,
} as const;

/** Prefix of fields with numbers and booleans as texts. A stored name. */
export const AS_TEXT = "told";

/** Texts with one boost: "s" if they are suggested, else "t"; then the boost in 64ths. */
export type TextFieldKind = string;

export const kindOf = (boost: number, suggested: boolean): TextFieldKind =>
  `${suggested ? "s" : "t"}${boost * 64}`.replace(".", "_");

export const boostOf = (kind: TextFieldKind): number =>
  Number(kind.slice(1).replace("_", ".")) / 64;

export const isSuggested = (kind: TextFieldKind): boolean => kind.startsWith("s");

const NAME_MAX = 200;

/** Keeps letters and digits, encodes other UTF-16 units as _hex_; hashes long names. */
export function encoded(field: string): string {
  const cached = encodedNames.get(field);
  if (cached !== undefined) return cached;
  const text = field.replace(
    /[^A-Za-z0-9]/g,
    (unit) => `_${unit === "_" ? "" : unit.charCodeAt(0).toString(16)}_`,
  );
  const name =
    text.length > NAME_MAX
      ? `h_h_${createHash("sha256").update(JSON.stringify(field)).digest("hex")}`
      : `f${text}`;
  if (encodedNames.size >= CACHED_NAMES_MAX) encodedNames.clear();
  encodedNames.set(field, name);
  return name;
}

const CACHED_NAMES_MAX = 10_000;
const encodedNames = new Map<string, string>();
