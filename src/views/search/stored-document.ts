/**
 * A document as stores keep it: what search.ts says, in fewer characters. A text is mostly a
 * value that is there already, its folded form that value in lower case, and of a description the
 * words are the text.
 */
import { CatalogError } from "../../core/errors.ts";
import { ownCommand } from "../../lib/command-hint.ts";
import { fieldValues } from "./evaluate.ts";
import type { DocumentText, FieldValue, SearchDocument } from "./search.ts";

type StoredText = readonly [
  field: string,
  /** Or its place among the field's values. */
  value: string | number,
  /** Or how it follows from the value. */
  folded: string | typeof SAME | typeof LOWER_CASE,
  /** With spaces between, which no word has; or how they follow from the folded form. */
  words: string | typeof SAME,
  boost: number,
  suggested: 0 | 1,
];

const SAME = 0;
const LOWER_CASE = 1;

type Stored = readonly [
  entityType: string,
  values: Readonly<Record<string, readonly FieldValue[]>>,
  texts: readonly StoredText[],
];

export function encodeDocument({ entityType, values, texts }: SearchDocument): string {
  const indexOf = createIndexes(values);
  return JSON.stringify([
    entityType,
    values,
    texts.map((text) => encodeText(text, indexOf)),
  ] satisfies Stored);
}

/** The index of a value in the list of its field, or -1. */
type IndexOf = (field: string, value: string) => number;

/** Lists up to this length are scanned; longer ones get a map. */
const scannedMax = 16;

function createIndexes(values: SearchDocument["values"]): IndexOf {
  const maps = new Map<string, ReadonlyMap<FieldValue, number>>();
  return (field, value) => {
    const list = fieldValues(values, field);
    if (list.length <= scannedMax) return list.indexOf(value);
    let map = maps.get(field);
    if (map === undefined) {
      map = new Map(list.map((one, index) => [one, index]));
      maps.set(field, map);
    }
    return map.get(value) ?? -1;
  };
}

function encodeText(
  { field, value, folded, words, boost, suggested }: DocumentText,
  indexOf: IndexOf,
): StoredText {
  const place = indexOf(field, value);
  const listed = words.join(" ");
  return [
    field,
    place < 0 ? value : place,
    folded === value ? SAME : folded === value.toLowerCase() ? LOWER_CASE : folded,
    listed === folded ? SAME : listed,
    boost,
    suggested ? 1 : 0,
  ];
}

/** Throws `unavailable` when it is damaged: stores do not see that in a text. */
export function decodeDocument(urn: string, json: string): SearchDocument {
  return readStored(json, ([entityType, values, texts]) => {
    return { urn, entityType, values, texts: texts.map((text) => decodeText(text, values)) };
  });
}

/**
 * The same, decoded lazily: most hits of a large page need only the urn. The decoded form is held
 * weakly, because that of a wide table takes megabytes. `json`: "" if only the urn was read.
 */
export function decodeLater(urn: string, json: string): SearchDocument {
  if (json === "") return { urn, entityType: "", values: {}, texts: [] };
  let decoded: WeakRef<SearchDocument> | undefined;
  const whole = (): SearchDocument => {
    const known = decoded?.deref();
    if (known !== undefined) return known;
    const document = decodeDocument(urn, json);
    decoded = new WeakRef(document);
    return document;
  };
  return {
    urn,
    get entityType() {
      return whole().entityType;
    },
    get values() {
      return whole().values;
    },
    get texts() {
      return whole().texts;
    },
  };
}

function readStored<T>(json: string, read: (stored: Stored) => T): T {
  try {
    return read(JSON.parse(json) as Stored);
  } catch (cause) {
    throw new CatalogError("unavailable", 'the view "search" has a document that is damaged', {
      hint: `Run: ${ownCommand("rebuild search")}`,
      cause,
    });
  }
}

function decodeText(
  [field, place, fold, listed, boost, suggested]: StoredText,
  values: SearchDocument["values"],
): DocumentText {
  const value = typeof place === "string" ? place : String(fieldValues(values, field)[place]);
  const folded = fold === SAME ? value : fold === LOWER_CASE ? value.toLowerCase() : fold;
  const words = listed === SAME ? folded : listed;
  return {
    field,
    value,
    folded,
    words: words === "" ? [] : words.split(" "),
    boost,
    suggested: suggested === 1,
  };
}
