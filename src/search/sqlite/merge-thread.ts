/**
 * The thread that merges large segments. Each message has the ids of adjacent segments; each response is a
 * FromMergeThread. Its other end is merging.ts.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../core/errors.ts";
import { type ToldError, toldError } from "../../core/told-error.ts";
import { openSqliteViewReader } from "../../projector/sqlite/sqlite-view.ts";
import { searchSchema } from "./schema.ts";
import { mergeSegments } from "./segment-merge.ts";
import { createSegmentReader } from "./segment-store.ts";
import type { BuiltSegment } from "./segment-writer.ts";

export type FromMergeThread =
  /** `built` is undefined if all documents are deleted. Later tombstones than of `turn` remain. */
  | { readonly turn: number; readonly built: BuiltSegment | undefined }
  | { readonly failure: ToldError };

const port = parentPort;
assert(port !== null, "this file is a thread's own");
const path = workerData as string;

function merge(segments: readonly number[]): FromMergeThread {
  const db = openSqliteViewReader(searchSchema, path);
  try {
    db.exec("BEGIN");
    const reader = createSegmentReader(db);
    const { turn } = reader.state();
    const rows = reader.rows().filter(({ id }) => segments.includes(id));
    if (rows.length < segments.length) return { turn: -1, built: undefined };
    return { turn, built: mergeSegments(rows.map(reader.openWhole)) };
  } finally {
    db.close();
  }
}

port.on("message", (segments: readonly number[]) => {
  let message: FromMergeThread;
  try {
    message = merge(segments);
  } catch (error) {
    message = { failure: toldError(error) };
  }
  port.postMessage(message);
});
