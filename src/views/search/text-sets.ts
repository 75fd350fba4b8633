/**
 * Tests whether a text equals, begins with, ends with or contains one of many others. The cost hardly
 * grows with their number. Texts are compared by UTF-16 code unit.
 */
type TextTest = (text: string) => boolean;

/** Up to so many texts are tried one by one. */
const triedMax = 8;

export function equalsOneOf(texts: readonly string[]): TextTest {
  const set = new Set(texts);
  return (text) => set.has(text);
}

export function startsWithOneOf(texts: readonly string[]): TextTest {
  if (texts.length <= triedMax) return (text) => texts.some((one) => text.startsWith(one));
  const beginnings = shortest(texts);
  return (text) => beginsAt(text, 0, beginnings);
}

export function endsWithOneOf(texts: readonly string[]): TextTest {
  if (texts.length <= triedMax) return (text) => texts.some((one) => text.endsWith(one));
  const begins = startsWithOneOf(texts.map(reversed));
  return (text) => begins(reversed(text));
}

/** Length of the n-grams that rule out indexes where no text begins. */
const gramMax = 4;

export function containsOneOf(texts: readonly string[]): TextTest {
  if (texts.length <= triedMax) return (text) => texts.some((one) => text.includes(one));
  const sorted = shortest(texts);
  const size = sorted.reduce((least, { length }) => Math.min(least, length), gramMax);
  const grams = new Set(sorted.map((one) => one.slice(0, size)));
  return (text) => {
    for (let at = 0; at + size <= text.length; at++) {
      if (grams.has(text.slice(at, at + size)) && beginsAt(text, at, sorted)) return true;
    }
    return false;
  };
}

const reversed = (text: string): string => text.split("").reverse().join("");

/** Sorted, without those that begin with another: what begins with them begins with that. */
function shortest(texts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const text of texts.toSorted()) {
    const last = kept.at(-1);
    if (last === undefined || !text.startsWith(last)) kept.push(text);
  }
  return kept;
}

/**
 * True if one of the texts begins at an index. Only the last one that does not sort behind the rest of
 * the text can: a text between the two would begin with it.
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
