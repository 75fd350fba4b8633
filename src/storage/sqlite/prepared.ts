/**
 * Statements of SQLite that know what rows they give. The type is said once, beside the columns, and
 * is the writer's word: SQLite is not asked. A statement is the driver's own, with nothing around it.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

export interface Prepared<Row> {
  all(...values: readonly SQLInputValue[]): Row[];
  get(...values: readonly SQLInputValue[]): Row | undefined;
  /** One iteration at a time: another call of the statement ends it. */
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>;
}

export interface Preparing {
  /** Its rows are objects without a prototype that have the names of the columns. */
  objects<Row extends object>(sql: string): Prepared<Row>;
  /** Its rows are arrays: half the cost of objects with named members. */
  arrays<Row extends readonly unknown[]>(sql: string): Prepared<Row>;
}

export function preparingOn(db: DatabaseSync): Preparing {
  function prepared<Row>(sql: string, inArrays: boolean): Prepared<Row> {
    const statement = db.prepare(sql);
    statement.setReturnArrays(inArrays);
    // The driver's types say of each value that it may be anything that SQLite stores.
    return statement as unknown as Prepared<Row>;
  }
  return {
    objects: (sql) => prepared(sql, false),
    arrays: (sql) => prepared(sql, true),
  };
}

/** The number that a query of one gives. */
export const numberOf = (
  statement: Prepared<readonly [number]>,
  ...values: readonly SQLInputValue[]
): number => Number(statement.get(...values)?.[0]);
