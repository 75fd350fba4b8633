/**
 * What words a text has: decided here for everything that is indexed and everything that is asked,
 * so that every store finds the same entities for the same words.
 */

/** The text without letter case and accents, for comparing whole values. */
export function foldText(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}

/** The words of a text in order: lower case, letters, digits and non-ASCII characters only. */
export function wordsOf(text: string): string[] {
  return foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}
