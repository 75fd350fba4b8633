/** A document as it lies in the file: what search.ts says, in fewer characters. */
import type { DocumentText, FieldValue, SearchDocument } from "../search.ts";

/** The words are one text; no word has a space. The folded value is null when it is the value. */
type StoredText = readonly [
  field: string,
  value: string,
  folded: string | null,
  words: string,
  boost: number,
  suggested: 0 | 1,
];

type Stored = readonly [
  entityType: string,
  values: Readonly<Record<string, readonly FieldValue[]>>,
  texts: readonly StoredText[],
];

export function encodeDocument({ entityType, values, texts }: SearchDocument): string {
  const stored: Stored = [
    entityType,
    values,
    texts.map(({ field, value, folded, words, boost, suggested }) => [
      field,
      value,
      folded === value ? null : folded,
      words.join(" "),
      boost,
      suggested ? 1 : 0,
    ]),
  ];
  return JSON.stringify(stored);
}

export function decodeDocument(urn: string, json: string): SearchDocument {
  const [entityType, values, texts] = JSON.parse(json) as Stored;
  return {
    urn,
    entityType,
    values,
    texts: texts.map(
      ([field, value, folded, words, boost, suggested]): DocumentText => ({
        field,
        value,
        folded: folded ?? value,
        words: words === "" ? [] : words.split(" "),
        boost,
        suggested: suggested === 1,
      }),
    ),
  };
}

/** The type and the values alone. */
export function decodeValues(json: string): {
  readonly entityType: string;
  readonly values: SearchDocument["values"];
} {
  const [entityType, values] = JSON.parse(json) as Stored;
  return { entityType, values };
}
