/**
 * The search view in SQLite: documents, and one FTS5 index of everything that is asked for
 * (tokens.ts). The index is the only place where values are found from: a B-tree of values and
 * documents would be five times slower to fill at a million documents than at a hundred thousand.
 *
 * An entity keeps its number for as long as the view lasts, also while it has no document; a
 * document that changes is taken out of the index and put in again under the same number.
 */
import type { ViewSchema } from "../../projector/sqlite/view-tables.ts";
import { tokenizer } from "./tokens.ts";

/** Changed documents that open readers can be told of one by one; beyond, they read anew. */
export const touchedMax = 50_000;

/** Tokens of a batch in memory before they are written: those of the largest batch. */
const HASH_BYTES = 8 * 1024 * 1024;
/** A leaf of the index on a page of the view (sqlite-view.ts), with room for its row. */
const LEAF_BYTES = 8_000;
/** Segments of one size that are merged: fewer mean quicker questions and slower changes. */
export const MERGED_SEGMENTS = 8;
const SEGMENTS_MAX = 32;
/**
 * Part of a segment that is out of use when it is merged for that reason alone, in percent. At the
 * default of 10 each change of a document costs writing ten others again.
 */
const UNUSED_PERCENT_MAX = 40;

export const searchSchema: ViewSchema = {
  view: "search",
  version: 1,
  tables: `
-- Every entity that has had a document. hash: of the urn (tokens.ts), which is too long for an index
-- of its own. wide: the urn has characters that SQLite orders in another way than UTF-16 does.
CREATE TABLE entity (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  urn TEXT NOT NULL,
  wide INTEGER NOT NULL
) STRICT;
CREATE INDEX entity_hash ON entity (hash);
CREATE INDEX entity_wide ON entity (id) WHERE wide = 1;

-- Each entity's last write. Apart from it and from the document, because it changes more often and
-- many go on a page. live: whether there is a document.
CREATE TABLE written (
  id INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  live INTEGER NOT NULL
) STRICT;

CREATE TABLE document (
  id INTEGER PRIMARY KEY,
  json TEXT NOT NULL
) STRICT;

-- Index fields; 0 is the entity type.
CREATE TABLE field (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- Kinds of texts (tokens.ts).
CREATE TABLE kind (
  id INTEGER PRIMARY KEY,
  boost REAL NOT NULL,
  suggested INTEGER NOT NULL,
  UNIQUE (boost, suggested)
) STRICT;

-- The last changes of documents, for readers that keep columns in memory.
CREATE TABLE touched (
  turn INTEGER PRIMARY KEY,
  id INTEGER NOT NULL
) STRICT;

CREATE VIRTUAL TABLE term USING fts5 (
  tokens, tokenize = ${tokenizer}, content = '', contentless_delete = 1
);
INSERT INTO term (term, rank) VALUES ('hashsize', ${HASH_BYTES});
INSERT INTO term (term, rank) VALUES ('pgsz', ${LEAF_BYTES});
INSERT INTO term (term, rank) VALUES ('deletemerge', ${UNUSED_PERCENT_MAX});
INSERT INTO term (term, rank) VALUES ('automerge', ${MERGED_SEGMENTS});
INSERT INTO term (term, rank) VALUES ('crisismerge', ${SEGMENTS_MAX});
`,
  // Fields and kinds keep their numbers; a reader sees by the generation that all others are void.
  reset: `
DELETE FROM entity; DELETE FROM written; DELETE FROM document; DELETE FROM touched;
INSERT INTO term (term) VALUES ('delete-all');
`,
};
