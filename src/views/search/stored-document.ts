/**
 * The compact JSON of a document in the stores. It omits what follows from other members: most
 * texts are also values, most folded forms are the text in lower case, and the words of many texts
 * are its folded form.
 */
import { CatalogError } from "../../core/errors.ts";
import { ownCommand } from "../../lib/command-hint.ts";
import { fieldValues } from "./evaluate.ts";
import type { DocumentText, FieldValue, SearchDocument } from "./search.ts";

type StoredText = readonly [
  field: string,
  /** The text, or its index in the values of the field. */
  value: string | number,
  /** The folded text, or its derivation from the value. */
  folded: string | typeof SAME | typeof LOWER_CASE,
  /** The words, separated by spaces, or their derivation from the folded text. */
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

/** Longer lists get a map. */
const LINEAR_SCAN_MAX = 16;

function createIndexes(values: SearchDocument["values"]): IndexOf {
  const maps = new Map<string, ReadonlyMap<FieldValue, number>>();
  return (field, value) => {
    const list = fieldValues(values, field);
    if (list.length <= LINEAR_SCAN_MAX) return list.indexOf(value);
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

/** Throws `unavailable` for a damaged document: stores do not validate the JSON. */
export function decodeDocument(urn: string, json: string): SearchDocument {
  return readStored(json, ([entityType, values, texts]) => {
    return { urn, entityType, values, texts: texts.map((text) => decodeText(text, values)) };
  });
}

/**
 * Decodes the document at the first access: most callers need only the urns of a large page. A weak
 * reference holds the decoded document, which takes megabytes for a wide table. `json`: "" if only
 * the urn was read.
 */
export function decodeLazily(urn: string, json: string): SearchDocument {
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
