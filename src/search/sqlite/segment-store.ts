/** Segments in the tables of the view. What is read is compared with its checksum. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { CatalogError } from "../../core/errors.ts";
import { ownCommand } from "../../core/own-command.ts";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import type { Range } from "./bytes.ts";
import { CHUNK_BYTES, searchSchema } from "./schema.ts";
import { Segment, type SegmentDirectory, type SegmentRow } from "./segment.ts";
import type { BuiltSegment } from "./segment-builder.ts";

export interface StoredSegment extends SegmentRow {
  /** The first of its chunks. */
  readonly chunk: number;
  /** CRC-32 of its bytes. */
  readonly content: number;
}

/** The last ids that were given, and how often segments or tombstones have changed. */
export interface StoredState {
  readonly turn: number;
  readonly document: number;
  readonly segment: number;
  readonly chunk: number;
}

type SegmentColumns = readonly [
  ...[id: number, first: number, last: number, bytes: number, chunk: number],
  ...[content: number, directory: string, sum: number],
];

const damaged = (what: string): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" is damaged: ${what}`, {
    hint: `Run: ${ownCommand(`rebuild ${searchSchema.view}`)}`,
  });

const sumOfSegment = (numbers: readonly number[], directory: string): number =>
  crc32(directory, crc32(numbers.join()));

const sumOfChunk = (id: number, bytes: Uint8Array): number => crc32(bytes, crc32(String(id)));

export type SegmentReader = ReturnType<typeof createSegmentReader>;

export function createSegmentReader(db: DatabaseSync) {
  const { arrays, objects } = preparingOn(db);
  const selectState = objects<StoredState>("SELECT turn, document, segment, chunk FROM state");
  const selectIds = arrays<readonly [id: number]>("SELECT id FROM segment ORDER BY first");
  const selectSegment = arrays<SegmentColumns>(
    "SELECT id, first, last, bytes, chunk, content, directory, sum FROM segment WHERE id = ?",
  );
  const selectChunks = arrays<readonly [id: number, bytes: Uint8Array, sum: number]>(
    "SELECT id, bytes, sum FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id",
  );
  const selectDeleted = arrays<readonly [id: number, urn: string]>(
    "SELECT id, urn FROM tombstone WHERE id BETWEEN ? AND ?",
  );

  function readSegment(id: number): StoredSegment {
    const row = selectSegment.get(id);
    if (row === undefined) throw damaged(`segment ${id} is missing`);
    const [, first, last, bytes, chunk, content, directory, sum] = row;
    if (sumOfSegment([id, first, last, bytes, chunk, content], directory) !== sum) {
      throw damaged(`the checksum of segment ${id} does not match`);
    }
    return {
      ...{ id, first, last, bytes, chunk, content },
      directory: JSON.parse(directory) as SegmentDirectory,
    };
  }

  /** Reads a range of a segment into `memory`, which is as long. */
  function readInto(memory: Uint8Array, segment: StoredSegment, [offset, length]: Range): void {
    if (length === 0) return;
    const from = segment.chunk + Math.floor(offset / CHUNK_BYTES);
    const to = segment.chunk + Math.floor((offset + length - 1) / CHUNK_BYTES);
    let end = 0;
    for (const [id, bytes, sum] of selectChunks.iterate(from, to)) {
      if (sumOfChunk(id, bytes) !== sum) {
        throw damaged(`the checksum of chunk ${id} of segment ${segment.id} does not match`);
      }
      const start = (id - segment.chunk) * CHUNK_BYTES;
      const part = bytes.subarray(
        Math.max(0, offset - start),
        Math.min(bytes.length, offset + length - start),
      );
      memory.set(part, end);
      end += part.length;
    }
    if (end !== length) throw damaged(`segment ${segment.id} lacks ${length - end} bytes`);
  }

  return {
    state(): StoredState {
      const state = selectState.get();
      if (state === undefined) throw damaged('the table "state" is empty');
      return state;
    },
    /** In the order of their documents; those that are in `known` already are not read again. */
    segments<S extends { readonly row: SegmentRow }>(
      known: ReadonlyMap<number, S>,
      open: (row: StoredSegment) => S,
    ): readonly S[] {
      return selectIds.all().map(([id]) => known.get(id) ?? open(readSegment(id)));
    },
    /** A segment whose parts only this connection uses. */
    open: (row: StoredSegment): Segment =>
      new Segment(row, (part) => {
        const memory = new Uint8Array(part[1]);
        readInto(memory, row, part);
        return memory;
      }),
    readInto,
    /** Which documents of a segment have a tombstone; undefined if none has. */
    deleted(segment: Segment): Uint8Array | undefined {
      let deleted: Uint8Array | undefined;
      for (const [id, urn] of selectDeleted.all(segment.row.first, segment.row.last)) {
        const doc = segment.docOf(id, urn);
        if (doc < 0) continue;
        deleted ??= new Uint8Array(segment.docs);
        deleted[doc] = 1;
      }
      return deleted;
    },
  };
}

export function createSegmentWriter(db: DatabaseSync) {
  const insertSegment = db.prepare(`
    INSERT INTO segment (id, first, last, bytes, chunk, content, directory, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertChunk = db.prepare("INSERT INTO chunk (id, bytes, sum) VALUES (?, ?, ?)");
  const removeSegment = db.prepare("DELETE FROM segment WHERE id = ?");
  const removeChunks = db.prepare("DELETE FROM chunk WHERE id BETWEEN ? AND ?");
  return {
    /** Stores a segment of documents from `first` to `last`; returns the last ids that it took. */
    add(
      { directory, bytes }: BuiltSegment,
      [first, last]: readonly [first: number, last: number],
      state: Pick<StoredState, "segment" | "chunk">,
    ): Pick<StoredState, "segment" | "chunk"> {
      const id = state.segment + 1;
      const chunk = state.chunk + 1;
      const text = JSON.stringify(directory);
      const numbers = [id, first, last, bytes.length, chunk, crc32(bytes)];
      insertSegment.run(...numbers, text, sumOfSegment(numbers, text));
      let end = state.chunk;
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
        const part = bytes.subarray(from, from + CHUNK_BYTES);
        insertChunk.run(++end, part, sumOfChunk(end, part));
      }
      return { segment: id, chunk: end };
    },
    remove({ id, chunk, bytes }: StoredSegment): void {
      removeSegment.run(id);
      removeChunks.run(chunk, chunk + Math.ceil(bytes / CHUNK_BYTES) - 1);
    },
  };
}
