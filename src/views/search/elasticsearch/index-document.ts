/** Builds the indexed form of a document: its stored text and its terms. */
import type { Position } from "../../../core/position.ts";
import { ownValue } from "../../../lib/own-value.ts";
import type { FieldValue, SearchDocument } from "../search.ts";
import { type SortKey, sortKey } from "../sort-key.ts";
import { encodeDocument } from "../stored-document.ts";
import { AS_TEXT, encoded, kindOf, type TextFieldKind } from "./fields.ts";
import {
  head,
  inUnitOrder,
  readStoredText,
  storedText,
  storedWord,
  textUnitsMax,
} from "./stored-text.ts";

type Lists = Record<string, FieldValue[]>;

/** Returns JSON text. */
export function indexDocument(document: SearchDocument, at: Position): string {
  const { urn, values, texts } = document;
  const [shown, text, number, truth, order, part, asText] = Array.from(
    { length: 7 },
    () => ({}),
  ) as Lists[];
  const [words, whole]: Lists[] = [{}, {}];
  const multiValued: string[] = [];
  const lists = { shown, text, number, truth, order, part, asText };

  for (const [name, fieldValues] of Object.entries(values)) {
    if (fieldValues.length === 0) continue;
    const field = encoded(name);
    for (const value of fieldValues)
      addValue(lists as Record<keyof typeof lists, Lists>, field, value);
    if (fieldValues.length > 1) multiValued.push(field);
  }
  for (const one of texts) {
    const kind = kindOf(one.boost, one.suggested);
    add(whole as Lists, kind, storedText(one.folded));
    if (one.words.length > 0) add(words as Lists, kind, one.words.map(storedWord).join(" "));
  }
  return JSON.stringify({
    at,
    document: encodeDocument(document),
    urn: inUnitOrder(urn.toWellFormed()),
    several: multiValued,
    ...{ shown, text, number, truth, order, part, [AS_TEXT]: asText },
    words,
    whole,
  });
}

export const kindsOf = ({ texts }: SearchDocument): readonly TextFieldKind[] =>
  texts.map(({ boost, suggested }) => kindOf(boost, suggested));

function addValue(
  {
    shown,
    text,
    number,
    truth,
    order,
    part,
    asText,
  }: Readonly<Record<"shown" | "text" | "number" | "truth" | "order" | "part" | "asText", Lists>>,
  field: string,
  value: FieldValue,
): void {
  add(order, field, storedOrder(value));
  if (typeof value === "string") {
    const stored = storedText(value);
    add(shown, field, stored);
    add(text, field, stored);
    for (const one of partsOf(value.toWellFormed().toLowerCase())) add(part, field, one);
    return;
  }
  add(shown, field, String(value));
  add(asText, field, String(value));
  add(typeof value === "number" ? number : truth, field, value);
}

function add(lists: Lists, name: string, value: FieldValue): void {
  const list = ownValue(lists, name);
  if (list === undefined) lists[name] = [value];
  else list.push(value);
}

/** The term for sorting, and for case-insensitive searches. */
export const storedOrder = (value: FieldValue): string => storedKey(sortKey(value));

/** Numbers sort before texts; the hexadecimal form of their bits sorts by value. */
export const storedKey = (key: SortKey): string =>
  typeof key === "string" ? `t${storedText(key)}` : `n${sortedBits(key)}`;

/** The inverse of `storedKey`; undefined for a truncated text. */
export const readKey = (stored: string): SortKey | undefined =>
  stored.startsWith("t") ? readStoredText(stored.slice(1)) : readBits(stored.slice(1));

function readBits(text: string): number {
  const bits = BigInt(`0x${text}`);
  const negative = bits >> 63n === 0n;
  buffer.setBigUint64(0, BigInt.asUintN(64, negative ? ~bits : bits ^ (1n << 63n)));
  return buffer.getFloat64(0);
}

const buffer = new DataView(new ArrayBuffer(8));

/** The IEEE 754 bits in sortable form: flips all bits of a negative number, else the sign bit. */
function sortedBits(number: number): string {
  buffer.setFloat64(0, number === 0 ? 0 : number);
  const bits = buffer.getBigUint64(0);
  const negative = bits >> 63n === 1n;
  return BigInt.asUintN(64, negative ? ~bits : bits | (1n << 63n))
    .toString(16)
    .padStart(16, "0");
}

/** Maximum length of a searched substring, in UTF-16 units. */
export const substringUnitsMax = 300;
/** Marks the end of the last piece; no lower-case text contains it. */
export const PART_END = "Z";

/**
 * Overlapping pieces of a text that is too long for a term. Each substring of up to
 * `substringUnitsMax` units is in one of them.
 */
function* partsOf(text: string): Generator<string> {
  const step = textUnitsMax - 2 * substringUnitsMax;
  for (let from = 0; from < text.length && text.length > textUnitsMax; from += step) {
    // A piece never splits a surrogate pair.
    const piece = head(text.slice(from === 0 ? 0 : head(text, from).length), textUnitsMax);
    const last = from + textUnitsMax >= text.length;
    yield inUnitOrder(piece) + (last ? PART_END : "");
    if (last) return;
  }
}
