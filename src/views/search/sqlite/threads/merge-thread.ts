/** The worker thread that merges large segments; merging.ts starts it. */
import { Transfer } from "../../../../core/thread-calls.ts";
import {
  type BackgroundOwner,
  runInBackground,
} from "../../../../projector/thread/background-thread.ts";
import { openSqliteViewReader } from "../../../../storage/sqlite/sqlite-view.ts";
import { searchSchema } from "../schema.ts";
import type { Range } from "../segments/bytes.ts";
import type { BuiltSegment } from "../segments/segment-builder.ts";
import { buildRange, createSegmentReader } from "../segments/segment-store.ts";

/** `path`: the file of the view. `range`: the document ids of the merged segments. */
export interface MergeTask {
  readonly path: string;
  readonly range: Range;
}

/** `built`: undefined if no document is left. `turn`: tombstones of later turns remain. */
export interface Merged {
  readonly turn: number;
  readonly built: BuiltSegment | undefined;
}

runInBackground<MergeTask, Transfer<Merged>, BackgroundOwner<never>>(
  "search merge",
  async ({ path, range }) => {
    const db = openSqliteViewReader(searchSchema, path);
    try {
      db.exec("BEGIN");
      const turn = createSegmentReader(db).turn();
      const built = buildRange(db, range);
      // The copy drops the unused end of the buffer.
      const bytes = new Uint8Array(built?.bytes ?? []);
      return new Transfer({ turn, built: built && { ...built, bytes } }, [bytes.buffer]);
    } finally {
      db.close();
    }
  },
);
