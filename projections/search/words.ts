/**
 * Splits texts and queries into words. All stores use this code, so that they find the same entities
 * for the same words.
 *
 *   orders_by-day.v2      orders by day v 2 ␟ v2      only letters and digits do not separate
 *   userEvents            user events ␟ userevents    so do changes of case, and digits
 *   HTTPServer, URLs      http server, urls ␟ …       capitals are one word
 *   Crème Brûlée, ﬁsh     creme brulee fish           Latin and Greek without accents, forms unified
 *   東京都                東 京 都                    scripts without spaces: each character
 *   🚀                    🚀                          each symbol
 *   urn:li:tag:pii        pii                         the common beginning of urns is omitted
 *
 * A token is the text between separators. Its parts are words, in order, so a phrase matches across
 * any separators. The joined forms of tokens with several parts follow after ␟, which no query
 * contains: no phrase crosses it.
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
} from "./characters.ts";

/** Removes letter case and accents, for comparing whole values. */
export function foldText(text: string): string {
  return isAscii(text) ? text.toLowerCase() : lowerCase(unify(text));
}

interface Token {
  readonly parts: readonly string[];
  /**
   * The token as one word, which is indexed, too. Equals the only part if there is one; undefined in
   * scripts without spaces, where the end of a word is unknown.
   */
  readonly joined: string | undefined;
}

/** Precedes joined forms; has neither letter nor digit. */
export const SEPARATOR = "␟";

/** Maximum length of a word in UTF-16 code units. Longer words are cut, in texts and in queries. */
export const wordCharsMax = 64;

/** Maximum number of parts of a token. A token with more is probably a checksum, and is one word. */
export const tokenPartsMax = 8;

/** Only so many UTF-16 code units of a text are split into words. */
export const wordsCharsMax = 1_000_000;

/**
 * The words of a text in order, then the joined forms. Apart from ␟, words have lower-case letters,
 * digits and non-ASCII characters only. Never throws, and always returns the same words for a text.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let joined: string[] | undefined;
  let last = -1;
  let index = 0;
  eachToken(text, (parts, whole) => {
    for (const part of parts) words.push(part);
    index++;
    if (parts.length === 1 || whole === undefined) return;
    joined ??= [];
    // Joined forms of adjacent tokens are adjacent.
    if (last !== index - 1) joined.push(SEPARATOR);
    joined.push(whole);
    last = index;
  });
  return joined === undefined ? words : words.concat(joined);
}

/**
 * The tokens of a query. A text matches a token if it has the joined form, or the parts as a phrase:
 * "v2" does not match every text with a "v" and a "2".
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
  /** Classes of the characters before lower-casing. */
  readonly marks: Marks;
  readonly take: Take;
}

const isOfToken = (kind: number | undefined): boolean =>
  kind === LOWER || kind === UPPER || kind === DIGIT;

// Each of these consumes one unit that begins at the index, and returns the index after it.

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

/** True if a part begins at the index, which is within a token. */
function divides(lower: string, marks: Marks, index: number): boolean {
  const before = marks[index - 1];
  const here = marks[index];
  if (before !== here) return before === DIGIT || here === DIGIT || here === UPPER;
  // The last of several capitals begins a word: HTTPServer. A plural s does not: URLs.
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
