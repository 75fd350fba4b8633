/**
 * Near words: words of the documents that a misspelled word of a query may mean. A near word
 *
 *   - has the same first character as the word of the query,
 *   - differs by one edit, or by two if the word of the query has eight or more characters. Edits
 *     are insertion, deletion and replacement of a character, and the transposition of two adjacent
 *     ones; no character is edited twice (optimal string alignment),
 *   - is in a document that has one of the entity types of the query and fulfils its condition.
 *
 * A word that begins a word of such a document is not misspelled and has no near words. The nearest
 * come first, then those of most documents, then by UTF-16 code unit. Characters are code points.
 */

export interface NearWord {
  readonly word: string;
  /** Edits: 1 or 2. */
  readonly distance: number;
  /** Number of documents with the word, of the query's types and condition. */
  readonly documents: number;
}

/** Maximum number of near words of one word. */
const nearWordsMax = 3;

/** Shorter and longer words have no near words. */
const CHARACTERS_MIN = 4;
const UNITS_MAX = 64;
/** Minimum length of a word that may have two edits; a shorter one may have one. */
const TWO_EDITS_MIN = 8;

/** A row of the edit distance matrix: from one prefix of a text to each prefix of the word. */
interface Row {
  /** The end of the text's prefix in UTF-16 units, and its last character. */
  readonly end: number;
  readonly point: number;
  readonly edits: readonly number[];
  /** The minimum of the row: a lower bound for all longer prefixes. */
  readonly least: number;
}

/**
 * Computes distances from one word. Reuses the rows of the prefix shared with the previous text.
 */
export class NearTest {
  /** The first character of the word. */
  readonly first: string;
  /** Maximum distance; 0 if the word has no near words. */
  readonly editsMax: number;
  private readonly points: readonly number[];
  /** The rows of the previous text, up to the first one over `editsMax`. */
  private readonly rows: Row[];
  private before = "";

  constructor(word: string) {
    this.points = Array.from(word.toWellFormed(), (character) => character.codePointAt(0) ?? 0);
    const { length } = this.points;
    const fits = length >= CHARACTERS_MIN && word.length <= UNITS_MAX;
    this.editsMax = fits ? (length < TWO_EDITS_MIN ? 1 : 2) : 0;
    this.first = fits ? String.fromCodePoint(this.points[0] ?? 0) : "";
    this.rows = [{ end: 0, point: 0, edits: [0, ...this.points.map((_, n) => n + 1)], least: 0 }];
  }

  /** The distance to another word; undefined if it is over `editsMax` or 0. */
  distance(other: string): number | undefined {
    const { points, editsMax, first, rows } = this;
    if (editsMax === 0 || !other.startsWith(first)) return undefined;
    const text = other.toWellFormed();
    let shared = 0;
    while (shared < text.length && text[shared] === this.before[shared]) shared++;
    this.before = text;
    while ((rows.at(-1) as Row).end > shared) rows.pop();
    let last = rows.at(-1) as Row;
    while (last.end < text.length && last.least <= editsMax) {
      last = this.nextRow(last, text.codePointAt(last.end) ?? 0);
      rows.push(last);
    }
    const edits = last.end < text.length ? editsMax + 1 : (last.edits[points.length] ?? 0);
    return edits === 0 || edits > editsMax ? undefined : edits;
  }

  private nextRow(last: Row, point: number): Row {
    const { points, rows } = this;
    const before = rows.at(-2)?.edits ?? [];
    const edits = [rows.length];
    let least = rows.length;
    for (let n = 1; n <= points.length; n++) {
      const same = points[n - 1] === point;
      let fewest = Math.min(
        (last.edits[n - 1] as number) + (same ? 0 : 1),
        (last.edits[n] as number) + 1,
        (edits[n - 1] as number) + 1,
      );
      if (n > 1 && rows.length > 1 && points[n - 1] === last.point && points[n - 2] === point) {
        fewest = Math.min(fewest, (before[n - 2] as number) + 1);
      }
      edits.push(fewest);
      least = Math.min(least, fewest);
    }
    return { end: last.end + (point > 0xffff ? 2 : 1), point, edits, least };
  }
}

/** The first near words in order. */
export const nearest = (words: Iterable<NearWord>): readonly NearWord[] =>
  [...words]
    .filter(({ documents }) => documents > 0)
    .sort(
      (a, b) => a.distance - b.distance || b.documents - a.documents || (a.word < b.word ? -1 : 1),
    )
    .slice(0, nearWordsMax);
