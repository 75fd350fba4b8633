/**
 * The timeseries view in SQLite: a row in `event` for each event, in the order of the log, and a row in
 * `place`, in the order of its series. A series is the events of one aspect of one entity; it has a
 * small id.
 *
 * `place` is a table, not an index: a truncation deletes from each of the two tables in its own order,
 * so each page is written once instead of once per row.
 */
import type { ViewSchema } from "../../../storage/sqlite/view-tables.ts";

export const timeseriesSchema: ViewSchema = {
  view: "timeseries",
  version: 4,
  tables: `
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  urn TEXT NOT NULL,
  aspect TEXT NOT NULL,
  UNIQUE (urn, aspect)
) STRICT;

-- position: that of the last record with the event.
-- time: epoch milliseconds. REAL stores every possible time of an event exactly.
CREATE TABLE event (
  position INTEGER PRIMARY KEY,
  series INTEGER NOT NULL,
  time REAL NOT NULL,
  key TEXT NOT NULL,
  system TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;

-- Readers find events here. During a truncation, the row of a deleted event may remain.
CREATE TABLE place (
  series INTEGER NOT NULL,
  time REAL NOT NULL,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (series, time, key)
) STRICT, WITHOUT ROWID;

-- Truncations by the position of their records. Readers skip the events of truncations that are not
-- done. event: the last processed event; series, time, key: the last processed place.
-- deleted: number of deleted events.
CREATE TABLE truncation (
  position INTEGER PRIMARY KEY,
  entity_type TEXT NOT NULL,
  aspect TEXT NOT NULL,
  before REAL NOT NULL,
  batch_size INTEGER NOT NULL,
  event INTEGER NOT NULL DEFAULT 0,
  series INTEGER NOT NULL DEFAULT 0,
  time REAL,
  key TEXT,
  deleted INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0
) STRICT;
`,
  // Series keep their ids, which readers cache.
  reset: "DELETE FROM event; DELETE FROM place; DELETE FROM truncation;",
};
