/**
 * Classifies characters for word segmentation: word characters, separators, and variants of the same
 * character.
 */

/** Class of a UTF-16 code unit. */
type Kind = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Separates words. */
const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** A character of a script without spaces: a word of its own. */
export const SOLO = 4;
/** A pictograph: a word of its own. */
export const SYMBOL = 5;
/** Continues the SOLO or SYMBOL before it. */
export const MORE = 6;

/**
 * The classes of the code units of a text, then OTHER twice; undefined if the text is not ASCII. The
 * result is valid until the next call of markAscii or markUnicode.
 */
export function markAscii(text: string): Marks | undefined {
  const marks = roomFor(text);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return undefined;
    marks[index] = known[code] as Kind;
  }
  return marks;
}

/** The same for any text. Call `unify` first. */
export function markUnicode(text: string): Marks {
  const marks = roomFor(text);
  let before: number = OTHER;
  for (let index = 0; index < text.length; ) {
    const code = text.codePointAt(index) ?? 0;
    const kind = kindOf(code);
    // A combining mark continues its base character, and two regional letters are one flag.
    const flag = before === SYMBOL && isRegion(code) && isRegion(text.codePointAt(index - 2) ?? 0);
    const first = kind === MARK ? moreOf(before) : flag ? MORE : kind;
    marks[index++] = first;
    if (code > 0xffff) marks[index++] = moreOf(first);
    if (kind !== MARK) before = flag ? OTHER : kind;
  }
  return marks;
}

/** The class of further code units of the same character. No word may begin there, so it is not UPPER. */
const moreOf = (kind: number): number => (kind >= SOLO ? MORE : kind === UPPER ? LOWER : kind);

export type Marks = Readonly<Uint8Array>;

let room = new Uint8Array(4096);

function roomFor({ length }: string): Uint8Array {
  if (length + 2 > room.length) room = new Uint8Array(length * 2);
  room[length] = OTHER;
  room[length + 1] = OTHER;
  return room;
}

const isRegion = (code: number): boolean => code >= 0x1f1e6 && code <= 0x1f1ff;

const solo =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&\p{L}]/v;

const MARK = 7;
const UNKNOWN = 8;

/** Cache of classes by code unit. */
const known = new Uint8Array(0x10000).fill(UNKNOWN);
for (let code = 0; code < 0x80; code++) known[code] = classify(code);

function kindOf(code: number): number {
  if (code > 0xffff) return classify(code);
  if (known[code] === UNKNOWN) known[code] = classify(code);
  return known[code] as number;
}

function classify(code: number): number {
  const character = String.fromCodePoint(code);
  if (/\p{M}/u.test(character)) return MARK;
  if (solo.test(character)) return SOLO;
  if (/\p{N}/u.test(character)) return DIGIT;
  if (/\p{Lu}/u.test(character)) return UPPER;
  if (/\p{L}/u.test(character)) return LOWER;
  return code > 0x7f && /[\p{Extended_Pictographic}\p{RI}]/u.test(character) ? SYMBOL : OTHER;
}

/**
 * Normalizes equivalent characters: replaces compatibility forms (ﬁ, ①, full width), and removes
 * accents of Latin and Greek letters and invisible characters.
 */
export function unify(text: string): string {
  return text
    .replaceAll("\u200b", " ")
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, "")
    .normalize("NFKD")
    .replace(/(?<=[\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu, "")
    .replace(shouted, (letter) => (plainLetters.get(letter) ?? letter).toUpperCase())
    .replace(undecomposed, (letter) => plainLetters.get(letter) ?? letter)
    .normalize("NFC");
}

export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

/** Converts a unified text; each letter keeps its index. */
export const lowerCase = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** Transliterations of letters that Unicode does not decompose. */
const plainLetters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ß: "ss",
    ẞ: "Ss",
    æ: "ae",
    Æ: "Ae",
    œ: "oe",
    Œ: "Oe",
    þ: "th",
    Þ: "Th",
    ø: "o",
    Ø: "O",
    đ: "d",
    Đ: "D",
    ð: "d",
    Ð: "D",
    ħ: "h",
    Ħ: "H",
    ı: "i",
    ł: "l",
    Ł: "L",
    ŧ: "t",
    Ŧ: "T",
    ŋ: "n",
    Ŋ: "N",
  }),
);
const undecomposed = new RegExp(`[${[...plainLetters.keys()].join("")}]`, "gu");
/** Capitals before capitals: Æ is Ae in Æsir and AE in ÆSIR, so that neither is split. */
const shouted = /[ẞÆŒÞ](?=\p{Lu})/gu;

/** Cuts a text to a maximum number of UTF-16 code units, without splitting a surrogate pair. */
export function cutText(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const last = text.charCodeAt(unitsMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? unitsMax - 1 : unitsMax);
}
