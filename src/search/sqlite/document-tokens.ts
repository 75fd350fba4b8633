/** Under which tokens the index has a document: what the writing side puts there. */
import type { DocumentText, SearchDocument } from "../search.ts";
import {
  type FieldNumber,
  gramTokens,
  type KindNumber,
  TYPE_FIELD,
  valueToken,
  wholeToken,
  wordTokens,
} from "./tokens.ts";

export interface TokenNumbers {
  fieldOf(name: string): FieldNumber;
  kindOf(boost: number, suggested: boolean): KindNumber;
}

/** All tokens of a document, with spaces between. */
export const createDocumentTokens =
  ({ fieldOf, kindOf }: TokenNumbers) =>
  ({ entityType, values, texts }: SearchDocument): string => {
    const tokens: string[] = [valueToken(TYPE_FIELD, entityType)];
    for (const [n, text] of texts.entries()) {
      if (isTold(texts, n)) continue;
      const { words, folded, boost, suggested } = text;
      const kind = kindOf(boost, suggested);
      // The whole is between the words of two texts: no phrase reaches from one into the other.
      tokens.push(wordTokens(kind, words), wholeToken(kind, folded));
      if (suggested) tokens.push(gramTokens(kind, words, folded));
    }
    for (const [name, some] of Object.entries(values)) {
      if (some.length === 0) continue;
      const field = fieldOf(name);
      const own = some.map((value) => valueToken(field, value));
      tokens.push(...(own.length === 1 ? own : new Set(own)));
    }
    return tokens.join(" ");
  };

/** Texts before it that one is compared with: a name and an id are often the same. */
const BEFORE_MAX = 8;

/** Whether a text before it has the same tokens. */
function isTold(texts: SearchDocument["texts"], n: number): boolean {
  const text = texts[n] as DocumentText;
  for (let before = Math.max(0, n - BEFORE_MAX); before < n; before++) {
    if (sameTokens(texts[before] as DocumentText, text)) return true;
  }
  return false;
}

const sameTokens = (one: DocumentText, other: DocumentText): boolean =>
  one.folded === other.folded &&
  one.boost === other.boost &&
  one.suggested === other.suggested &&
  one.words.length === other.words.length &&
  one.words.every((word, n) => word === other.words[n]);
