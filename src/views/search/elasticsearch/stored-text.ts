/**
 * The stored form of texts, which the index compares as the port does: well-formed, in the order of
 * their UTF-16 code units, and of a length that a term may have (32,766 bytes). A longer text is its
 * beginning and a digest of all of it: equal texts stay equal and others differ; in an order and
 * between the ends of a range, texts with the same first 8,000 units are ordered by their digests.
 */
import { createHash } from "node:crypto";

/** UTF-16 units of a text that are stored unchanged; each may take four bytes. */
export const textUnitsMax = 8_000;

/** A text as a term; one to one, but for half characters. */
export function storedText(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= textUnitsMax) return inUnitOrder(whole);
  return inUnitOrder(head(whole, textUnitsMax)) + digest(whole);
}

/** The text of a term; undefined for one that has only the beginning: it is longer than others. */
export function readStoredText(stored: string): string | undefined {
  const text = fromUnitOrder(stored);
  return text.length > textUnitsMax ? undefined : text;
}

/**
 * The index orders terms by UTF-8, which puts characters of two UTF-16 units last; the port orders
 * by UTF-16 units, which puts U+E000 to U+FFFF last. Rotating both ranges makes the orders agree.
 */
export const inUnitOrder = (text: string): string => shifted(text, WIDE_COUNT);
export const fromUnitOrder = (stored: string): string => shifted(stored, -WIDE_COUNT);

const WIDE = /[\ud800-\uffff]/;
const WIDE_FIRST = 0xe000;
/** Characters from U+E000 to U+FFFF; behind them are all of two units. */
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

/** The first units, without half a character at their end. */
export function head(text: string, units: number): string {
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? units - 1 : units);
}

/** In capital letters from A to P, which no lower-case text has. */
export const digest = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .replace(/[0-9a-f]/g, (digit) => String.fromCharCode(65 + Number.parseInt(digit, 16)));

/** UTF-16 units that are kept of a word as they are: a term of words may have 255, escapes included. */
export const wordUnitsMax = 90;

/** A word as a term. Longer ones are cut as texts are. */
export function storedWord(word: string): string {
  const whole = word.toWellFormed();
  if (whole.length > wordUnitsMax) return escaped(head(whole, wordUnitsMax)) + digest(whole);
  return whole === "" ? EMPTY_WORD : escaped(whole);
}

/** The common prefix of the terms of all words with this prefix. */
export const storedBeginning = (word: string): string =>
  escaped(head(word.toWellFormed(), wordUnitsMax));

const EMPTY_WORD = "\\";

/** Characters at which the index would split a word, and the character that escapes them. */
const SPLITTING = /[\t-\r\u001c- \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000\\]/g;
/** To characters that split nothing. */
const ESCAPED_BY = 0x4000;

const escaped = (word: string): string =>
  word.replace(
    SPLITTING,
    (character) => `\\${String.fromCharCode(character.charCodeAt(0) + ESCAPED_BY)}`,
  );
