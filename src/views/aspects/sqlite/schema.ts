/**
 * The aspect view in SQLite: one row for every value of every aspect.
 *
 * Urns and names are stored once and have small numbers everywhere else. So the index over values is
 * three integers wide, which makes writes fast (a text index over urns would cost more than half of
 * the throughput). A urn is stored as its kind (`urn:li:dataset:`) and the rest, so that the only text
 * index also lists the entities of a type in the order of their urns.
 */
import type { ViewSchema } from "../../../storage/sqlite/view-tables.ts";

export const aspectSchema: ViewSchema = {
  view: "aspects",
  version: 1,
  tables: `
CREATE TABLE aspect_name (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- What urns begin with, up to the third colon. type: unknown until an entity has a value.
CREATE TABLE entity_kind (
  id INTEGER PRIMARY KEY,
  prefix TEXT NOT NULL UNIQUE,
  type TEXT,
  living INTEGER NOT NULL DEFAULT 0
) STRICT;

-- living: 1 while the key aspect has a value.
-- revision: of the last record that is in no row of aspect_value (removals); -1 if there is none.
CREATE TABLE entity (
  kind INTEGER NOT NULL,
  rest TEXT NOT NULL,
  id INTEGER NOT NULL,
  living INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT -1,
  PRIMARY KEY (kind, rest)
) STRICT, WITHOUT ROWID;

-- The number that the last new entity got.
CREATE TABLE last_entity (id INTEGER NOT NULL) STRICT;

-- position: that of the record that created the value. confirmed, removed: those of the last record
-- that confirmed it, and that removed it. revision: that of the last record that stated it. The value
-- is the last column, so that the others can be read without a long value.
CREATE TABLE aspect_value (
  entity INTEGER NOT NULL,
  aspect INTEGER NOT NULL,
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  confirmed INTEGER,
  removed INTEGER,
  time INTEGER NOT NULL,
  actor TEXT NOT NULL,
  system TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (entity, aspect, version)
) STRICT;
`,
  reset: `
DELETE FROM aspect_value;
DELETE FROM entity;
DELETE FROM last_entity;
UPDATE entity_kind SET living = 0;
`,
};

/**
 * The rows of an entity's newest values: one index lookup per aspect, for any length of the history.
 * ?1: the entity's number.
 */
export const NEWEST = `
WITH RECURSIVE newest (id) AS (
  SELECT (SELECT rowid FROM aspect_value WHERE entity = ?1
          ORDER BY aspect DESC, version DESC LIMIT 1)
  UNION ALL
  SELECT (SELECT rowid FROM aspect_value WHERE entity = ?1 AND aspect < last.aspect
          ORDER BY aspect DESC, version DESC LIMIT 1)
  FROM newest JOIN aspect_value AS last ON last.rowid = newest.id
)`;
