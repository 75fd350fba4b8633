/** Documents by token, from the index or from memory: the only file that asks MATCH. */
import type { DatabaseSync } from "node:sqlite";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
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

/** Numbers, one after the other; null where there are none. */
type Listed = readonly [docs: string | null];

/** Among so few documents, anything is found in less time than a long list is read in. */
const FEW_WITHIN = 2_000;

/** Tokens, and where each is, as tables of the connection: `temp.token` and `temp.posting`. */
export function openVocabulary(db: DatabaseSync): void {
  db.exec(`
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.token USING fts5vocab ('main', 'term', 'row');
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.posting USING fts5vocab ('main', 'term', 'instance');`);
}

export function createPostings(db: DatabaseSync): Postings {
  openVocabulary(db);
  const { arrays } = preparingOn(db);
  const all = arrays<Listed>("SELECT group_concat(rowid) FROM term WHERE term MATCH ?");
  const few = arrays<Listed>(
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM term WHERE term MATCH ? LIMIT ?)",
  );
  const beginning = arrays<readonly [term: string]>(
    "SELECT term FROM temp.token WHERE term >= ? AND term < ? LIMIT ?",
  );
  const range = arrays<readonly [terms: string | null, counts: string | null]>(`
    SELECT group_concat(term, ' '), group_concat(doc)
    FROM temp.token WHERE term >= ? AND term < ?`);
  const instances = arrays<Listed>(
    "SELECT group_concat(doc) FROM temp.posting WHERE term >= ? AND term < ?",
  );

  const listed = (row: Listed | undefined): Uint32Array => listedNumbers(row?.[0] ?? null);

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
        const tokens = rows.map(([term]) => term);
        longer = { tokens, more: tokens.length > max };
        remembered.keepLonger(token, longer);
      }
      return longer.more || longer.tokens.length > max ? undefined : longer.tokens;
    },
    tokens(from, before) {
      const [terms, counts] = range.get(from, before) ?? [null, null];
      return { tokens: terms?.split(" ") ?? [], counts: listedNumbers(counts) };
    },
    docsOfTokens: (from, before) => listed(instances.get(from, before)),
  };
}

/** No token has a lesser character in it. */
const FIRST_BEHIND = "\u0001";
