/**
 * The columns that are in memory: each is read from the index when it is first asked for, follows
 * every change of a document from then on, and gives way when others need its place.
 */
import { LRUCache } from "lru-cache";
import { fieldValues } from "../evaluate.ts";
import type { FieldValue, SearchDocument } from "../search.ts";
import { type Column, createColumn, wellFormed } from "./column.ts";
import type { Postings } from "./postings.ts";
import { type FieldNumber, quoted, valueOfToken, valueRange, valueToken } from "./tokens.ts";

export interface Columns {
  /** Undefined when it is not in memory. */
  peek(field: string): Column | undefined;
  get(field: string): Column;
  /** The document has these values now; none when there is no document any more. */
  set(doc: number, values: SearchDocument["values"]): void;
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

export function createColumns(source: ColumnSource): Columns {
  const columns = new LRUCache<string, Column>({ max: COLUMNS_MAX });
  return {
    peek: (field) => columns.get(field),
    get(field) {
      let column = columns.get(field);
      if (column === undefined) {
        column = readColumn(field, source);
        columns.set(field, column);
      }
      return column;
    },
    set(doc, values) {
      for (const [field, column] of columns.entries()) column.set(doc, fieldValues(values, field));
    },
    tidy() {
      let bytes = 0;
      // The most recently asked for first.
      for (const [field, column] of [...columns.entries()]) {
        bytes += column.bytes();
        if (bytes > COLUMNS_BYTES_MAX || column.worn()) columns.delete(field);
      }
    },
    clear: () => columns.clear(),
  };
}

function readColumn(field: string, source: ColumnSource): Column {
  const number = source.fieldNumber(field);
  if (number === undefined) return createColumn(empty, source.last());
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

const empty = { values: [], docs: new Uint32Array(), numbers: new Uint32Array() };

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
