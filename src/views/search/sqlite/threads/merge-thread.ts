/** The thread that merges large segments. Its other end is merging.ts. */
import { workerData } from "node:worker_threads";
import { Transfer } from "../../../../core/thread-calls.ts";
import { openSqliteViewReader } from "../../../../storage/sqlite/sqlite-view.ts";
import { searchSchema } from "../schema.ts";
import { mergeSegments } from "../segments/segment-merge.ts";
import { createSegmentReader } from "../segments/segment-store.ts";
import type { BuiltSegment } from "../segments/segment-writer.ts";
import { answerQuestions } from "./thread.ts";

/** `built` is undefined if all documents are deleted. Tombstones of later turns than `turn` remain. */
export interface Merged {
  readonly turn: number;
  readonly built: BuiltSegment | undefined;
}

/** The question has the ids of adjacent segments. If one no longer exists, nobody uses the answer. */
answerQuestions((segments: readonly number[]): Merged | Transfer<Merged> => {
  const db = openSqliteViewReader(searchSchema, workerData as string);
  try {
    db.exec("BEGIN");
    const reader = createSegmentReader(db);
    const { turn } = reader.state();
    const rows = reader.rows().filter(({ id }) => segments.includes(id));
    const built = mergeSegments(rows.map(reader.openWhole));
    if (built === undefined) return { turn, built };
    // Their buffer is larger than they are.
    const bytes = new Uint8Array(built.bytes);
    return new Transfer({ turn, built: { ...built, bytes } }, [bytes.buffer]);
  } finally {
    db.close();
  }
});
