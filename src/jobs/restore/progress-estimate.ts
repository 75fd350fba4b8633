/**
 * An estimate of the rows to restore. Names of entities are listed while the job works, far faster
 * than it reads them; the average of rows per entity so far is used for the rest.
 */
interface ExpectedRows {
  /** The estimate after some entities with their selected rows. */
  of(passed: { readonly rows: number; readonly entities: number }): number;
  /** Stops counting. */
  end(): void;
}

/** `matching`: the urns of all entities that the job reads. */
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
  // The job itself reports an unreadable log.
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
