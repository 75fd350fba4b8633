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
import type { ServerView } from "../../../storage/view-origin.ts";
import type { AspectSink } from "../aspect-table.ts";
import { createBatchWriter } from "./batch-writer.ts";
import { type Connection, isMissing, openConnections, retrying } from "./postgres-connection.ts";
import {
  discard,
  type Edition,
  gone,
  lockEdition,
  lookForLive,
  prepareView,
  publish,
  resetBeside,
  resetView,
  saveEdition,
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
  let here: Edition | undefined;
  /** Set after it has replaced another generation. */
  let dropOld: (() => Promise<void>) | undefined;
  try {
    here = await retrying(() => prepareView(connections, view));
  } catch (error) {
    await connections.close();
    throw error;
  }

  function forget(): void {
    here = undefined;
    writer.forget();
  }

  function learn(found: Edition): Position {
    if (found.edition !== here?.edition || found.turn !== here.turn) writer.forget();
    here = found;
    return found.position;
  }

  /** The expected generation and position; throws `conflict` after an unexpected change. */
  function place(): Edition {
    if (here === undefined) throw gone(view.name);
    return here;
  }

  /** Runs a transaction that writes from the expected position. */
  async function write(
    work: (connection: Connection, edition: Edition) => Promise<Partial<Edition>>,
  ): Promise<void> {
    const from = place();
    try {
      here = await connections.transaction(async (connection) => {
        const edition = await lock(connection, from, view);
        if (edition.position !== from.position) throw moved(edition.position);
        if (edition.turn !== from.turn) writer.forget();
        const next = { ...edition, ...(await work(connection, edition)), turn: edition.turn + 1 };
        await saveEdition(connection, next, view.model);
        return next;
      });
    } catch (error) {
      // The transaction was rolled back, or may be: its new numbers are not valid.
      writer.forget();
      if (isMissing(error)) {
        forget();
        throw gone(view.name);
      }
      if (error instanceof CatalogError && error.code === "conflict") forget();
      throw error;
    }
  }

  /** The current state of the view; undefined if there is none. */
  async function find(): Promise<Edition | undefined> {
    if (!view.bulk) return lookForLive(connections, view.name);
    try {
      return await connections.transaction((connection) => lock(connection, place(), view));
    } catch (error) {
      throw isMissing(error) ? gone(view.name) : error;
    }
  }

  async function ask(): Promise<Position> {
    if (here === undefined && !view.bulk) {
      return learn(await retrying(() => prepareView(connections, view)));
    }
    const known = place();
    const found = await retrying(find);
    // Another generation, or an earlier position: the projector must not continue from the old one.
    if (found?.edition !== known.edition || found.position < known.position) {
      forget();
      throw gone(view.name);
    }
    return learn(found);
  }

  const inTurn = createTurns(() => {
    if (connections.closed) throw new CatalogError("unavailable", `the view "${VIEW}" is closed`);
  });

  return {
    apply: (writes, upTo, record) =>
      inTurn(async () => {
        const from = place();
        if (upTo <= from.position) return;
        // Evaluates the writes before any statement: an unreadable one stops the batch here.
        const fresh = writes.filter((one) => one.position > from.position);
        await retrying(async (attempt) => {
          if (attempt > 1) {
            // The response to a successful commit may be lost.
            const found = await find();
            const arrived = found?.edition === from.edition && found.position === upTo;
            if (arrived) return void learn(found);
          }
          await write(async (connection, edition) => ({
            lastEntity: await writer.write(connection, edition, fresh),
            position: upTo,
            record,
          }));
        });
      }),

    restore: (urn, writes) =>
      inTurn(async () => {
        // The caches may have the values that are to be repaired.
        writer.forget();
        await write(async (connection, edition) => ({
          lastEntity: await writer.restore(connection, edition, urn, writes),
        }));
      }),

    position: () => inTurn(ask),

    lastRecord: () =>
      inTurn(async () => {
        await ask();
        return here?.record;
      }),

    reset: () =>
      inTurn(async () => {
        const from = view.bulk ? place() : undefined;
        forget();
        here = await retrying(() =>
          from === undefined ? resetView(connections, view) : resetBeside(connections, view, from),
        );
      }),

    staged: () => inTurn(async () => place()),

    publish: (head) =>
      inTurn(async () => {
        if (view.bulk) dropOld ??= await publish(connections, view, { staged: place(), head });
      }),

    async close(outcome = "keep") {
      if (connections.closed) return;
      await inTurn(async () => {
        try {
          if (!view.bulk) return;
          if (outcome === "keep") dropOld ??= await publish(connections, view, { staged: place() });
          if (dropOld !== undefined) await dropOld();
          else if (here !== undefined) await discard(connections, view.name, here);
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
  connection: Connection,
  { tables, edition }: Edition,
  { name, bulk }: ServerView,
): Promise<Edition> {
  const found = await lockEdition(connection, tables);
  if (found?.edition.edition !== edition || (!bulk && !found.live)) throw gone(name);
  return found.edition;
}

const moved = (to: Position): CatalogError =>
  new CatalogError(
    "conflict",
    `the view "${VIEW}" was moved to position ${to} by another projector`,
  );

/** Runs one operation after another, so that each sees the state that the previous one left. */
function createTurns(check: () => void) {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(() => {
      check();
      return work();
    });
    last = mine.catch(() => {});
    return mine;
  };
}
