/**
 * What characters are to words: which make one, which divide, and which are the same but for how
 * they are written.
 */

/** What a UTF-16 code unit is. */
export type Kind = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Divides. */
const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** A character of a script without blanks, a word of its own. */
export const SOLO = 4;
/** A picture, a word of its own. */
export const SYMBOL = 5;
/** Belongs to the SOLO or SYMBOL before it. */
export const MORE = 6;

/**
 * What the code units of a text are, then OTHER twice; undefined when it is not an ASCII text. The
 * answer is good until the next call of this function or the next.
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

/** The same for any text; it should be unified. */
export function markUnicode(text: string): Marks {
  const marks = roomFor(text);
  let before: number = OTHER;
  for (let index = 0; index < text.length; ) {
    const code = text.codePointAt(index) ?? 0;
    const kind = kindOf(code);
    // A mark belongs to what it stands on, and two letters of regions are one flag.
    const flag = before === SYMBOL && isRegion(code) && isRegion(text.codePointAt(index - 2) ?? 0);
    const first = kind === MARK ? moreOf(before) : flag ? MORE : kind;
    marks[index++] = first;
    if (code > 0xffff) marks[index++] = moreOf(first);
    if (kind !== MARK) before = flag ? OTHER : kind;
  }
  return marks;
}

/** What follows in the same character; that no part may begin there, a capital's is no capital. */
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

/** By code unit, as far as it was asked for. */
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
 * One way of writing for what is read as the same: compatibility forms (ﬁ, ①, full width) as the
 * plain ones, Latin and Greek letters without their accents, nothing that is not seen.
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

/** Of a unified text; each letter's in its place. */
export const lowerCase = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** Letters that Unicode takes for themselves, as those write them who do not have them. */
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
/** Capitals before capitals: Æ is Ae in Æsir and AE in ÆSIR, and neither is two parts. */
const shouted = /[ẞÆŒÞ](?=\p{Lu})/gu;

/** The beginning of a text that has at most so many UTF-16 code units, and no half character. */
export function cutText(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const last = text.charCodeAt(unitsMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? unitsMax - 1 : unitsMax);
}
