/**
 * What the sinks of all SQLite views have in common: writes go through a writer, which may remember
 * what it has found in the tables, and forgets it when they are not what they were.
 */
import type { Position } from "../../core/position.ts";
import type { Sink } from "../sink.ts";
import type { SqliteView } from "./sqlite-view.ts";

export interface SqliteWriter<W> {
  /** Applies writes in a transaction; those at or below the checkpoint are passed over. */
  write(writes: readonly W[], checkpoint: Position): void;
  /** Makes of the entity, in a transaction, what these writes make of none. */
  restore(urn: string, writes: Iterable<W> | AsyncIterable<W>): Promise<void>;
  /** Drops what is known of the tables. */
  forget(): void;
}

export function createSqliteSink<W>(view: SqliteView, writer: SqliteWriter<W>): Sink<W> {
  /** Whether what is restored is part of a transaction that is open. */
  let together = false;

  /** What is remembered may be part of what is to be mended, or of what went back. */
  async function mend(write: () => Promise<void>): Promise<void> {
    writer.forget();
    try {
      await view.mend(write);
    } catch (error) {
      writer.forget();
      throw error;
    }
  }

  return {
    async apply(writes, upTo, record) {
      try {
        view.commit(upTo, (checkpoint) => writer.write(writes, checkpoint), record);
      } catch (error) {
        // The transaction went back: numbers given in it are not taken.
        writer.forget();
        throw error;
      }
    },
    restore(urn, writes) {
      const restore = () => writer.restore(urn, writes);
      return together ? restore() : mend(restore);
    },
    together: (work) =>
      mend(async () => {
        together = true;
        try {
          await work();
        } finally {
          together = false;
        }
      }),
    position: async () => view.position(),
    lastRecord: async () => view.record(),
    async reset() {
      view.reset();
      writer.forget();
    },
    close: async (outcome = "keep") => view.close(outcome),
  };
}
