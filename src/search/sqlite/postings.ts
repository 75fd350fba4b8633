/** Documents by token, from the index: the only file that asks MATCH. */
import type { DatabaseSync } from "node:sqlite";
import { listedNumbers } from "./listed-numbers.ts";

export interface Postings {
  /** Numbers of the documents, ascending. */
  docs(match: string): Uint32Array;
  /** The same, unless there are more than `max`. */
  fewDocs(match: string, max: number): Uint32Array | undefined;
  /** The tokens that begin so; undefined when there are more than `max`. */
  expansions(token: string, max: number): readonly string[] | undefined;
  /** The tokens of a range, and in how many documents each is. */
  tokens(from: string, before: string): readonly (readonly [token: string, docs: number])[];
  /** Every token of a range with every document that it is in. */
  pairs(from: string, before: string): Iterable<readonly [token: string, doc: number]>;
}

export function createPostings(db: DatabaseSync): Postings {
  db.exec(`
    CREATE VIRTUAL TABLE temp.token USING fts5vocab ('main', 'term', 'row');
    CREATE VIRTUAL TABLE temp.posting USING fts5vocab ('main', 'term', 'instance');`);
  const all = db.prepare("SELECT group_concat(rowid) FROM term WHERE term MATCH ?");
  const few = db.prepare(
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM term WHERE term MATCH ? LIMIT ?)",
  );
  const beginning = db.prepare("SELECT term FROM temp.token WHERE term >= ? LIMIT ?");
  const range = db.prepare("SELECT term, doc FROM temp.token WHERE term >= ? AND term < ?");
  const instances = db.prepare("SELECT term, doc FROM temp.posting WHERE term >= ? AND term < ?");
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
    expansions(token, max) {
      const rows = beginning.all(token, max + 1) as unknown as [string][];
      const terms = rows.map(([term]) => term).filter((term) => term.startsWith(token));
      return terms.length > max ? undefined : terms;
    },
    tokens: (from, before) => range.all(from, before) as unknown as [string, number][],
    pairs: (from, before) =>
      instances.iterate(from, before) as unknown as Iterable<[string, number]>,
  };
}
