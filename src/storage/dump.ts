/** Reads all rows of a view, so that tests can compare views. */

export interface Dump<Row> {
  /**
   * All rows, in an order that depends only on the rows. They omit numbers that a store assigns, so that
   * a rebuilt view equals the live one.
   */
  dump(): AsyncIterable<Row>;
}
