/** Documents by token, from the index or from memory: the only file that asks MATCH. */
import type { DatabaseSync } from "node:sqlite";
import { listedNumbers } from "./listed-numbers.ts";
import { createRememberedPostings, type RememberedPostings } from "./remembered-postings.ts";
import { afterAll } from "./tokens.ts";

export interface Postings {
  /** Numbers of the documents, ascending. */
  docs(match: string): Uint32Array;
  /** The same, unless there are more than `max`. */
  fewDocs(match: string, max: number): Uint32Array | undefined;
  /** At least those of the limit, which is so long; all, where they are in memory. */
  docsWithin(
    limit: { readonly match: string; readonly length: number },
    match: string,
  ): Uint32Array;
  /** Longer tokens that begin so; undefined when there are more than `max`. */
  longer(token: string, max: number): readonly string[] | undefined;
  /** The tokens of a range, and in how many documents each is. */
  tokens(from: string, before: string): TokenCounts;
  /** Documents of each token of a range, one token after the other, in the order of `tokens`. */
  docsOfTokens(from: string, before: string): Uint32Array;
  /** To be told of every change, and of every question. */
  readonly remembered: RememberedPostings;
}

export interface TokenCounts {
  readonly tokens: readonly string[];
  readonly counts: Uint32Array;
}

/** Among so few documents, anything is found in less time than a long list is read in. */
const FEW_WITHIN = 2_000;

export function createPostings(db: DatabaseSync): Postings {
  db.exec(`
    CREATE VIRTUAL TABLE temp.token USING fts5vocab ('main', 'term', 'row');
    CREATE VIRTUAL TABLE temp.posting USING fts5vocab ('main', 'term', 'instance');`);
  const all = db.prepare("SELECT group_concat(rowid) FROM term WHERE term MATCH ?");
  const few = db.prepare(
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM term WHERE term MATCH ? LIMIT ?)",
  );
  const beginning = db.prepare("SELECT term FROM temp.token WHERE term >= ? AND term < ? LIMIT ?");
  const range = db.prepare(`
    SELECT group_concat(term, ' '), group_concat(doc)
    FROM temp.token WHERE term >= ? AND term < ?`);
  const instances = db.prepare(
    "SELECT group_concat(doc) FROM temp.posting WHERE term >= ? AND term < ?",
  );
  for (const statement of [all, few, beginning, range, instances]) statement.setReturnArrays(true);

  const listed = (row: unknown): Uint32Array => {
    const [text] = row as readonly [string | null];
    return listedNumbers(text);
  };

  const remembered = createRememberedPostings();

  function docs(match: string): Uint32Array {
    const known = remembered.docs(match);
    if (known !== undefined) return known;
    const again = remembered.again(match);
    const found = listed(all.get(match));
    if (again) remembered.keepDocs(match, found);
    return found;
  }

  return {
    remembered,
    docs,
    fewDocs(match, max) {
      const known = remembered.docs(match) ?? (remembered.again(match) ? docs(match) : undefined);
      const found = known ?? listed(few.get(match, max + 1));
      return found.length > max ? undefined : found;
    },
    docsWithin(limit, match) {
      const known = remembered.docs(match);
      if (known !== undefined) return known;
      if (limit.length > FEW_WITHIN && remembered.again(match)) return docs(match);
      return listed(all.get(`(${limit.match}) AND (${match})`));
    },
    longer(token, max) {
      let longer = remembered.longer(token);
      if (longer === undefined) {
        // Asked for with the token itself, it would be counted, in how many documents ever it is.
        const rows = beginning.all(`${token}${FIRST_BEHIND}`, afterAll(token), max + 1);
        const tokens = (rows as unknown as [string][]).map(([term]) => term);
        longer = { tokens, more: tokens.length > max };
        remembered.keepLonger(token, longer);
      }
      return longer.more || longer.tokens.length > max ? undefined : longer.tokens;
    },
    tokens(from, before) {
      const [terms, counts] = range.get(from, before) as unknown as [string | null, string | null];
      return { tokens: terms?.split(" ") ?? [], counts: listedNumbers(counts) };
    },
    docsOfTokens: (from, before) => listed(instances.get(from, before)),
  };
}

/** No token has a lesser character in it. */
const FIRST_BEHIND = "\u0001";
