/**
 * The timeseries view in SQLite: one row for every event, and where it comes in its series. The events
 * of one aspect of one entity are a series, which has a small number.
 *
 * Places are a table and no index, so that what a truncation takes can leave events and places each in
 * the order in which they lie: a page is then written once, and not for each of its rows.
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

-- Events as readers find them. While a truncation goes on, the event may be gone already.
CREATE TABLE place (
  series INTEGER NOT NULL,
  time REAL NOT NULL,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (series, time, key)
) STRICT, WITHOUT ROWID;

-- Truncations by the position of their records. Readers pass over what those that are not done
-- will take. event: the last one that was looked at; series, time and key: the last place, after that.
-- deleted: events so far.
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
  // Series keep their numbers, which readers know.
  reset: "DELETE FROM event; DELETE FROM place; DELETE FROM truncation;",
};
