/** Segments in the tables of the view. Whatever is read is compared with its checksum. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { CatalogError } from "../../../../core/errors.ts";
import { ownCommand } from "../../../../lib/command-hint.ts";
import { preparingOn } from "../../../../storage/sqlite/prepared.ts";
import { CHUNK_BYTES, firstChunk, searchSchema } from "../schema.ts";
import { bytesOf, type Range } from "./bytes.ts";
import { Segment, type SegmentBytes, type SegmentDirectory, type SegmentRow } from "./segment.ts";
import type { BuiltSegment } from "./segment-writer.ts";

/** How often segments or tombstones have changed, and the last id that was given to a document. */
export interface StoredState {
  readonly turn: number;
  readonly document: number;
}

/** Where the parts of segments stay in memory. */
export interface Parts {
  load(segment: SegmentRow, part: Range): Uint8Array;
  /** Only these segments are in use. */
  retain(segments: readonly SegmentRow[]): void;
}

/** Reads a range of a segment into memory that is as long. */
export type ReadInto = (memory: Uint8Array, segment: SegmentRow, range: Range) => void;

type SegmentColumns = readonly [
  ...[first: number, last: number, bytes: number, content: number],
  ...[directory: string, sum: number],
];

const damaged = (what: string): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" is damaged: ${what}`, {
    hint: `Run: ${ownCommand(`rebuild ${searchSchema.view}`)}`,
  });

const sumOfSegment = (numbers: readonly number[], directory: string): number =>
  crc32(directory, crc32(numbers.join()));

const sumOfChunk = (id: number, bytes: Uint8Array): number => crc32(bytes, crc32(String(id)));

export type ShareParts = (readInto: ReadInto) => Parts;

export type SegmentReader = ReturnType<typeof createSegmentReader>;

