/**
 * The aspect view's writing side in PostgreSQL: a batch is folded in memory, then written with one
 * statement for each kind of row, in the transaction that moves the checkpoint.
 *
 * Several may write one view by accident. Each transaction holds the generation's row, and moves
 * the checkpoint only from where this sink knows it to be. Where it is elsewhere, or the view was
 * emptied or regrown behind the sink's back, the sink throws `conflict` once and forgets what it
 * knows: whoever feeds it must ask for the position before it goes on.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { ServerView } from "../../projector/view-origin.ts";
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

/** Of one statement: a part of a batch, or the tables of a generation to drop. */
const STATEMENT_MS_MAX = 120_000;

/**
 * Batches are of any size, so that a plan fits only the one that it was made for; and tables that
 * grew a moment ago have no statistics. What is regrown is made durable when it is done.
 */
const SETTINGS = "SET plan_cache_mode = force_custom_plan; SET enable_seqscan = off;";

/** Rejects `unavailable` when the server cannot be reached or refuses, or a newer release was here. */
export async function openPostgresAspectSink(view: ServerView): Promise<AspectSink> {
  const connections = openConnections(view, {
    most: 1,
    timeoutMs: STATEMENT_MS_MAX,
    settings: `${SETTINGS} ${view.bulk ? "SET synchronous_commit = off" : ""}`,
  });
  const writer = createBatchWriter();
  let here: Edition | undefined;
  /** Once it has taken the place of another. */
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

  /** The place that is known; throws `conflict` when what was known has gone. */
  function place(): Edition {
    if (here === undefined) throw gone(view.name);
    return here;
  }

  /** One transaction that writes from where the view is known to be. */
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
      // The transaction went back, or may have: numbers given in it are not taken.
      writer.forget();
      if (isMissing(error)) {
        forget();
        throw gone(view.name);
      }
      if (error instanceof CatalogError && error.code === "conflict") forget();
      throw error;
    }
  }

  /** Where the view is now; undefined when there is none. */
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
    // Another, or gone back: whoever feeds the view must not go on from where it was.
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
        // Read before anything is sent: one that cannot be read stops the batch here.
        const fresh = writes.filter((one) => one.position > from.position);
        await retrying(async (attempt) => {
          if (attempt > 1) {
            // The answer to a commit may be lost, and the commit not.
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
        // What is remembered may be part of what is to be mended.
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

    grown: () => inTurn(async () => place()),

    publish: (head) =>
      inTurn(async () => {
        if (view.bulk) dropOld ??= await publish(connections, view, { grown: place(), head });
      }),

    async close(outcome = "keep") {
      if (connections.closed) return;
      await inTurn(async () => {
        try {
          if (!view.bulk) return;
          if (outcome === "keep") dropOld ??= await publish(connections, view, { grown: place() });
          if (dropOld !== undefined) await dropOld();
          else if (here !== undefined) await discard(connections, view.name, here);
        } catch (error) {
          // Another bulk has cleared it away.
          throw isMissing(error) ? gone(view.name) : error;
        } finally {
          await connections.close();
        }
      });
    },
  };
}

/**
 * The generation's row, held until the transaction ends. Throws `conflict` when it is not as it
 * was.
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

/** One operation after the other: what is known of the view is true for the next. */
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
