/** The thread of a merge of large segments. Its other end is merging.ts. */
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

/** Builds a segment of the documents of a range of ids. `path`: the file of the view. */
export interface MergeTask {
  readonly path: string;
  readonly range: Range;
}

/** `built` is undefined without documents. Tombstones of later turns than `turn` remain. */
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
      // Their buffer is larger than they are.
      const bytes = new Uint8Array(built?.bytes ?? []);
      return new Transfer({ turn, built: built && { ...built, bytes } }, [bytes.buffer]);
    } finally {
      db.close();
    }
  },
);
