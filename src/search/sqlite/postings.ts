/** Documents by token, from the index: the only file that asks MATCH. */
import type { DatabaseSync } from "node:sqlite";
import { listedNumbers } from "./listed-numbers.ts";
import { afterAll } from "./tokens.ts";

export interface Postings {
  /** Numbers of the documents, ascending. */
  docs(match: string): Uint32Array;
  /** The same, unless there are more than `max`. */
  fewDocs(match: string, max: number): Uint32Array | undefined;
  /** Longer tokens that begin so; undefined when there are more than `max`. */
  longer(token: string, max: number): readonly string[] | undefined;
  /** The tokens of a range, and in how many documents each is. */
  tokens(from: string, before: string): TokenCounts;
  /** Documents of each token of a range, one token after the other, in the order of `tokens`. */
  docsOfTokens(from: string, before: string): Uint32Array;
}

export interface TokenCounts {
  readonly tokens: readonly string[];
  readonly counts: Uint32Array;
}

export function createPostings(db: DatabaseSync): Postings {
  db.exec(`
    CREATE VIRTUAL TABLE temp.token USING fts5vocab ('main', 'term', 'row');
    CREATE VIRTUAL TABLE temp.posting USING fts5vocab ('main', 'term', 'instance');`);
  const all = db.prepare("SELECT group_concat(rowid) FROM term WHERE term MATCH ?");
  const few = db.prepare(
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM term WHERE term MATCH ? LIMIT ?)",
  );
  const beginning = db.prepare("SELECT term FROM temp.token WHERE term > ? AND term < ? LIMIT ?");
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

  return {
    docs: (match) => listed(all.get(match)),
    fewDocs(match, max) {
      const docs = listed(few.get(match, max + 1));
      return docs.length > max ? undefined : docs;
    },
    longer(token, max) {
      const rows = beginning.all(token, afterAll(token), max + 1) as unknown as [string][];
      return rows.length > max ? undefined : rows.map(([term]) => term);
    },
    tokens(from, before) {
      const [terms, counts] = range.get(from, before) as unknown as [string | null, string | null];
      return { tokens: terms?.split(" ") ?? [], counts: listedNumbers(counts) };
    },
    docsOfTokens: (from, before) => listed(instances.get(from, before)),
  };
}
