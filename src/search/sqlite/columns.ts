/**
 * The columns that are in memory: each is read from the index when it is first asked for, and gives
 * way when others need its place. Documents that change are noted, and read when a column is asked
 * for that many documents need: who looks for a few, while others write, does not pay for all.
 */
import { LRUCache } from "lru-cache";
import { fieldValues } from "../evaluate.ts";
import type { FieldValue, SearchDocument } from "../search.ts";
import { type Column, columnOf, createColumn, noPairs, wellFormed } from "./column.ts";
import type { Postings } from "./postings.ts";
import type { Steps } from "./slices.ts";
import { type FieldNumber, quoted, valueOfToken, valueRange, valueToken } from "./tokens.ts";

export interface Columns {
  /** Whether it is in memory. */
  has(field: string): boolean;
  get(field: string): Column;
  /** Columns that nothing is asked of but what these documents have. */
  of(docs: Uint32Array): (field: string) => Column;
  /** Does in parts what `of` would have to before it gives these columns; whether there was any. */
  ready(docs: Uint32Array, fields: readonly string[]): Steps<boolean>;
  /** The documents are not what they were. */
  changed(docs: readonly number[]): void;
  /** To be called between questions: gives way, and drops what is worn. */
  tidy(): void;
  clear(): void;
}

export interface ColumnSource {
  readonly postings: Postings;
  fieldNumber(field: string): FieldNumber | undefined;
  valuesOf(doc: number): SearchDocument["values"];
  /** The greatest number of a document. */
  last(): number;
}

/** 60 columns of a field with few values, of a million documents. */
const COLUMNS_BYTES_MAX = 256 * 1024 * 1024;
const COLUMNS_MAX = 1_000;
/** Documents for each value on average from which on it is quicker to ask value by value. */
const FEW_VALUES = 16;
/** So few documents are looked at rather than reading a column, or what changed in it. */
export const lookedAtMax = 64;
/** Changed documents that are read before others get their turn: some thirty milliseconds. */
const CHANGED_PART = 1_000;
/** With more that changed, some are read with each question, so that none has to wait for all. */
const CHANGED_MAX = 4_000;

export function createColumns(source: ColumnSource): Columns {
  const columns = new LRUCache<string, Column>({ max: COLUMNS_MAX });
  /** Documents whose values in all columns may be of before. */
  const pending = new Set<number>();

  function readChanged(max = Infinity): void {
    let left = max;
    for (const doc of pending) {
      if (left-- <= 0) return;
      // Of a damaged one this throws: whoever asks next is to hear of it, too.
      const values = source.valuesOf(doc);
      for (const [field, column] of columns.entries()) column.set(doc, fieldValues(values, field));
      pending.delete(doc);
    }
  }

  function get(field: string): Column {
    readChanged();
    let column = columns.get(field);
    if (column === undefined) {
      column = readColumn(field, source);
      columns.set(field, column);
    }
    return column;
  }

  function clear(): void {
    columns.clear();
    pending.clear();
  }

  const looksAt = (docs: Uint32Array, field: string): boolean =>
    docs.length <= lookedAtMax && (pending.size > docs.length || !columns.has(field));

  return {
    has: (field) => columns.has(field),
    get,
    of(docs) {
      let looked: readonly SearchDocument["values"][] | undefined;
      return (field) => {
        if (!looksAt(docs, field)) return get(field);
        looked ??= Array.from(docs, source.valuesOf);
        return columnOf(
          docs,
          looked.map((values) => fieldValues(values, field)),
        );
      };
    },
    *ready(docs, fields) {
      const needed = fields.filter((field) => !looksAt(docs, field));
      let parts = 0;
      for (; needed.length > 0 && pending.size > CHANGED_PART; parts++) {
        readChanged(CHANGED_PART);
        yield;
      }
      for (const field of needed) {
        if (columns.has(field)) continue;
        get(field);
        parts++;
        yield;
      }
      return parts > 0;
    },
    changed(docs) {
      if (columns.size === 0) return;
      for (const doc of docs) pending.add(doc);
      if (pending.size > anewFrom(source.last())) clear();
      else if (pending.size > CHANGED_MAX) readChanged(CHANGED_PART);
    },
    tidy() {
      let bytes = 0;
      // The most recently asked for first.
      for (const [field, column] of [...columns.entries()]) {
        bytes += column.bytes();
        if (bytes > COLUMNS_BYTES_MAX || column.worn()) columns.delete(field);
      }
    },
    clear,
  };
}

/**
 * A changed document costs ten to twenty times as much as one that is read with all others: when so
 * many of those up to `last` have changed, all are read anew.
 */
export const anewFrom = (last: number): number => 1_000 + last / 16;

function readColumn(field: string, source: ColumnSource): Column {
  const number = source.fieldNumber(field);
  if (number === undefined) return createColumn(noPairs, source.last());
  const { tokens, counts } = source.postings.tokens(...valueRange(number));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const docs = docsOf(tokens, counts, total, number, source.postings);
  const numbers = new Uint32Array(total);
  let end = 0;
  const values = tokens.map((token, value): FieldValue => {
    const begin = end;
    end += counts[value] ?? 0;
    numbers.fill(value, begin, end);
    return (
      valueOfToken(token) ?? longValue(field, number, token, source.valuesOf(docs[begin] ?? 0))
    );
  });
  return createColumn({ values, docs, numbers }, source.last());
}

/** The documents of one token after the other. */
function docsOf(
  tokens: readonly string[],
  counts: Uint32Array,
  total: number,
  field: FieldNumber,
  postings: Postings,
): Uint32Array {
  if (total < tokens.length * FEW_VALUES) return postings.docsOfTokens(...valueRange(field));
  const docs = new Uint32Array(total);
  let end = 0;
  for (const [value, token] of tokens.entries()) {
    docs.set(postings.docs(quoted(token)), end);
    end += counts[value] ?? 0;
  }
  return docs;
}

/** A value that is too long for its token, from a document that has it. */
function longValue(
  field: string,
  number: FieldNumber,
  token: string,
  values: SearchDocument["values"],
): FieldValue {
  const value = fieldValues(values, field).find((one) => valueToken(number, one) === token);
  return value === undefined ? "" : wellFormed(value);
}
