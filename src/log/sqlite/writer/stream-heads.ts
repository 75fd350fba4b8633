/**
 * Cache of the heads of the log and its streams, for the writer.
 *
 * The cache includes the appends of the running transaction, so `invalidate` must be called when
 * it fails. `refresh` detects commits of other connections.
 */
import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../../core/errors.ts";
import { boundedCache } from "../../../lib/bounded-cache.ts";

/** Maximum number of cached streams: about 10 MB of names and numbers. */
const STREAMS_CACHED_MAX = 30_000;

export interface StreamHead {
  readonly name: string;
  /** Number in the table; 0 for a new stream. */
  id: number;
  /** Revision of the last record; -1 for a new stream. */
  revision: number;
}

export interface AppendResult {
  readonly position: number;
  readonly revision: number;
}

interface StreamHeads {
  /** Position of the log's last record; 0 for an empty log. */
  lastPosition: number;
  find(name: string): StreamHead;
  /** The stream's number; inserts a new stream. */
  number(head: StreamHead): number;
  /** The result of the append with that id, if the stream has it. */
  findAppend(head: StreamHead, id: Uint8Array): AppendResult | undefined;
  /** Call it at the beginning of each transaction. */
  refresh(): void;
  /** Makes the next `refresh` read everything from the database. */
  invalidate(): void;
}

export function createStreamHeads(database: DatabaseSync): StreamHeads {
  const cache = boundedCache<string, StreamHead>(STREAMS_CACHED_MAX);
  // SQLite would order by a column of the result of that name, without an index.
  const selectEnd = database.prepare(
    "SELECT position + count - 1 AS last FROM log ORDER BY position DESC LIMIT 1",
  );
  const selectStream = database.prepare("SELECT id FROM stream WHERE name = ?");
  const selectRevision = database.prepare(
    "SELECT revision + count - 1 AS last FROM log WHERE stream = ? ORDER BY revision DESC LIMIT 1",
  );
  const selectAppend = database.prepare(
    "SELECT position + count - 1 AS position, revision + count - 1 AS revision FROM log WHERE stream = ? AND id = ?",
  );
  const insertStream = database.prepare("INSERT INTO stream (name) VALUES (?)");
  const selectVersion = database.prepare("PRAGMA data_version");
  let version: unknown;

  const heads: StreamHeads = {
    lastPosition: 0,

    find(name) {
      const cached = cache.get(name);
      if (cached !== undefined) return cached;
      const id = Number(selectStream.get(name)?.id ?? 0);
      const revision = id === 0 ? -1 : Number(selectRevision.get(id)?.last ?? -1);
      const head = { name, id, revision };
      cache.set(name, head);
      return head;
    },

    number(head) {
      if (head.id === 0) head.id = Number(insertStream.run(head.name).lastInsertRowid);
      return head.id;
    },

    findAppend(head, id) {
      const row = head.id === 0 ? undefined : selectAppend.get(head.id, id);
      if (row === undefined) return undefined;
      return { position: Number(row.position), revision: Number(row.revision) };
    },

    refresh() {
      // Changes when another connection commits, but not by commits of this one.
      const now = selectVersion.get()?.data_version;
      if (now === version) return;
      cache.clear();
      heads.lastPosition = Number(selectEnd.get()?.last ?? 0);
      assert(Number.isSafeInteger(heads.lastPosition), "positions are exact numbers");
      version = now;
    },

    invalidate() {
      version = undefined;
    },
  };
  return heads;
}
