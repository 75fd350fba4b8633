/**
 * Batches concurrent reads of a store: the reads of one iteration of the event loop become one
 * request. A response about many entities then takes one round trip for each kind of read.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import DataLoader from "dataloader";

/** Maximum number of reads of a request. */
const readsMax = 1_000;

/**
 * Queries with the same `groupOf` form a batch. `readAll` returns one result per query, in order,
 * or an Error for a single query that fails. If it rejects, all queries of the batch fail.
 */
export function batching<Query, Result>(
  readAll: (queries: readonly Query[]) => Promise<readonly (Result | Error)[]>,
  groupOf: (query: Query) => unknown = () => undefined,
): (query: Query) => Promise<Result> {
  const readGroup = async (queries: readonly Query[]) => {
    try {
      return await readAll(queries);
    } catch (error) {
      return queries.map(() => error as Error);
    }
  };
  const loader = new DataLoader<Query, Result>(
    async (queries) => {
      const results: (Result | Error)[] = [];
      const groups = Map.groupBy(queries.keys(), (n) => groupOf(queries[n] as Query));
      await Promise.all(
        Array.from(groups.values(), async (own) => {
          const found = await readGroup(own.map((n) => queries[n] as Query));
          for (const [i, n] of own.entries()) results[n] = found[i] as Result | Error;
        }),
      );
      return results;
    },
    {
      cache: false,
      maxBatchSize: readsMax,
      batchScheduleFn: (flush) => setImmediate(flush),
    },
  );
  return (query) => loader.load(query);
}

/** Milliseconds of a batch before it yields to other requests. */
const sliceMs = 5;

/**
 * Time-slices the reads of an embedded store, which block the thread: yields to the event loop
 * every few milliseconds.
 */
export const timeSliced = <Query, Result>(
  read: (query: Query) => Promise<Result>,
): ((query: Query) => Promise<Result>) =>
  batching(async (queries) => {
    const results: (Result | Error)[] = [];
    let sliceEnd = performance.now() + sliceMs;
    for (const query of queries) {
      results.push(await read(query).catch((error: Error) => error));
      if (performance.now() < sliceEnd) continue;
      await yieldToEventLoop();
      sliceEnd = performance.now() + sliceMs;
    }
    return results;
  });
