/**
 * The timeseries view in SQLite: one row for every event. The events of one aspect of one entity
 * are a series, which has a small number in the index.
 */
import type { ViewSchema } from "../../projector/sqlite/sqlite-view.ts";

export const timeseriesSchema: ViewSchema = {
  view: "timeseries",
  version: 1,
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
`,
  // Series keep their numbers, which readers know.
  reset: "DELETE FROM event;",
};