/** `shareParts`: where readers share the parts of segments; without it each segment has its own. */
export function createSegmentReader(db: DatabaseSync, shareParts?: ShareParts) {
  const { arrays, objects } = preparingOn(db);
  const selectState = objects<StoredState>("SELECT turn, document FROM state");
  const selectIds = arrays<readonly [id: number]>("SELECT id FROM segment ORDER BY first");
  const selectSegment = arrays<SegmentColumns>(
    "SELECT first, last, bytes, content, directory, sum FROM segment WHERE id = ?",
  );
  const selectChunks = arrays<readonly [id: number, bytes: Uint8Array, sum: number]>(
    "SELECT id, bytes, sum FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id",
  );
  const selectDeleted = arrays<readonly [id: number, urn: string]>(
    "SELECT id, urn FROM tombstone WHERE id BETWEEN ? AND ?",
  );
  const selectDeletedAfter = arrays<readonly [id: number, urn: string]>(
    "SELECT id, urn FROM tombstone WHERE turn > ?",
  );
  const parts = shareParts?.(readInto);
  /** Rows that were read before; a row never changes. */
  const known = new Map<number, SegmentRow>();
  let opened: { readonly turn: number; readonly segments: readonly Segment[] } = noneOpened;

  function state(): StoredState {
    const state = selectState.get();
    if (state === undefined) throw damaged('the table "state" is empty');
    return state;
  }

  function readRow(id: number): SegmentRow {
    const row = selectSegment.get(id);
    if (row === undefined) throw damaged(`segment ${id} is missing`);
    const [first, last, bytes, content, directory, sum] = row;
    if (sumOfSegment([first, last, bytes, content], directory) !== sum) {
      throw damaged(`the checksum of segment ${id} does not match`);
    }
    return {
      ...{ id, first, last, bytes, content },
      directory: JSON.parse(directory) as SegmentDirectory,
    };
  }

  function rows(): readonly SegmentRow[] {
    const found = selectIds.all().map(([id]) => known.get(id) ?? readRow(id));
    known.clear();
    for (const row of found) known.set(row.id, row);
    return found;
  }

  function readInto(memory: Uint8Array, segment: SegmentRow, [offset, length]: Range): void {
    if (length === 0) return;
    const base = firstChunk(segment.id);
    const first = base + Math.floor(offset / CHUNK_BYTES);
    const last = base + Math.floor((offset + length - 1) / CHUNK_BYTES);
    let end = 0;
    for (const [id, bytes, sum] of selectChunks.iterate(first, last)) {
      if (sumOfChunk(id, bytes) !== sum) {
        throw damaged(`the checksum of chunk ${id} of segment ${segment.id} does not match`);
      }
      const start = (id - base) * CHUNK_BYTES;
      const to = Math.min(bytes.length, offset + length - start);
      const part = bytes.subarray(Math.max(0, offset - start), to);
      memory.set(part, end);
      end += part.length;
    }
    if (end !== length) throw damaged(`segment ${segment.id} lacks ${length - end} bytes`);
  }

  function read(segment: SegmentRow, range: Range): Uint8Array {
    const memory = new Uint8Array(range[1]);
    readInto(memory, segment, range);
    return memory;
  }

  function segmentBytes(row: SegmentRow): SegmentBytes {
    const load = (part: Range) => parts?.load(row, part) ?? read(row, part);
    // A small segment is loaded whole.
    if (row.bytes <= CHUNK_BYTES) return inMemory(load([0, row.bytes]));
    return { load, read: (range) => read(row, range) };
  }

  /** Opens a segment, and marks its documents that have a tombstone. */
  function open(row: SegmentRow, bytes: SegmentBytes): Segment {
    const segment = new Segment(row, bytes);
    for (const [id, urn] of selectDeleted.all(row.first, row.last)) segment.delete(id, urn);
    return segment;
  }

  return {
    state,
    /** In the order of their documents. */
    rows,
    /** The segments of the transaction in the order of their documents, with those that are deleted. */
    segments(): readonly Segment[] {
      const { turn } = state();
      if (turn === opened.turn) return opened.segments;
      const before = new Map(opened.segments.map((segment) => [segment.row.id, segment]));
      for (const [id, urn] of before.size === 0 ? [] : selectDeletedAfter.all(opened.turn)) {
        for (const segment of opened.segments) segment.delete(id, urn);
      }
      const now = rows();
      const segments = now.map((row) => before.get(row.id) ?? open(row, segmentBytes(row)));
      parts?.retain(now);
      opened = { turn, segments };
      return segments;
    },
    /** A segment for one use, with all its bytes in memory. */
    openWhole: (row: SegmentRow): Segment => open(row, inMemory(read(row, [0, row.bytes]))),
    read,
    /** Releases the memory of the segments. */
    release(): void {
      opened = noneOpened;
    },
    /** Forgets rows as well: ids of a transaction that is rolled back are given again. */
    forget(): void {
      opened = noneOpened;
      known.clear();
    },
  };
}

const noneOpened = { turn: -1, segments: [] };

function inMemory(memory: Uint8Array): SegmentBytes {
  const read = (range: Range) => bytesOf(memory, range);
  return { load: read, read };
}

export function createSegmentWriter(db: DatabaseSync) {
  const insertSegment = db.prepare(`
    INSERT INTO segment (first, last, bytes, content, directory, sum) VALUES (?, ?, ?, ?, ?, ?)`);
  const insertChunk = db.prepare("INSERT INTO chunk (id, bytes, sum) VALUES (?, ?, ?)");
  const removeSegment = db.prepare("DELETE FROM segment WHERE id = ?");
  const removeChunks = db.prepare("DELETE FROM chunk WHERE id BETWEEN ? AND ?");
  return {
    /** Stores a segment of documents from `first` to `last`. */
    add(
      { directory, bytes }: BuiltSegment,
      [first, last]: readonly [first: number, last: number],
    ): void {
      const text = JSON.stringify(directory);
      const numbers = [first, last, bytes.length, crc32(bytes)];
      const added = insertSegment.run(...numbers, text, sumOfSegment(numbers, text));
      let chunk = firstChunk(Number(added.lastInsertRowid));
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
        const part = bytes.subarray(from, from + CHUNK_BYTES);
        insertChunk.run(chunk, part, sumOfChunk(chunk, part));
        chunk++;
      }
    },
    remove({ id }: SegmentRow): void {
      removeSegment.run(id);
      removeChunks.run(firstChunk(id), firstChunk(id + 1) - 1);
    },
  };
}
