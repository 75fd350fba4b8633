/** Segments in the tables of the view. Each read verifies checksums. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { CatalogError } from "../../../../core/errors.ts";
import { ownCommand } from "../../../../lib/command-hint.ts";
import { numberOf, preparingOn } from "../../../../storage/sqlite/prepared.ts";
import type { SearchDocument } from "../../search.ts";
import { decodeDocument } from "../../stored-document.ts";
import { CHUNK_BYTES, firstChunk, searchSchema } from "../schema.ts";
import type { SharedParts } from "../threads/shared-parts.ts";
import { bytesOf, type Range } from "./bytes.ts";
import { Segment, type SegmentBytes, type SegmentDirectory, type SegmentRow } from "./segment.ts";
import { type BuiltSegment, buildSegment } from "./segment-builder.ts";

const damaged = (what: string): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" is damaged: ${what}`, {
    hint: `Run: ${ownCommand(`rebuild ${searchSchema.view}`)}`,
  });

const sumOfSegment = (
  { first, last, docs, bytes, content }: Omit<SegmentRow, "id">,
  directory: string,
): number => crc32(directory, crc32([first, last, docs, bytes, content].join()));

const sumOfChunk = (id: number, bytes: Uint8Array): number => crc32(bytes, crc32(String(id)));

/**
 * Builds a segment from the documents of a range of ids. Skips a damaged document: it must not
 * block later writes, and verification reports it.
 */
export function buildRange(db: DatabaseSync, [first, last]: Range): BuiltSegment | undefined {
  const { arrays } = preparingOn(db);
  const selectUrns = arrays<readonly [id: number, urn: string]>(
    "SELECT id, urn FROM document WHERE id BETWEEN ? AND ?",
  );
  const selectJson = arrays<readonly [json: string]>("SELECT json FROM document WHERE id = ?");
  const inOrder = selectUrns.all(first, last).sort(([, a], [, b]) => (a < b ? -1 : 1));
  // One document at a time: all documents take several times the memory of their segment.
  function* documents() {
    for (const [id, urn] of inOrder) {
      const document = decoded(urn, selectJson.get(id)?.[0] ?? "");
      if (document !== undefined) yield { id, document };
    }
  }
  return buildSegment(documents());
}

function decoded(urn: string, json: string): SearchDocument | undefined {
  try {
    return decodeDocument(urn, json);
  } catch {
    return undefined;
  }
}

export type SegmentReader = ReturnType<typeof createSegmentReader>;

