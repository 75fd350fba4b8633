/**
 * The timeseries view in SQLite: one row for every event. The events of one aspect of one entity
 * are a series, which has a small number in the index.
 */
import type { ViewSchema } from "../../projector/sqlite/view-tables.ts";

export const timeseriesSchema: ViewSchema = {
  view: "timeseries",
  version: 3,
  tables: `
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  urn TEXT NOT NULL,
  aspect TEXT NOT NULL,
  UNIQUE (urn, aspect)
) STRICT;

-- time: epoch milliseconds. REAL holds every number that an event can tell, exactly.
-- position: of the record that told the event last.
CREATE TABLE event (
  series INTEGER NOT NULL,
  time REAL NOT NULL,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  system TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (series, time, key)
) STRICT;

-- Truncations by the position of their records. Readers pass over what those that are not done
-- will take. event: the last one that was looked at. deleted: so far.
CREATE TABLE truncation (
  position INTEGER PRIMARY KEY,
  entity_type TEXT NOT NULL,
  aspect TEXT NOT NULL,
  before REAL NOT NULL,
  batch_size INTEGER NOT NULL,
  event INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0
) STRICT;
`,
  // Series keep their numbers, which readers know.
  reset: "DELETE FROM event; DELETE FROM truncation;",
};
