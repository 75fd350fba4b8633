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
  const tokens = source.postings.tokens(...valueRange(number));
  const total = tokens.reduce((sum, [, docs]) => sum + docs, 0);
  const docs = new Uint32Array(total);
  const numbers = new Uint32Array(total);
  const values: FieldValue[] = [];
  let end = 0;
  const begin = (token: string, doc: number) =>
    values.push(valueOfToken(token) ?? longValue(field, number, token, source.valuesOf(doc)));

  if (total >= tokens.length * FEW_VALUES) {
    for (const [token] of tokens) {
      const some = source.postings.docs(quoted(token));
      begin(token, some[0] ?? 0);
      docs.set(some, end);
      numbers.fill(values.length - 1, end, end + some.length);
      end += some.length;
    }
  } else {
    let last: string | undefined;
    for (const [token, doc] of source.postings.pairs(...valueRange(number))) {
      if (token !== last) begin(token, doc);
      // A value that a document has twice is there twice.
      else if (docs[end - 1] === doc) continue;
      last = token;
      docs[end] = doc;
      numbers[end++] = values.length - 1;
    }
  }
  return createColumn({ values, docs, numbers }, source.last());
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
