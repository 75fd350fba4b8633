/** Scans the values in a search query: phrases, words and ranges (search-query.ts). */

export interface Ends {
  readonly above?: string;
  readonly from?: string;
  readonly to?: string;
  readonly below?: string;
}

/** The text that was read; `end` is the index after it. */
interface Scanned {
  readonly text: string;
  readonly end: number;
}

/** The characters that have a meaning in a query, as in Lucene. */
const RESERVED = /[\s+\-=&|><!(){}[\]^"~*?:\\/]/.source;
const ESCAPED = new RegExp(`\\\\(${RESERVED})`, "g");
const IS_RESERVED = new RegExp(RESERVED);

/**
 * True if there is a backslash that escapes the next character. In MILL\mara it is an ordinary one.
 */
const isEscape = (text: string, at: number): boolean =>
  text[at] === "\\" && IS_RESERVED.test(text[at + 1] ?? "");

/** Removes the backslashes that escape a character. */
export const unescaped = (text: string): string => text.replace(ESCAPED, "$1");

/** The quoted text that begins there; undefined if there is none. */
export function scanPhrase(text: string, at: number): Scanned | undefined {
  if (text[at] !== '"') return undefined;
  let value = "";
  for (let end = at + 1; end < text.length; end++) {
    const c = text[end];
    if (c === '"') return { text: value, end: end + 1 + slopLength(text, end + 1) };
    if (isEscape(text, end)) end++;
    value += text[end];
  }
  return undefined;
}

const SLOP = /[~^]\d+(?:\.\d+)?(?=[\s)]|$)/y;

/** Length of a slop or boost after a phrase, as in Lucene: "one row"~2, "one row"^4. */
function slopLength(text: string, at: number): number {
  SLOP.lastIndex = at;
  return SLOP.exec(text)?.[0].length ?? 0;
}

/**
 * The text up to a blank, without escaping backslashes. A "word" also ends at brackets, quotes and
 * operators. A "value" may contain balanced brackets, and in a urn also blanks inside them. Leading
 * and trailing stars are removed and reported.
 */
export function scanValue(
  text: string,
  at: number,
  form: "word" | "value",
): Scanned & { readonly starred: boolean; readonly open: boolean } {
  const urn = text.startsWith("urn:", at);
  let begin = at;
  while (text[begin] === "*") begin++;
  const starred = begin > at;
  let value = "";
  let depth = 0;
  /** Stars that the value may end with. */
  let stars = 0;
  let end = begin;
  while (end < text.length) {
    const c = text[end] ?? "";
    if (form === "word" && (c === "(" || c === ")" || c === '"' || joinsAt(text, end))) break;
    if (c === ")" && depth === 0) break;
    if (/\s/.test(c)) {
      const closed = urn && depth > 0 ? closingAt(text, end, depth) : undefined;
      if (closed === undefined) break;
      value += text.slice(end, closed);
      end = closed;
      depth = 0;
      stars = 0;
      continue;
    }
    if (c === "(") depth++;
    if (c === ")") depth--;
    stars = c === "*" ? stars + 1 : 0;
    if (isEscape(text, end)) end++;
    value += text[end];
    end++;
  }
  const open = stars > 0 || (starred && value === "");
  return { text: value.slice(0, value.length - stars), starred, open, end };
}

const joinsAt = (text: string, at: number): boolean =>
  text.startsWith("&&", at) || text[at] === "|";

/** The index after the bracket that closes `depth` open brackets; undefined if there is none. */
function closingAt(text: string, at: number, depth: number): number | undefined {
  let left = depth;
  for (let end = at; end < text.length; end++) {
    if (text[end] === "(") left++;
    else if (text[end] === ")" && --left === 0) return end + 1;
  }
  return undefined;
}

const BETWEEN = /([[{])\s*(?:"([^"]*)"|(\S+))\s+TO\s+(?:"([^"]*)"|([^\s\]}]+))\s*([\]}])/y;
const BEYOND = /([<>]=?)(?:"([^"]*)"|([^\s()]+))/y;

/** [1 TO 5], {1 TO 5], [* TO 5], >5, >=5, <5, <=5; undefined where none of them begins. */
export function scanRange(
  text: string,
  at: number,
): { readonly ends: Ends; readonly end: number } | undefined {
  BETWEEN.lastIndex = at;
  const between = BETWEEN.exec(text);
  if (between !== null) {
    const [, opening, quotedLow, low = quotedLow, quotedHigh, high = quotedHigh, closing] = between;
    const ends = {
      ...(low !== "*" && { [opening === "[" ? "from" : "above"]: low }),
      ...(high !== "*" && { [closing === "]" ? "to" : "below"]: high }),
    };
    return { ends, end: BETWEEN.lastIndex };
  }
  BEYOND.lastIndex = at;
  const beyond = BEYOND.exec(text);
  if (beyond === null) return undefined;
  const [, sign = "", quoted, end = quoted] = beyond;
  return { ends: { [beyondEnds[sign] ?? "to"]: end }, end: BEYOND.lastIndex };
}

const beyondEnds: Readonly<Record<string, keyof Ends>> = {
  ">": "above",
  ">=": "from",
  "<": "below",
  "<=": "to",
};
