/**
 * The indexed form of texts: well-formed, in the order of UTF-16 code units, and within the maximum
 * size of a term (32,766 bytes). A longer text is truncated and gets a digest of the whole text.
 * Equal texts stay equal and different ones stay different. Texts with the same first 8,000 units
 * are sorted, and compared with range bounds, by their digests.
 */
import { createHash } from "node:crypto";

/** Maximum length of a text that is not truncated, in UTF-16 units of up to four bytes. */
export const textUnitsMax = 8_000;

/** The term of a text; unique except for lone surrogates. */
export function storedText(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= textUnitsMax) return inUnitOrder(whole);
  return inUnitOrder(head(whole, textUnitsMax)) + digest(whole);
}

/** The text of a term; undefined for a truncated one, which is longer than all others. */
export function readStoredText(stored: string): string | undefined {
  const text = fromUnitOrder(stored);
  return text.length > textUnitsMax ? undefined : text;
}

/**
 * The index orders terms by UTF-8, in which supplementary characters come last. The port orders by
 * UTF-16 unit, in which U+E000 to U+FFFF come last. Rotating both ranges makes the orders agree.
 */
export const inUnitOrder = (text: string): string => shifted(text, WIDE_COUNT);
export const fromUnitOrder = (stored: string): string => shifted(stored, -WIDE_COUNT);

const WIDE = /[\ud800-\uffff]/;
const WIDE_FIRST = 0xe000;
/** Number of characters from U+E000 to U+FFFF; supplementary characters follow. */
const WIDE_COUNT = 0x2000;
const ALL_COUNT = WIDE_COUNT + 0x100000;

function shifted(text: string, by: number): string {
  if (!WIDE.test(text)) return text;
  let moved = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    moved +=
      code < WIDE_FIRST
        ? character
        : String.fromCodePoint(WIDE_FIRST + ((code - WIDE_FIRST - by + ALL_COUNT) % ALL_COUNT));
  }
  return moved;
}

/** The first units of a text; never splits a surrogate pair. */
export function head(text: string, units: number): string {
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? units - 1 : units);
}

/** A hash in capital letters from A to P, which no lower-case text contains. */
export const digest = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .replace(/[0-9a-f]/g, (digit) => String.fromCharCode(65 + Number.parseInt(digit, 16)));

/** Maximum length of an untruncated word; a token may have 255 units, escapes included. */
export const wordUnitsMax = 90;

/** The term of a word. A longer word is truncated like a text. */
export function storedWord(word: string): string {
  const whole = word.toWellFormed();
  if (whole.length > wordUnitsMax) return escaped(head(whole, wordUnitsMax)) + digest(whole);
  return whole === "" ? EMPTY_WORD : escaped(whole);
}

/** The prefix that the terms of all words with this prefix share. */
export const storedBeginning = (word: string): string =>
  escaped(head(word.toWellFormed(), wordUnitsMax));

const EMPTY_WORD = "\\";

/** Characters at which the `whitespace` tokenizer would split a word, and the escape character. */
const SPLITTING = /[\t-\r\u001c- \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000\\]/g;
/** Offset from an escaped character to the character that represents it. */
const ESCAPED_BY = 0x4000;

const escaped = (word: string): string =>
  word.replace(
    SPLITTING,
    (character) => `\\${String.fromCharCode(character.charCodeAt(0) + ESCAPED_BY)}`,
  );
