/**
 * Where the log and its streams end, as the writer knows it: asked of the file once, then kept.
 *
 * What is kept includes what the running transaction has planned, so it is right only as long as
 * that commits; `forget` after a failure. Another connection's commit is noticed by `refresh`.
 */
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { assert } from "../../core/errors.ts";

/** About 10 MB of names and numbers. */
const STREAMS_CACHED_MAX = 30_000;

export interface StreamHead {
  readonly name: string;
  /** Its number in the table; 0: it has none yet. */
  id: number;
  /** Of its last record; -1: it has none. */
  revision: number;
}

export interface Answer {
  readonly position: number;
  readonly revision: number;
}

export interface StreamHeads {
  /** Position of the log's last record; 0: it has none. */
  lastPosition: number;
  find(name: string): StreamHead;
  /** The stream's number, which it gets now if it has none. */
  number(head: StreamHead): number;
  /** The answer to the append of that id, if the stream has it. */
  findAppend(head: StreamHead, id: Uint8Array): Answer | undefined;
  /** To be called at the begin of each transaction. */
  refresh(): void;
  forget(): void;
}

export function createStreamHeads(database: DatabaseSync): StreamHeads {
  const known = new LRUCache<string, StreamHead>({ max: STREAMS_CACHED_MAX });
  const selectEnd = database.prepare(
    "SELECT position + count - 1 AS position FROM log ORDER BY position DESC LIMIT 1",
  );
  const selectStream = database.prepare("SELECT id FROM stream WHERE name = ?");
  const selectRevision = database.prepare(
    "SELECT revision + count - 1 AS revision FROM log WHERE stream = ? ORDER BY revision DESC LIMIT 1",
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
      const cached = known.get(name);
      if (cached !== undefined) return cached;
      const id = Number(selectStream.get(name)?.id ?? 0);
      const revision = id === 0 ? -1 : Number(selectRevision.get(id)?.revision ?? -1);
      const head = { name, id, revision };
      known.set(name, head);
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
      // Changes when another connection has committed; our own commits leave it as it is.
      const now = selectVersion.get()?.data_version;
      if (now === version) return;
      known.clear();
      heads.lastPosition = Number(selectEnd.get()?.position ?? 0);
      assert(Number.isSafeInteger(heads.lastPosition), "positions are exact numbers");
      version = now;
    },

    forget() {
      version = undefined;
    },
  };
  return heads;
}
