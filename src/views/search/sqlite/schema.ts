/**
 * The search view in SQLite: documents, and the segments of their index. A batch commits its
 * checkpoint, documents, segments and tombstones in one transaction; a merge is one more.
 *
 * Each version of a document gets a new, greater id. A segment has the documents of a range of ids;
 * ranges do not overlap. A version that was replaced or removed has a tombstone until a merge
 * drops both.
 */
import type { ViewSchema } from "../../../storage/sqlite/view-tables.ts";

/** Maximum bytes of a segment in one row of the table `chunk`. */
export const CHUNK_BYTES = 16 * 1024;
/** The id of the first chunk of a segment. */
export const firstChunk = (segment: number): number => segment * 2 ** 20;

export const searchSchema: ViewSchema = {
  view: "search",
  version: 6,
  // Segments and chunks have checksums; verification compares the documents with the log.
  tables: `
-- The current version of each document. hash: CRC-32 of the urn, which is too long for an index of its own.
-- No id is given twice: a tombstone stands for one version.
CREATE TABLE document (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash INTEGER NOT NULL,
  urn TEXT NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE INDEX document_hash ON document (hash);

-- No id is given twice, because readers cache segments by their ids. directory: the content of the
-- segment, and where it is (JSON). content: CRC-32 of its bytes. sum: CRC-32 of the directory and the
-- numbers.
CREATE TABLE segment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  docs INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  content INTEGER NOT NULL,
  directory TEXT NOT NULL,
  sum INTEGER NOT NULL
) STRICT;

-- The bytes of segments. id: of the segment, times 2^20, and the index of the chunk in it. sum: CRC-32
-- of the id and the bytes.
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL,
  sum INTEGER NOT NULL
) STRICT;

-- Versions of documents that are in a segment and no longer valid. turn: the change that deleted it.
CREATE TABLE tombstone (
  id INTEGER PRIMARY KEY,
  urn TEXT NOT NULL,
  turn INTEGER NOT NULL
) STRICT;
CREATE INDEX tombstone_turn ON tombstone (turn);

-- turn: how often segments or tombstones have changed.
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  turn INTEGER NOT NULL
) STRICT;
INSERT INTO state (one, turn) VALUES (1, 0);
`,
  // A reset does not reuse ids: readers cache segments by id.
  reset: `
DELETE FROM document; DELETE FROM segment; DELETE FROM chunk; DELETE FROM tombstone;
UPDATE state SET turn = turn + 1;
`,
};
