/**
 * Names of the fields of an index. They contain the encoded names of the documents' fields, or boosts.
 * The prefix of a name selects the mapping of the field (search-shape.ts).
 *
 *   shown.<field>    values as texts, for facets and folders
 *   text.<field>     texts as they are; number.<field>, truth.<field> other values
 *   order.<field>    sort key: numbers and booleans, then texts in lower case; these are searched, too
 *   part.<field>     pieces of texts that are too long for a term, in lower case
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

/** Texts of one boost, suggested ("s") or not ("t"): letter, then the boost in 64ths. */
export type TextFieldKind = string;

export const kindOf = (boost: number, suggested: boolean): TextFieldKind =>
  `${suggested ? "s" : "t"}${boost * 64}`.replace(".", "_");

export const boostOf = (kind: TextFieldKind): number =>
  Number(kind.slice(1).replace("_", ".")) / 64;

export const isSuggested = (kind: TextFieldKind): boolean => kind.startsWith("s");

const NAME_MAX = 200;

/** Letters and digits as they are, other units as _hex_; a long name is its hash. */
export function encoded(field: string): string {
  const known = encodedNames.get(field);
  if (known !== undefined) return known;
  const text = field.replace(
    /[^A-Za-z0-9]/g,
    (unit) => `_${unit === "_" ? "" : unit.charCodeAt(0).toString(16)}_`,
  );
  const name =
    text.length > NAME_MAX
      ? `h_h_${createHash("sha256").update(JSON.stringify(field)).digest("hex")}`
      : `f${text}`;
  if (encodedNames.size >= NAMES_REMEMBERED_MAX) encodedNames.clear();
  encodedNames.set(field, name);
  return name;
}

const NAMES_REMEMBERED_MAX = 10_000;
const encodedNames = new Map<string, string>();
