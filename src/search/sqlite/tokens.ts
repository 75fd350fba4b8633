/**
 * What the index holds, as tokens of FTS5: the words of texts, their whole values, the beginnings
 * of suggested words, and the values of fields. Each begins with a mark that says which it is, so
 * that tokens of different kinds never meet; no column is needed to tell them apart.
 *
 * FTS5 splits at characters that the tokenizer does not know and lowers ASCII letters: what would
 * be hit by that is written as an escape, character by character, so that what begins alike still
 * does. A quoted token can hold nothing that MATCH would read as anything else.
 */
import type { FieldValue } from "../search.ts";

/** ASCII characters of tokens beside letters and digits, in the tokenizer's own quotes. */
export const tokenizer = `"ascii tokenchars '!#$%&()*+,-./:;<=>?@[]^_\`{|}~'"`;

/** A kind of texts: those with the same boost that are suggested, or are not. */
export type KindNumber = number;
export type FieldNumber = number;

/** The field number under which every document has its entity type. */
export const TYPE_FIELD: FieldNumber = 0;

/** Longer words and values are indexed by what they begin with; who asks for one has to compare. */
export const wordUnitsMax = 1_000;
export const wholeUnitsMax = 200;
/** Longer values of fields are indexed by a fingerprint: no token tells what they are. */
const valueUnitsMax = 160;
/** Beginnings of suggested texts that have tokens of their own: as much as is typed at first. */
export const gramUnitsMax = 3;

const MARKS_PER_KIND = 4;
const FIRST_MARK = 0x100;

const markOf = (kind: KindNumber, form: 0 | 1 | 2 | 3): string =>
  String.fromCharCode(FIRST_MARK + kind * MARKS_PER_KIND + form);

export const wordToken = (kind: KindNumber, word: string): string =>
  markOf(kind, 0) + escaped(cut(word, wordUnitsMax));

/** The kind of a text's token; undefined for the token of a value. */
export function kindOfToken(token: string): KindNumber | undefined {
  const mark = token.charCodeAt(0) - FIRST_MARK;
  return mark < 0 ? undefined : Math.floor(mark / MARKS_PER_KIND);
}

/** The first token that a text of the kind may have. */
export const firstOfKind = (kind: KindNumber): string => markOf(kind, 0);

/** The field of a value's token. */
export const fieldOfToken = (token: string): FieldNumber =>
  Number.parseInt(token.slice(1, token.indexOf("=")), 36);

/** The tokens of words one after the other; none for none. */
export function wordTokens(kind: KindNumber, words: readonly string[]): string {
  if (words.length === 0) return "";
  const mark = markOf(kind, 0);
  const joined = words.join(` ${mark}`);
  // Almost all words are as they have to be: one look at them together tells.
  return joined.length < wordUnitsMax && !unknownAmongWords.test(joined)
    ? mark + joined
    : words.map((word) => wordToken(kind, word)).join(" ");
}

export const wholeToken = (kind: KindNumber, folded: string): string =>
  markOf(kind, 1) + escaped(cut(folded, wholeUnitsMax));

/** What a whole value begins with, if it is no longer than a gram. */
export const wholeGramToken = (kind: KindNumber, beginning: string): string =>
  markOf(kind, 3) + escaped(beginning);

export const gramToken = (kind: KindNumber, beginning: string): string =>
  markOf(kind, 2) + escaped(beginning);

/** The tokens of the first characters of words, and of the whole value. */
export function gramTokens(kind: KindNumber, words: readonly string[], folded: string): string {
  const beginnings = new Set<string>();
  for (const word of words) addGrams(word, beginnings);
  const ofWhole = new Set<string>();
  addGrams(folded, ofWhole);
  let tokens = "";
  for (const beginning of beginnings) tokens += `${gramToken(kind, beginning)} `;
  for (const beginning of ofWhole) tokens += `${wholeGramToken(kind, beginning)} `;
  return tokens.slice(0, -1);
}

