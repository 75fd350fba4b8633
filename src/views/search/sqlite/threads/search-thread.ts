/**
 * A reader thread of the search view: one query at a time, each in a read transaction. Its other end is
 * reader-pool.ts.
 */
import type { DatabaseSync } from "node:sqlite";
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import { assert } from "../../../../core/errors.ts";
import { connect } from "../../../../core/thread-calls.ts";
import { openSqliteViewReader, withCatalogErrors } from "../../../../storage/sqlite/sqlite-view.ts";
import type { FolderQuery, SearchQuery } from "../../search.ts";
import { type Answers, createAnswers } from "../query/answers.ts";
import { Deadline } from "../query/deadline.ts";
import { searchSchema } from "../schema.ts";
import { createSegmentReader } from "../segments/segment-store.ts";
import { SharedParts } from "./shared-parts.ts";

export interface SearchThreadData {
  readonly path: string;
  readonly limitMs: number;
  /** The threads of a reader share a lock and the name of a channel (shared-parts.ts). */
  readonly lock: SharedArrayBuffer;
  readonly channel: string;
}

const { path, limitMs, lock, channel } = workerData as SearchThreadData;
const parts = new SharedParts(lock, new BroadcastChannel(channel));
const CACHE_KIB = 4 * 1024;
/** A view that cannot be opened now may be there for the next query. */
let opened: { readonly db: DatabaseSync; readonly answers: Answers } | undefined;

function open() {
  const db = openSqliteViewReader(searchSchema, path);
  // Each thread has a connection; the operating system caches the pages for all of them.
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  return { db, answers: createAnswers(db, createSegmentReader(db, parts)) };
}

const ask = <T>(question: (answers: Answers, deadline: Deadline) => T): T =>
  withCatalogErrors(searchSchema, "read", () => {
    opened ??= open();
    const { db, answers } = opened;
    db.exec("BEGIN");
    try {
      return question(answers, new Deadline(limitMs));
    } finally {
      db.exec("COMMIT");
    }
  });

const methods = {
  search: (query: SearchQuery) => ask((answers, deadline) => answers.search(query, deadline)),
  folders: (query: FolderQuery) => ask((answers, deadline) => answers.folders(query, deadline)),
  documents: (urns: readonly string[]) => ask((answers) => answers.documents(urns)),
};

export type SearchMethods = typeof methods;

assert(parentPort !== null, "this module runs in a thread of its own");
connect(parentPort, methods);
