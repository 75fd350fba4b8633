/**
 * Prepared statements with typed rows. The caller declares the row type next to the columns of the
 * query; SQLite does not check it. Returns the driver's statement without a wrapper.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

export interface Prepared<Row> {
  all(...values: readonly SQLInputValue[]): Row[];
  get(...values: readonly SQLInputValue[]): Row | undefined;
  /** One iteration at a time: another call of the statement ends it. */
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>;
}

interface Preparing {
  /** Its rows are objects without a prototype that have the names of the columns. */
  objects<Row extends object>(sql: string): Prepared<Row>;
  /** Its rows are arrays: half the cost of objects with named members. */
  arrays<Row extends readonly unknown[]>(sql: string): Prepared<Row>;
}

export function preparingOn(db: DatabaseSync): Preparing {
  function prepared<Row>(sql: string, inArrays: boolean): Prepared<Row> {
    const statement = db.prepare(sql);
    statement.setReturnArrays(inArrays);
    // The types of the driver allow every type of SQLite for each value.
    return statement as unknown as Prepared<Row>;
  }
  return {
    objects: (sql) => prepared(sql, false),
    arrays: (sql) => prepared(sql, true),
  };
}

/** The result of a query for a single number. */
export const numberOf = (
  statement: Prepared<readonly [number]>,
  ...values: readonly SQLInputValue[]
): number => Number(statement.get(...values)?.[0]);
