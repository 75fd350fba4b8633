/** The segments of the view as they are in a transaction, with the documents that are deleted. */
import type { DatabaseSync } from "node:sqlite";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import { Segment, type SegmentBytes, type SegmentRow, segmentWith } from "./segment.ts";
import { createSegmentReader, type SegmentReader } from "./segment-store.ts";

export interface Snapshot {
  /** The segments of the transaction that it is called in, in the order of their documents. */
  follow(): readonly Segment[];
}

/** Where the parts of segments are loaded. */
export interface Parts {
  bytesOf(segment: SegmentRow): SegmentBytes;
  /** Only these segments are in use. */
  retain(segments: readonly SegmentRow[]): void;
}

export function createSnapshot(
  db: DatabaseSync,
  openParts: (reader: SegmentReader) => Parts,
): Snapshot {
  const reader = createSegmentReader(db);
  const parts = openParts(reader);
  const selectDeleted = preparingOn(db).arrays<readonly [id: number, urn: string]>(
    "SELECT id, urn FROM tombstone WHERE turn > ?",
  );
  let turn = -1;
  let segments: readonly Segment[] = [];

  function refreshed(before: number): readonly Segment[] {
    const known = new Map(segments.map((segment) => [segment.row.id, segment]));
    const rows = reader.rows();
    const now = rows.map(
      (row) => known.get(row.id) ?? reader.withDeleted(new Segment(row, parts.bytesOf(row))),
    );
    for (const [id, urn] of selectDeleted.all(before)) segmentWith(now, id)?.delete(id, urn);
    parts.retain(rows);
    return now;
  }

  return {
    follow() {
      const now = reader.state().turn;
      if (now !== turn) segments = refreshed(turn);
      turn = now;
      return segments;
    },
  };
}
