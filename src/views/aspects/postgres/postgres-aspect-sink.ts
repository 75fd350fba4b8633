/**
 * The sink of the aspect view in PostgreSQL: folds a batch in memory, then writes it with one statement
 * per kind of row, in the transaction that moves the checkpoint.
 *
 * Several processes may write one view by accident. Each transaction locks the generation's row, and
 * moves the checkpoint only from the position that this sink expects. If the position differs, or the
 * view was emptied or rebuilt by another process, the sink throws `conflict` once and clears its
 * caches: the projector must read the position before it continues.
 */
import { CatalogError } from "../../../core/errors.ts";
import type { Position } from "../../../core/position.ts";
import { createConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import type { ServerView } from "../../../storage/view-origin.ts";
import type { AspectSink } from "../aspect-table.ts";
import { createBatchWriter } from "./batch-writer.ts";
import {
  isMissing,
  openConnections,
  type PostgresConnection,
  retrying,
} from "./postgres-connection.ts";
import {
  discard,
  type Generation,
  gone,
  lockGeneration,
  lookForLive,
  prepareView,
  publish,
  resetStaging,
  resetView,
  saveGeneration,
} from "./postgres-view.ts";
import { VIEW } from "./schema.ts";

/** Timeout of a statement: a part of a batch, or dropping the tables of a generation. */
const STATEMENT_MS_MAX = 120_000;

/**
 * Batches have any size, so a cached plan may not fit; and new tables have no statistics. A staging
 * generation becomes durable when it is published.
 */
const SETTINGS = "SET plan_cache_mode = force_custom_plan; SET enable_seqscan = off;";

/** Rejects with `unavailable` for errors of the server, and for tables of a newer release. */
export async function openPostgresAspectSink(view: ServerView): Promise<AspectSink> {
  const connections = openConnections(view, {
    most: 1,
    timeoutMs: STATEMENT_MS_MAX,
    settings: `${SETTINGS} ${view.bulk ? "SET synchronous_commit = off" : ""}`,
  });
  const writer = createBatchWriter();
  let current: Generation | undefined;
  /** Set after it has replaced another generation. */
  let dropOld: (() => Promise<void>) | undefined;
  try {
    current = await retrying(() => prepareView(connections, view));
  } catch (error) {
    await connections.close();
    throw error;
  }

  function invalidate(): void {
    current = undefined;
    writer.clearCaches();
  }

  function accept(found: Generation): Position {
    if (found.uuid !== current?.uuid || found.turn !== current.turn) writer.clearCaches();
    current = found;
    return found.position;
  }

  /** The expected generation and position; throws `conflict` after an unexpected change. */
  function expected(): Generation {
    if (current === undefined) throw gone(view.name);
    return current;
  }

  /** Runs a transaction that writes from the expected position. */
  async function write(
    work: (connection: PostgresConnection, generation: Generation) => Promise<Partial<Generation>>,
  ): Promise<void> {
    const from = expected();
    try {
      current = await connections.transaction(async (connection) => {
        const generation = await lock(connection, from, view);
        if (generation.position !== from.position) throw moved(generation.position);
        if (generation.turn !== from.turn) writer.clearCaches();
        const next = {
          ...generation,
          ...(await work(connection, generation)),
          turn: generation.turn + 1,
        };
        await saveGeneration(connection, next, view.model);
        return next;
      });
    } catch (error) {
      // The transaction was rolled back, or may be: its new numbers are not valid.
      writer.clearCaches();
      if (isMissing(error)) {
        invalidate();
        throw gone(view.name);
      }
      if (error instanceof CatalogError && error.code === "conflict") invalidate();
      throw error;
    }
  }

  /** The current state of the view; undefined if there is none. */
  async function find(): Promise<Generation | undefined> {
    if (!view.bulk) return lookForLive(connections, view.name);
    try {
      return await connections.transaction((connection) => lock(connection, expected(), view));
    } catch (error) {
      throw isMissing(error) ? gone(view.name) : error;
    }
  }

  async function ask(): Promise<Position> {
    if (current === undefined && !view.bulk) {
      return accept(await retrying(() => prepareView(connections, view)));
    }
    const known = expected();
    const found = await retrying(find);
    // Another generation, or an earlier position: the projector must not continue from the old one.
    if (found?.uuid !== known.uuid || found.position < known.position) {
      invalidate();
      throw gone(view.name);
    }
    return accept(found);
  }

  /** Runs one operation after another, so that each sees the state that the previous one left. */
  const serially = createConcurrencyLimit(1);
  const runExclusive = <T>(work: () => Promise<T>): Promise<T> =>
    serially(async () => {
      if (connections.closed) throw new CatalogError("unavailable", `the view "${VIEW}" is closed`);
      return work();
    });

  return {
    apply: (writes, upTo, record) =>
      runExclusive(async () => {
        const from = expected();
        if (upTo <= from.position) return;
        // Evaluates the writes before any statement: an unreadable one stops the batch here.
        const fresh = writes.filter((one) => one.position > from.position);
        await retrying(async (attempt) => {
          if (attempt > 1) {
            // The response to a successful commit may be lost.
            const found = await find();
            const arrived = found?.uuid === from.uuid && found.position === upTo;
            if (arrived) return void accept(found);
          }
          await write(async (connection, generation) => ({
            lastEntity: await writer.write(connection, generation, fresh),
            position: upTo,
            record,
          }));
        });
      }),

    restore: (urn, writes) =>
      runExclusive(async () => {
        // The caches may have the values that are to be repaired.
        writer.clearCaches();
        await write(async (connection, generation) => ({
          lastEntity: await writer.restore(connection, generation, urn, writes),
        }));
      }),

    position: () => runExclusive(ask),

    lastRecord: () =>
      runExclusive(async () => {
        await ask();
        return current?.record;
      }),

    reset: () =>
      runExclusive(async () => {
        const from = view.bulk ? expected() : undefined;
        invalidate();
        current = await retrying(() =>
          from === undefined ? resetView(connections, view) : resetStaging(connections, view, from),
        );
      }),

    staged: () => runExclusive(async () => expected()),

    publish: (head) =>
      runExclusive(async () => {
        if (view.bulk) dropOld ??= await publish(connections, view, { staged: expected(), head });
      }),

    async close(outcome = "keep") {
      if (connections.closed) return;
      await runExclusive(async () => {
        try {
          if (!view.bulk) return;
          if (outcome === "keep")
            dropOld ??= await publish(connections, view, { staged: expected() });
          if (dropOld !== undefined) await dropOld();
          else if (current !== undefined) await discard(connections, view.name, current);
        } catch (error) {
          // Another rebuild has dropped it.
          throw isMissing(error) ? gone(view.name) : error;
        } finally {
          await connections.close();
        }
      });
    },
  };
}

/**
 * Locks the generation's row until the transaction ends. Throws `conflict` if it changed.
 */
async function lock(
  connection: PostgresConnection,
  { tables, uuid }: Generation,
  { name, bulk }: ServerView,
): Promise<Generation> {
  const found = await lockGeneration(connection, tables);
  if (found?.generation.uuid !== uuid || (!bulk && !found.live)) throw gone(name);
  return found.generation;
}

const moved = (to: Position): CatalogError =>
  new CatalogError(
    "conflict",
    `the view "${VIEW}" was moved to position ${to} by another projector`,
  );