/** `parts`: the memory that reader threads share. */
export function createSegmentReader(
  db: DatabaseSync,
  parts?: Pick<SharedParts, "load" | "retain">,
) {
  const { arrays, objects } = preparingOn(db);
  const selectTurn = arrays<readonly [number]>("SELECT turn FROM state");
  const selectRows = objects<SegmentRow>(
    "SELECT id, first, last, docs, bytes, content FROM segment ORDER BY first",
  );
  const selectDirectory = arrays<readonly [directory: string, sum: number]>(
    "SELECT directory, sum FROM segment WHERE id = ?",
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
  let cached: { readonly turn: number; readonly segments: readonly Segment[] } = emptyCache;

  /** The version of the segments and tombstones. */
  function turn(): number {
    const turn = selectTurn.get()?.[0];
    if (turn === undefined) throw damaged('the table "state" is empty');
    return turn;
  }

  function read(segment: SegmentRow, [offset, length]: Range): Uint8Array {
    const memory = new Uint8Array(length);
    if (length === 0) return memory;
    const base = firstChunk(segment.id);
    const first = base + Math.floor(offset / CHUNK_BYTES);
    const last = base + Math.floor((offset + length - 1) / CHUNK_BYTES);
    let end = 0;
    for (const [id, bytes, sum] of selectChunks.iterate(first, last)) {
      if (sumOfChunk(id, bytes) !== sum) {
        throw damaged(`the checksum of chunk ${id} of segment ${segment.id} does not match`);
      }
      const start = (id - base) * CHUNK_BYTES;
      const part = bytes.subarray(Math.max(0, offset - start), offset + length - start);
      memory.set(part, end);
      end += part.length;
    }
    if (end !== length) throw damaged(`segment ${segment.id} lacks ${length - end} bytes`);
    return memory;
  }

  function bytesOfSegment(row: SegmentRow): SegmentBytes {
    const load = (part: Range) =>
      parts === undefined ? read(row, part) : parts.load(row, part, () => read(row, part));
    if (row.bytes > CHUNK_BYTES) return { load, read: (range) => read(row, range) };
    // A segment of one chunk is loaded as a whole.
    const memory = load([0, row.bytes]);
    const part = (range: Range) => bytesOf(memory, range);
    return { load: part, read: part };
  }

  /** Opens a segment without its tombstones. */
  function openAll(row: SegmentRow): Segment {
    const [text, sum] = selectDirectory.get(row.id) ?? ["", undefined];
    if (sumOfSegment(row, text) !== sum) {
      throw damaged(`the checksum of segment ${row.id} does not match`);
    }
    return new Segment(row, JSON.parse(text) as SegmentDirectory, bytesOfSegment(row));
  }

  function open(row: SegmentRow): Segment {
    const segment = openAll(row);
    for (const [id, urn] of selectDeleted.all(row.first, row.last)) segment.delete(id, urn);
    return segment;
  }

  return {
    turn,
    /** Rows of the segments in the order of their ids. */
    rows: () => selectRows.all(),
    /** The segments as of the open transaction, with their tombstones. */
    segments(): readonly Segment[] {
      const now = turn();
      if (now === cached.turn) return cached.segments;
      const before = new Map(cached.segments.map((segment) => [segment.row.id, segment]));
      for (const [id, urn] of before.size === 0 ? [] : selectDeletedAfter.all(cached.turn)) {
        for (const segment of cached.segments) segment.delete(id, urn);
      }
      const rows = selectRows.all();
      const segments = rows.map((row) => before.get(row.id) ?? open(row));
      parts?.retain(rows);
      cached = { turn: now, segments };
      return segments;
    },
    /** Ids of all versions of the entities' documents in the segments, deleted or not. */
    *versionsOf(urns: readonly string[]): Iterable<readonly [id: number, urn: string]> {
      for (const row of selectRows.all()) {
        const segment = openAll(row);
        for (const urn of urns) {
          const doc = segment.urns.find(urn);
          if (doc >= 0) yield [segment.idOf(doc), urn];
        }
      }
    },
    read,
    /** Empties the cache. Required after a rollback, because its ids are assigned again. */
    release(): void {
      cached = emptyCache;
    },
  };
}

const emptyCache = { turn: -1, segments: [] };

export function createSegmentWriter(db: DatabaseSync) {
  const { arrays } = preparingOn(db);
  const selectLast = arrays<readonly [number]>("SELECT coalesce(max(last), 0) FROM segment");
  const insertSegment = db.prepare(`
    INSERT INTO segment (first, last, docs, bytes, content, directory, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const insertChunk = db.prepare("INSERT INTO chunk (id, bytes, sum) VALUES (?, ?, ?)");
  const removeSegment = db.prepare("DELETE FROM segment WHERE id = ?");
  const removeChunks = db.prepare("DELETE FROM chunk WHERE id BETWEEN ? AND ?");
  return {
    /** The greatest document id that was ever flushed to a segment. */
    lastId: () => numberOf(selectLast),
    add({ directory, bytes }: BuiltSegment, [first, last]: Range): void {
      const text = JSON.stringify(directory);
      const { docs } = directory;
      const row = { first, last, docs, bytes: bytes.length, content: crc32(bytes) };
      const sum = sumOfSegment(row, text);
      const added = insertSegment.run(first, last, docs, bytes.length, row.content, text, sum);
      let chunk = firstChunk(Number(added.lastInsertRowid));
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
        const part = bytes.subarray(from, from + CHUNK_BYTES);
        insertChunk.run(chunk, part, sumOfChunk(chunk, part));
        chunk++;
      }
    },
    remove(id: number): void {
      removeSegment.run(id);
      removeChunks.run(firstChunk(id), firstChunk(id + 1) - 1);
    },
  };
}
