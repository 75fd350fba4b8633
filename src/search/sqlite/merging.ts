/**
 * Merging the segments of the index. FTS5 would merge within the batch that brings a segment too
 * many: a tenth of a second now and then, in which nothing that is written comes into the view. So
 * it is put off and done in parts between the batches (Sink.tidy). Should there ever be no time for
 * it, FTS5 itself merges a level of SEGMENTS_MAX segments (schema.ts).
 */
import type { SqliteView } from "../../projector/sqlite/sqlite-view.ts";
import { MERGED_SEGMENTS } from "./schema.ts";

export interface Merging {
  /** There may be a segment more. */
  grown(): void;
  /** Merges a part in a transaction of its own; tells whether there is more. */
  step(): Promise<boolean>;
}

/** Leaves of the index that a command merges, each of a page. */
const COMMAND_LEAVES = 16;
/** After so long others have their turn. */
const STEP_MS = 5;
/** A command that finds nothing to merge still counts as one change. */
const MERGED_CHANGES_MIN = 2;

export function createMerging(view: SqliteView): Merging {
  const { db } = view;
  setOption(db, "automerge", 0);
  setOption(db, "usermerge", MERGED_SEGMENTS);
  const merge = db.prepare(`INSERT INTO term (term, rank) VALUES ('merge', ${COMMAND_LEAVES})`);
  const countChanges = db.prepare("SELECT total_changes() AS changes");
  const changes = (): number => Number(countChanges.get()?.changes);
  // The last process may have left something.
  let more = true;

  function mergeSome(): boolean {
    const before = changes();
    merge.run();
    return changes() - before >= MERGED_CHANGES_MIN;
  }

  return {
    grown() {
      more = true;
    },
    async step() {
      if (!more) return false;
      await view.mend(() => {
        const begun = performance.now();
        do more = mergeSome();
        while (more && performance.now() - begun < STEP_MS);
      });
      return more;
    },
  };
}

/** The file keeps it: it is written only where it is another. */
function setOption(db: SqliteView["db"], name: string, value: number): void {
  const found = db.prepare("SELECT v FROM term_config WHERE k = ?").get(name);
  if (found?.v === value) return;
  db.exec(`INSERT INTO term (term, rank) VALUES ('${name}', ${value})`);
}
