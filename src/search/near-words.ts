/**
 * Near words: words of the documents that a misspelled word of a query may mean. A near word
 *
 *   - has the same first character as the word of the query,
 *   - differs by one edit, or by two if the word of the query has eight or more characters: insertion,
 *     deletion or replacement of a character, or a swap of two neighbours; no character is edited
 *     twice (optimal string alignment),
 *   - is in a document that has one of the entity types of the query and fulfils its condition.
 *
 * A word that begins a word of such a document is not misspelled and has no near words. The nearest
 * come first, then those of most documents, then by UTF-16 code unit. Characters are code points.
 */

export interface NearWord {
  readonly word: string;
  /** Edits: 1 or 2. */
  readonly distance: number;
  /** How many documents of the query's types that fulfil its condition have the word. */
  readonly documents: number;
}

/** The most near words of one word. */
export const nearWordsMax = 3;

/** Shorter and longer words have no near words. */
const CHARACTERS_MIN = 4;
const UNITS_MAX = 64;
/** Words of so many characters may have two edits, shorter ones one. */
const TWO_EDITS_MIN = 8;

/** A word that others are compared with. */
export class NearTest {
  /** Its first character. */
  readonly first: string;
  /** The most edits; 0 if the word has no near words. */
  readonly editsMax: number;
  private readonly points: readonly number[];

  constructor(word: string) {
    this.points = codePoints(word.toWellFormed());
    const { length } = this.points;
    const fits = length >= CHARACTERS_MIN && word.length <= UNITS_MAX;
    this.editsMax = fits ? (length < TWO_EDITS_MIN ? 1 : 2) : 0;
    this.first = fits ? String.fromCodePoint(this.points[0] as number) : "";
  }

  /** The edits to another word; undefined if that is not near, or is the word itself. */
  distance(other: string): number | undefined {
    const { points, editsMax, first } = this;
    // No code point has more than two units.
    if (other.length > 2 * (points.length + editsMax) || !other.startsWith(first)) return undefined;
    const others = codePoints(other.toWellFormed());
    if (Math.abs(others.length - points.length) > editsMax) return undefined;
    const edits = editsBetween(points, others, editsMax);
    return edits === 0 || edits > editsMax ? undefined : edits;
  }
}

/** The near words among some, in order. */
export const nearest = (words: Iterable<NearWord>): readonly NearWord[] =>
  [...words]
    .filter(({ documents }) => documents > 0)
    .sort(
      (a, b) => a.distance - b.distance || b.documents - a.documents || (a.word < b.word ? -1 : 1),
    )
    .slice(0, nearWordsMax);

const codePoints = (text: string): readonly number[] =>
  Array.from(text, (character) => character.codePointAt(0) as number);

/** The optimal string alignment distance of two texts; any greater number beyond `most`. */
function editsBetween(a: readonly number[], b: readonly number[], most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let m = 1; m <= a.length; m++) {
    const next = [m];
    let least = m;
    for (let n = 1; n <= b.length; n++) {
      const same = a[m - 1] === b[n - 1];
      let edits = Math.min(
        (row[n - 1] as number) + (same ? 0 : 1),
        (row[n] as number) + 1,
        (next[n - 1] as number) + 1,
      );
      if (m > 1 && n > 1 && a[m - 1] === b[n - 2] && a[m - 2] === b[n - 1]) {
        edits = Math.min(edits, (before[n - 2] as number) + 1);
      }
      next.push(edits);
      least = Math.min(least, edits);
    }
    if (least > most) return least;
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}
