/**
 * Writes segments and tombstones. The new documents of a batch are flushed to a segment at its end;
 * in a bulk load (`bulk`), a segment takes the documents of many batches. A merge rebuilds adjacent
 * segments as one: small segments in the transaction of a batch, large ones in a thread.
 */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { collectGarbage } from "../../../lib/collect-garbage.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { Scope } from "../search.ts";
import { Deadline } from "./query/deadline.ts";
import { createQueryExecutor } from "./query/query-executor.ts";
import type { Range } from "./segments/bytes.ts";
import type { SegmentRow } from "./segments/segment.ts";
import type { BuiltSegment } from "./segments/segment-builder.ts";
import { buildRange, createSegmentReader, createSegmentWriter } from "./segments/segment-store.ts";
import {
  dueFull,
  dueMerge,
  dueRewrite,
  type Merge,
  rangeOf,
  startMerge,
} from "./threads/merging.ts";

/** JSON bytes per new segment, which limit the memory of a build. */
const JSON_BYTES_MAX = 8 * 1024 * 1024;
const BULK_JSON_BYTES_MAX = 48 * 1024 * 1024;
/** Segments of up to this size are merged within a batch. */
const INLINE_BYTES_MAX = 256 * 1024;
/** Page size of `holding`. */
const HOLDERS_MAX = 1_000;
/** Maximum wait of a batch for a running merge. */
const MERGE_WAIT_MS = 5;
/** Pause after a merge: the next one has more segments, so documents are merged less often. */
const MERGE_PAUSE_MS = 5_000;

type Amend = (write: () => void) => Promise<void>;

export type IndexWriter = ReturnType<typeof createIndexWriter>;

export function createIndexWriter(db: DatabaseSync, bulk: boolean) {
  const { arrays } = preparingOn(db);
  const reader = createSegmentReader(db);
  const executor = createQueryExecutor(db, reader);
  const writer = createSegmentWriter(db);
  const nextTurn = db.prepare("UPDATE state SET turn = turn + 1");
  const insertTombstone = db.prepare(
    "INSERT OR REPLACE INTO tombstone (id, urn, turn) SELECT ?, ?, turn FROM state",
  );
  const dropTombstones = db.prepare("DELETE FROM tombstone WHERE id BETWEEN ? AND ? AND turn <= ?");
  const countTombstones = arrays<readonly [number]>(
    "SELECT count(*) FROM tombstone WHERE id BETWEEN ? AND ?",
  );
  const selectSizes = arrays<readonly [id: number, bytes: number]>(
    "SELECT id, octet_length(json) FROM document WHERE id > ? ORDER BY id",
  );
  /** Upper bound of the JSON bytes that are not flushed; unknown after a start. */
  let pendingBytes = Infinity;
  let merge: Merge | undefined;
  let nextMergeAt = 0;

  /** Replaces segments by the one built from their documents; drops tombstones up to `turn`. */
  function replace(
    rows: readonly SegmentRow[],
    built: BuiltSegment | undefined,
    turn = reader.turn(),
    [first, last] = rangeOf(rows),
  ): void {
    for (const { id } of rows) writer.remove(id);
    dropTombstones.run(first, last, turn);
    if (built !== undefined) writer.add(built, [first, last]);
    nextTurn.run();
  }

  /** Flushes new documents to segments; without `all`, only full segments. */
  function flush(all = !bulk): void {
    const bytesMax = bulk ? BULK_JSON_BYTES_MAX : JSON_BYTES_MAX;
    while (all || pendingBytes >= bytesMax) {
      const after = writer.lastId();
      let last = after;
      let bytes = 0;
      for (const [id, length] of selectSizes.iterate(after)) {
        last = id;
        bytes += length;
        if (bytes >= bytesMax) break;
      }
      pendingBytes = bytes;
      const range: Range = [after + 1, last];
      const isDue = last > after && (all || bytes >= bytesMax);
      const built = isDue ? buildRange(db, range) : undefined;
      if (built === undefined) return;
      replace([], built, reader.turn(), range);
      if (!bulk) mergeSmall();
    }
  }

  function mergeSmall(): void {
    for (;;) {
      const limits = { bytesMax: INLINE_BYTES_MAX, busy: merge?.segments };
      const due = dueMerge(reader.rows(), limits);
      if (due === undefined) return;
      replace(due, buildRange(db, rangeOf(due)));
    }
  }

  function dueLarge(): readonly SegmentRow[] | undefined {
    const rows = reader.rows();
    const deletedIn = ({ first, last }: SegmentRow) => numberOf(countTombstones, first, last);
    return dueMerge(rows) ?? dueFull(rows) ?? dueRewrite(rows, deletedIn);
  }

  /** Stores the result of a merge, unless a reset has removed its segments. */
  async function storeMerge({ segments, merged }: Merge, amend: Amend): Promise<void> {
    const { built, turn } = await merged;
    await amend(() => {
      const rows = reader.rows().filter(({ id }) => segments.includes(id));
      if (rows.length < segments.length) return;
      replace(rows, built, turn);
    });
    // The heap and the page cache each still hold a copy of the segment.
    collectGarbage();
    db.exec("PRAGMA shrink_memory");
  }

  return {
    addBytes(bytes: number): void {
      pendingBytes += bytes;
    },
    /** Adds a tombstone for a document version; a segment may contain it. */
    addTombstone(id: number, urn: string): void {
      nextTurn.run();
      insertTombstone.run(id, urn);
    },
    versionsOf: reader.versionsOf,
    release: reader.release,
    flush,
    /** Starts a merge of large segments, or stores its result. False without segments to merge. */
    async mergeLarge(amend: Amend): Promise<boolean> {
      if (merge === undefined) {
        const due = dueLarge();
        if (due === undefined) return false;
        if (performance.now() < nextMergeAt) await delay(MERGE_WAIT_MS);
        else merge = startMerge(db.location() ?? "", due);
        return true;
      }
      const waited = delay(MERGE_WAIT_MS, "waited");
      const running = merge;
      if ((await Promise.race([running.merged.catch(() => {}), waited])) === "waited") return true;
      merge = undefined;
      nextMergeAt = performance.now() + MERGE_PAUSE_MS;
      try {
        await storeMerge(running, amend);
      } catch (error) {
        reader.release();
        throw error;
      }
      return true;
    },
    /** A page of the urns of a type whose documents have a value of one of the fields, in order. */
    holding(entityType: string, fields: readonly string[], from?: string) {
      const scope: Scope = {
        entityTypes: [entityType],
        expression: { kind: "all" },
        condition: { kind: "any", any: fields.map((field) => ({ kind: "exists", field })) },
      };
      const after = from === undefined ? undefined : [1, from];
      const page = { sort: [], start: 0, count: HOLDERS_MAX, after, facets: [] };
      const { hits } = executor.search({ ...scope, ...page }, new Deadline(Infinity));
      reader.release();
      const urns = hits.map(({ urn }) => urn);
      return urns.length < HOLDERS_MAX ? { urns } : { urns, next: urns.at(-1) };
    },
    close: () => merge?.end(),
  };
}
