/**
 * A reader thread of the search view. Runs one query at a time, in a read transaction.
 * reader-pool.ts starts the threads.
 */
import type { DatabaseSync } from "node:sqlite";
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import { assert } from "../../../../core/errors.ts";
import { connect } from "../../../../core/thread-calls.ts";
import { openSqliteViewReader, withCatalogErrors } from "../../../../storage/sqlite/sqlite-view.ts";
import type { FolderQuery, SearchQuery } from "../../search.ts";
import { Deadline } from "../query/deadline.ts";
import { createQueryExecutor, type QueryExecutor } from "../query/query-executor.ts";
import { searchSchema } from "../schema.ts";
import { createSegmentReader } from "../segments/segment-store.ts";
import { SharedParts } from "./shared-parts.ts";

export interface SearchThreadData {
  readonly path: string;
  readonly limitMs: number;
  /** The lock and the channel name that all threads of a pool share (shared-parts.ts). */
  readonly lock: SharedArrayBuffer;
  readonly channel: string;
}

const { path, limitMs, lock, channel } = workerData as SearchThreadData;
const parts = new SharedParts(lock, new BroadcastChannel(channel));
const CACHE_KIB = 4 * 1024;
/** Opened by the first query; a failed open is retried by the next one. */
let opened: { readonly db: DatabaseSync; readonly executor: QueryExecutor } | undefined;

function open() {
  const db = openSqliteViewReader(searchSchema, path);
  // Small, because each thread has a connection and all share the cache of the operating system.
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  return { db, executor: createQueryExecutor(db, createSegmentReader(db, parts)) };
}

const inTransaction = <T>(query: (executor: QueryExecutor, deadline: Deadline) => T): T =>
  withCatalogErrors(searchSchema, "read", () => {
    opened ??= open();
    const { db, executor } = opened;
    db.exec("BEGIN");
    try {
      return query(executor, new Deadline(limitMs));
    } finally {
      db.exec("COMMIT");
    }
  });

const methods = {
  search: (query: SearchQuery) =>
    inTransaction((executor, deadline) => executor.search(query, deadline)),
  folders: (query: FolderQuery) =>
    inTransaction((executor, deadline) => executor.folders(query, deadline)),
  documents: (urns: readonly string[]) => inTransaction((executor) => executor.documents(urns)),
};

export type SearchMethods = typeof methods;

assert(parentPort !== null, "this module runs in a thread of its own");
connect(parentPort, methods);
