/** Reads all rows of a view, so that tests can compare views. */

export interface Dump<Row> {
  /**
   * All rows, in an order that depends only on the rows. Rows omit ids that the store assigns, so a
   * rebuilt view has the same dump as the live one.
   */
  dump(): AsyncIterable<Row>;
}