/** None that would cut a character in two. */
function addGrams(text: string, grams: Set<string>): void {
  const whole = text.slice(0, gramUnitsMax + 1).toWellFormed();
  for (let length = 1; length <= gramUnitsMax && length <= whole.length; length++) {
    if (!isFirstHalf(whole.charCodeAt(length - 1))) grams.add(whole.slice(0, length));
  }
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** `:c=` and the value: `s` a text, `l` a long one, `n` a number, `b` a boolean. */
export function valueToken(field: FieldNumber, value: FieldValue): string {
  const mark = `:${field.toString(36)}=`;
  if (typeof value === "number") return `${mark}n${escaped(String(value))}`;
  if (typeof value === "boolean") return value ? `${mark}b1` : `${mark}b0`;
  if (value.length <= valueUnitsMax) return `${mark}s${escaped(value.toWellFormed())}`;
  return `${mark}l${fingerprint(value.toWellFormed())}`;
}

/** Where the tokens of a field lie in the order of all: from the first, and before the second. */
export const valueRange = (field: FieldNumber): readonly [from: string, before: string] => [
  `:${field.toString(36)}=`,
  `:${field.toString(36)}>`,
];

/** Undefined for a long text, of which the token does not tell all. */
export function valueOfToken(token: string): FieldValue | undefined {
  const at = token.indexOf("=") + 1;
  const text = token.slice(at + 1);
  switch (token[at]) {
    case "s":
      return unescaped(text);
    case "n":
      return Number(unescaped(text));
    case "b":
      return text === "1";
    default:
      return undefined;
  }
}

/** A token, or several one after the other, as a query. */
export const quoted = (tokens: string): string => `"${tokens}"`;

/** Everything that begins with the token. */
export const beginning = (token: string): string => `"${token}" *`;

/** Whether a query is one of those. */
export const isBeginning = (match: string): boolean => match.endsWith('" *');

/**
 * The first text after all that begin with the token, in the order of code points. A token has a
 * mark in front, which has a next one.
 */
export function afterAll(token: string): string {
  const points = Array.from(token, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_POINT) points.pop();
  const last = points.pop() ?? LAST_POINT;
  // Surrogates are no characters.
  const next = last === 0xd7ff ? 0xe000 : last + 1;
  return String.fromCodePoint(...points, next);
}

const LAST_POINT = 0x10ffff;

const cut = (text: string, unitsMax: number): string =>
  (text.length <= unitsMax ? text : text.slice(0, unitsMax)).toWellFormed();

/** Half characters are among the unknown, which costs those of two halves a little. */
const unknownAmongWords = /[^a-z0-9 \u0080-\ud7ff\ue000-\uffff]/;
const unknownToTokenizer = /[^a-z0-9!#$%&()*+,\-./:;<=>?@[\]_`{|}~\u0080-\uffff]/;

/** `^a` for A; `^20` for a space: two digits of which the first is below 8. None for what is known. */
const escapes: readonly (string | undefined)[] = Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (!unknownToTokenizer.test(character)) return undefined;
  return character >= "A" && character <= "Z"
    ? `^${character.toLowerCase()}`
    : `^${code.toString(16).padStart(2, "0")}`;
});

/** By hand: a third of the time that a regular expression takes. */
function escaped(text: string): string {
  let told = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const other = code < 0x80 ? escapes[code] : undefined;
    if (other === undefined) continue;
    told += text.slice(from, at) + other;
    from = at + 1;
  }
  return from === 0 ? text : told + text.slice(from);
}

const unescaped = (text: string): string =>
  text.includes("^")
    ? text.replace(/\^([0-7][0-9a-f]|[a-z])/g, (_, code: string) =>
        code.length === 1 ? code.toUpperCase() : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32 bits of a text: FNV-1a over its code units. */
export function hash32(text: string, start: number = FNV_START): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  }
  return hash >>> 0;
}

const fingerprint = (text: string): string =>
  hash32(text).toString(36) + hash32(text, ~FNV_START).toString(36) + text.length.toString(36);
