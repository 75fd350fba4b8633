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

/** JSON text. */
export function indexDocument(document: SearchDocument, at: Position): string {
  const { urn, values, texts } = document;
  const [shown, text, number, truth, order, part, asText] = Array.from(
    { length: 7 },
    () => ({}),
  ) as Lists[];
  const [words, whole]: Lists[] = [{}, {}];
  const several: string[] = [];
  const lists = { shown, text, number, truth, order, part, asText };

  for (const [name, some] of Object.entries(values)) {
    if (some.length === 0) continue;
    const field = encoded(name);
    for (const value of some) addValue(lists as Record<keyof typeof lists, Lists>, field, value);
    if (some.length > 1) several.push(field);
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
    several,
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

/** The term by which values are sorted, and texts are searched without letter case. */
export const storedOrder = (value: FieldValue): string => storedKey(sortKey(value));

/** Numbers sort before texts; the hexadecimal form of their bits sorts by value. */
export const storedKey = (key: SortKey): string =>
  typeof key === "string" ? `t${storedText(key)}` : `n${sortedBits(key)}`;

/** The inverse of `storedKey`; undefined for a text of which only the beginning is stored. */
export const readKey = (stored: string): SortKey | undefined =>
  stored.startsWith("t") ? readStoredText(stored.slice(1)) : readBits(stored.slice(1));

function readBits(text: string): number {
  const bits = BigInt(`0x${text}`);
  const negative = bits >> 63n === 0n;
  buffer.setBigUint64(0, BigInt.asUintN(64, negative ? ~bits : bits ^ (1n << 63n)));
  return buffer.getFloat64(0);
}

const buffer = new DataView(new ArrayBuffer(8));

/** Of a negative number all bits are turned over, of others the sign. */
function sortedBits(number: number): string {
  buffer.setFloat64(0, number === 0 ? 0 : number);
  const bits = buffer.getBigUint64(0);
  const negative = bits >> 63n === 1n;
  return BigInt.asUintN(64, negative ? ~bits : bits | (1n << 63n))
    .toString(16)
    .padStart(16, "0");
}

/** Maximum length of a searched substring, in UTF-16 units. */
export const withinUnitsMax = 300;
/** Ends the last piece; no lower-case text has it. */
export const PART_END = "Z";

/** Overlapping pieces of a text that is too long for a term: one of them contains each substring. */
function* partsOf(text: string): Generator<string> {
  const step = textUnitsMax - 2 * withinUnitsMax;
  for (let from = 0; from < text.length && text.length > textUnitsMax; from += step) {
    // A piece neither begins nor ends with half a character.
    const piece = head(text.slice(from === 0 ? 0 : head(text, from).length), textUnitsMax);
    const last = from + textUnitsMax >= text.length;
    yield inUnitOrder(piece) + (last ? PART_END : "");
    if (last) return;
  }
}
