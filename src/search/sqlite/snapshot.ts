/** The segments of the view as they are in a transaction, and which of their documents are deleted. */
import type { DatabaseSync } from "node:sqlite";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import { type LoadPart, Segment, segmentWith } from "./segment.ts";
import { createSegmentReader, type SegmentReader, type StoredSegment } from "./segment-store.ts";

export interface LiveSegment {
  readonly row: StoredSegment;
  readonly segment: Segment;
  /** 1 for each document that is deleted. */
  deleted: Uint8Array | undefined;
}

export interface Snapshot {
  readonly reader: SegmentReader;
  /** The segments of the transaction that it is called in, in the order of their documents. */
  follow(): readonly LiveSegment[];
}

/** Where the parts of segments are loaded. */
export interface Parts {
  loaderOf(segment: StoredSegment): LoadPart;
  /** Only these segments are in use. */
  retain(segments: readonly StoredSegment[]): void;
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
  let segments: readonly LiveSegment[] = [];

  function refreshed(before: number): readonly LiveSegment[] {
    const known = new Map(segments.map((one) => [one.row.id, one]));
    const now = reader.segments(known, (row): LiveSegment => {
      const segment = new Segment(row, parts.loaderOf(row));
      return { row, segment, deleted: reader.deleted(segment) };
    });
    for (const [id, urn] of selectDeleted.all(before)) {
      const one = segmentWith(now, id);
      const doc = one?.segment.docOf(id, urn) ?? -1;
      if (one === undefined || doc < 0) continue;
      one.deleted ??= new Uint8Array(one.segment.docs);
      one.deleted[doc] = 1;
    }
    parts.retain(now.map(({ row }) => row));
    return now;
  }

  return {
    reader,
    follow() {
      const now = reader.state().turn;
      if (now !== turn) {
        segments = refreshed(turn);
        turn = now;
      }
      return segments;
    },
  };
}
