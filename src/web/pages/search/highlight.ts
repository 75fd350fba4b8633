/** Finds the words of a query in a text. */

interface Part {
  readonly part: string;
  readonly start: number;
  readonly matches: boolean;
}

/** The words of a query that may be marked: no operators, names of fields or urns. */
export function wordsOfQuery(query: string): readonly string[] {
  const words = query
    .replaceAll(/\b[\w.]+:(?=\S)/g, " ")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "" && !/^(AND|OR|NOT)$/.test(word));
  return [...new Set(words.map((word) => word.toLowerCase()))].slice(0, 20);
}

const patternOf = (words: readonly string[]): RegExp =>
  new RegExp(
    `(${words
      .toSorted((a, b) => b.length - a.length)
      .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("|")})`,
    "giu",
  );

/** Splits a text at all places that match a word, without letter case. */
export function splitAtMatches(text: string, words: readonly string[]): readonly Part[] {
  if (words.length === 0) return [{ part: text, start: 0, matches: false }];
  let start = 0;
  return text
    .split(patternOf(words))
    .map((part, n) => {
      const one = { part, start, matches: n % 2 === 1 };
      start += part.length;
      return one;
    })
    .filter(({ part }) => part !== "");
}

/** A text in Markdown without the marks of links, emphasis, code and headings. */
export const withoutMarks = (text: string): string =>
  text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/\*\*|`|^#+ /gm, "");

/** A part of a long text that contains the first match. */
export function excerptOf(text: string, words: readonly string[], length: number): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  if (flat.length <= length) return flat;
  const match = words.length === 0 ? 0 : Math.max(0, flat.search(patternOf(words)));
  const start = match + 20 <= length ? 0 : match - Math.floor(length / 3);
  const end = start + length;
  return `${start > 0 ? "…" : ""}${flat.slice(start, end).trim()}${end < flat.length ? "…" : ""}`;
}
