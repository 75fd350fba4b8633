/** The thread of a merge of large segments. Its other end is merging.ts. */
import { workerData } from "node:worker_threads";
import { Transfer } from "../../../../core/thread-calls.ts";
import { openSqliteViewReader } from "../../../../storage/sqlite/sqlite-view.ts";
import { lowerPriority, VIEW_NICENESS } from "../../../../storage/thread-priority.ts";
import { searchSchema } from "../schema.ts";
import type { Range } from "../segments/bytes.ts";
import type { BuiltSegment } from "../segments/segment-builder.ts";
import { buildRange, createSegmentReader } from "../segments/segment-store.ts";
import { serve } from "./thread.ts";

/** `built` is undefined without documents. Tombstones of later turns than `turn` remain. */
export interface Merged {
  readonly turn: number;
  readonly built: BuiltSegment | undefined;
}

const methods = {
  /** Builds a segment of the documents of a range of ids. */
  merge(range: Range): Transfer<Merged> {
    const db = openSqliteViewReader(searchSchema, workerData as string);
    try {
      db.exec("BEGIN");
      const turn = createSegmentReader(db).turn();
      const built = buildRange(db, range);
      // Their buffer is larger than they are.
      const bytes = new Uint8Array(built?.bytes ?? []);
      return new Transfer({ turn, built: built && { ...built, bytes } }, [bytes.buffer]);
    } finally {
      db.close();
    }
  },
};

/** Methods of the thread, as its other end calls them. */
export interface MergeMethods {
  merge(range: Range): Merged;
}

lowerPriority(VIEW_NICENESS);
serve(methods);
