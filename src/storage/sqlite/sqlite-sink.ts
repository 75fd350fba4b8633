/**
 * The sink of a SQLite view. Its writer may cache rows; the cache is cleared after a failed
 * transaction and around restores.
 */
import type { Position } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";
import type { SqliteView } from "./sqlite-view.ts";

export interface SqliteWriter<W> {
  /** Applies writes in a transaction; skips those at or below the checkpoint. */
  write(writes: readonly W[], checkpoint: Position): void;
  /** Replaces the rows of the entity by those that the writes make; in a transaction. */
  restore(urn: string, writes: Iterable<W> | AsyncIterable<W>): Promise<void>;
  /** Called before the commit of a transaction of restores. */
  endRestores?(): void;
  /** Clears the cache. */
  clearCache(): void;
}

export function createSqliteSink<W>(view: SqliteView, writer: SqliteWriter<W>): Sink<W> {
  /** Restores are part of an open transaction. */
  let inOpenTransaction = false;

  /** Clears the cache before the restore, and after one that was rolled back. */
  async function clearingCache(restores: () => Promise<void>): Promise<void> {
    writer.clearCache();
    try {
      await view.amend(async () => {
        await restores();
        writer.endRestores?.();
      });
    } catch (error) {
      writer.clearCache();
      throw error;
    }
  }

  return {
    async apply(writes, upTo, record) {
      try {
        view.commit(upTo, (checkpoint) => writer.write(writes, checkpoint), record);
      } catch (error) {
        // The transaction was rolled back: the ids that it assigned are free.
        writer.clearCache();
        throw error;
      }
    },
    restore(urn, writes) {
      const restore = () => writer.restore(urn, writes);
      return inOpenTransaction ? restore() : clearingCache(restore);
    },
    inTransaction: (work) =>
      clearingCache(async () => {
        inOpenTransaction = true;
        try {
          await work();
        } finally {
          inOpenTransaction = false;
        }
      }),
    position: async () => view.position(),
    lastRecord: async () => view.record(),
    async reset() {
      view.reset();
      writer.clearCache();
    },
    close: async (outcome = "keep") => view.close(outcome),
  };
}
