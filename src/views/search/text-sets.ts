/**
 * Multi-pattern tests: a text equals, starts with, ends with or contains one of many patterns. The
 * time hardly depends on the number of patterns. Texts are compared by UTF-16 code unit.
 */
type TextTest = (text: string) => boolean;

/** Maximum number of patterns that are compared one by one. */
const LINEAR_SCAN_MAX = 8;

export function equalsOneOf(texts: readonly string[]): TextTest {
  const set = new Set(texts);
  return (text) => set.has(text);
}

export function startsWithOneOf(texts: readonly string[]): TextTest {
  if (texts.length <= LINEAR_SCAN_MAX) return (text) => texts.some((one) => text.startsWith(one));
  const beginnings = shortest(texts);
  return (text) => beginsAt(text, 0, beginnings);
}

export function endsWithOneOf(texts: readonly string[]): TextTest {
  if (texts.length <= LINEAR_SCAN_MAX) return (text) => texts.some((one) => text.endsWith(one));
  const begins = startsWithOneOf(texts.map(reversed));
  return (text) => begins(reversed(text));
}

/** Maximum length of the n-grams that exclude indexes at which no pattern begins. */
const GRAM_LENGTH_MAX = 4;

export function containsOneOf(texts: readonly string[]): TextTest {
  if (texts.length <= LINEAR_SCAN_MAX) return (text) => texts.some((one) => text.includes(one));
  const sorted = shortest(texts);
  const size = sorted.reduce((least, { length }) => Math.min(least, length), GRAM_LENGTH_MAX);
  const grams = new Set(sorted.map((one) => one.slice(0, size)));
  return (text) => {
    for (let at = 0; at + size <= text.length; at++) {
      if (grams.has(text.slice(at, at + size)) && beginsAt(text, at, sorted)) return true;
    }
    return false;
  };
}

const reversed = (text: string): string => text.split("").reverse().join("");

/** Sorts patterns and drops each one that starts with another pattern. */
function shortest(texts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const text of texts.toSorted()) {
    const last = kept.at(-1);
    if (last === undefined || !text.startsWith(last)) kept.push(text);
  }
  return kept;
}

/**
 * True if a pattern begins at the index. The only candidate is the last pattern that does not sort
 * after the rest of the text, because no pattern is a prefix of another.
 */
function beginsAt(text: string, at: number, sorted: readonly string[]): boolean {
  const rest = at === 0 ? text : text.slice(at);
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") <= rest) low = middle + 1;
    else high = middle;
  }
  const before = sorted[low - 1];
  return before !== undefined && rest.startsWith(before);
}
