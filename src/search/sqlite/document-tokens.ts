/** Under which tokens the index has a document: what the writing side puts there. */
import type { SearchDocument } from "../search.ts";
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
    for (const { words, folded, boost, suggested } of texts) {
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
