/**
 * How many rows there are to restore, as far as that can be known before they were read: names of
 * entities are listed beside the work, far faster than it reads them, and those that are still to
 * come are taken to have as many rows as those that came.
 */
export interface ExpectedRows {
  /** Rows that were selected, and the entities that were looked at for them. */
  of(passed: { readonly rows: number; readonly entities: number }): number;
  /** Nothing is counted any more. */
  end(): void;
}

/** `matching`: the urns of all entities that will be looked at. */
export function expectRows(
  matching: AsyncIterable<string>,
  { start = 0, limit }: { readonly start?: number | undefined; readonly limit: number },
): ExpectedRows {
  let entities = 0;
  let ended = false;

  async function count(): Promise<void> {
    for await (const _ of matching) {
      if (ended) return;
      entities++;
    }
  }
  // A log that cannot be read is told by the work itself.
  void count().catch(() => {});

  return {
    of(passed) {
      const left = Math.max(0, entities - passed.entities);
      const perEntity = passed.entities === 0 ? 1 : passed.rows / passed.entities;
      const rows = Math.max(0, passed.rows + Math.round(left * perEntity) - start);
      return limit > 0 ? Math.min(limit, rows) : rows;
    },
    end() {
      ended = true;
    },
  };
}
