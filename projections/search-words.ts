/**
 * What words a text has: decided here for everything that is indexed and everything that is asked,
 * so that every store finds the same entities for the same words.
 *
 *   orders_by-day.v2      orders by day v 2 ␟ v2      all but letters and digits divides
 *   userEvents            user events ␟ userevents    so do changes of case, and digits
 *   HTTPServer, URLs      http server, urls ␟ …       capitals are one word
 *   Crème Brûlée, ﬁsh     creme brulee fish           Latin and Greek without accents, forms unified
 *   東京都                東 京 都                    scripts without blanks: each character
 *   🚀                    🚀                          each symbol
 *   urn:li:tag:pii        pii                         what all urns have is no word of any
 *
 * A token is what stands between dividers. Its parts are the text's words in order; so a phrase is
 * found over them, whatever divides them. After those come the joined forms of tokens with several
 * parts, behind ␟, a word that no question has: no phrase crosses it.
 */
import {
  cutText,
  DIGIT,
  isAscii,
  LOWER,
  lowerCase,
  type Marks,
  MORE,
  markAscii,
  markUnicode,
  SOLO,
  SYMBOL,
  UPPER,
  unify,
} from "./search-characters.ts";

/** The text without letter case and accents, for comparing whole values. */
export function foldText(text: string): string {
  return isAscii(text) ? text.toLowerCase() : lowerCase(unify(text));
}

export interface Token {
  /** The words that the token has. */
  readonly parts: readonly string[];
  /**
   * The token as one word, which a text that has the token has too. Equals the only part where
   * there is one; undefined in scripts without blanks, whose words nobody sees the ends of.
   */
  readonly joined: string | undefined;
}

/** Stands before joined forms; has neither letter nor digit. */
export const SEPARATOR = "␟";

/** Longest word, in UTF-16 code units; what goes beyond is left out, in texts and questions alike. */
export const wordCharsMax = 64;

/** Most parts that a token falls into: one of more is a checksum or the like, and is one word. */
export const tokenPartsMax = 8;

/** The words of a text are those of its first UTF-16 code units, so many. */
export const wordsCharsMax = 1_000_000;

/**
 * The words of a text: lower-case letters, digits and non-ASCII characters only (but for ␟), in
 * order, then the joined forms. Never throws; the same text has the same words for ever.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let joined: string[] | undefined;
  let last = -1;
  let place = 0;
  eachToken(text, (parts, whole) => {
    for (const part of parts) words.push(part);
    place++;
    if (parts.length === 1 || whole === undefined) return;
    joined ??= [];
    // Joined forms of neighbours are neighbours.
    if (last !== place - 1) joined.push(SEPARATOR);
    joined.push(whole);
    last = place;
  });
  return joined === undefined ? words : words.concat(joined);
}

/**
 * The tokens of what somebody asks for. A text has a token if it has the joined form, or, better
 * than each for itself, the parts as a phrase: v2 is not wherever a v and a 2 are.
 */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  eachToken(text, (parts, joined) => tokens.push({ parts, joined }));
  return tokens;
}

type Take = (parts: readonly string[], joined: string | undefined) => void;

function eachToken(whole: string, take: Take): void {
  let text = cutText(whole, wordsCharsMax);
  if (text.includes("urn:")) text = text.replace(urnStart, " ");
  let marks = markAscii(text);
  if (marks === undefined) {
    text = unify(text);
    marks = markUnicode(text);
  }
  const scan: Scan = { lower: lowerCase(text), marks, take };
  let index = 0;
  while (index < text.length) {
    const kind = marks[index];
    if (isOfToken(kind)) index = takeToken(scan, index);
    else if (kind === SOLO) index = takeSolos(scan, index);
    else if (kind === SYMBOL) index = takeSymbol(scan, index);
    else index++;
  }
}

const urnStart = /(?<![A-Za-z0-9])urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z][A-Za-z0-9_]*:/g;

interface Scan {
  readonly lower: string;
  /** What the characters were before they were lower-cased. */
  readonly marks: Marks;
  readonly take: Take;
}

/** Letters and digits. */
const isOfToken = (kind: number | undefined): boolean =>
  kind === LOWER || kind === UPPER || kind === DIGIT;

// Each of these takes what begins at the index, and returns the index after it.

function takeToken({ lower, marks, take }: Scan, start: number): number {
  let parts: string[] | undefined;
  let begin = start;
  let end = start + 1;
  for (; isOfToken(marks[end]); end++) {
    if (!divides(lower, marks, end)) continue;
    parts ??= [];
    parts.push(cut(lower, begin, end));
    begin = end;
  }
  const joined = cut(lower, start, end);
  if (parts === undefined || parts.length >= tokenPartsMax) take([joined], joined);
  else {
    parts.push(cut(lower, begin, end));
    take(parts, joined);
  }
  return end;
}

/** Whether a part begins at the index, which is within a token. */
function divides(lower: string, marks: Marks, index: number): boolean {
  const before = marks[index - 1];
  const here = marks[index];
  if (before !== here) return before === DIGIT || here === DIGIT || here === UPPER;
  // Of capitals the last one begins a word: HTTPServer. But not for the s of several URLs.
  if (here !== UPPER || marks[index + 1] !== LOWER) return false;
  return lower[index + 1] !== "s" || marks[index + 2] === LOWER;
}

function takeSolos({ lower, marks, take }: Scan, start: number): number {
  const parts: string[] = [];
  let end = start;
  while (marks[end] === SOLO) {
    const begin = end;
    end = endOfCharacter(marks, end);
    parts.push(cut(lower, begin, end));
  }
  take(parts, undefined);
  return end;
}

function takeSymbol({ lower, marks, take }: Scan, start: number): number {
  const end = endOfCharacter(marks, start);
  const symbol = cut(lower, start, end);
  take([symbol], symbol);
  return end;
}

function endOfCharacter(marks: Marks, start: number): number {
  let end = start + 1;
  while (marks[end] === MORE) end++;
  return end;
}

const cut = (text: string, start: number, end: number): string =>
  cutText(text.slice(start, end), wordCharsMax);
