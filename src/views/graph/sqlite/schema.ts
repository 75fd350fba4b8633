/**
 * The graph in SQLite: one row for every edge that an aspect states, with small numbers for ends and
 * names. A urn is stored once, as its kind (`urn:li:dataset:`) and the rest.
 *
 * Several aspects may state the same pair of ends. The first edge leads: the indexes for queries have
 * only leading edges, in order, so that a page of neighbours is an index range, and their number is
 * the length of one.
 */
import type { ViewSchema } from "../../../storage/sqlite/view-tables.ts";

export const graphSchema: ViewSchema = {
  view: "graph",
  version: 1,
  tables: `
-- Types of edges, aspects and paths.
CREATE TABLE name (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- What urns begin with, up to the third colon.
CREATE TABLE kind (
  id INTEGER PRIMARY KEY,
  prefix TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE node (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  rest TEXT NOT NULL,
  UNIQUE (kind, rest)
) STRICT;

-- entity, aspect: they state the edge. position, ordinal: its order (graph.ts). via and actors are
-- nodes, too. The kinds are those of the ends.
CREATE TABLE edge (
  source INTEGER NOT NULL,
  type INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  entity INTEGER NOT NULL,
  aspect INTEGER NOT NULL,
  position INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  leads INTEGER NOT NULL,
  source_kind INTEGER NOT NULL,
  destination_kind INTEGER NOT NULL,
  path INTEGER NOT NULL,
  via INTEGER,
  created_on INTEGER NOT NULL,
  created_actor INTEGER NOT NULL,
  updated_on INTEGER NOT NULL,
  updated_actor INTEGER NOT NULL,
  properties TEXT,
  PRIMARY KEY (source, type, destination, entity, aspect)
) STRICT, WITHOUT ROWID;

CREATE INDEX edge_told ON edge (entity, aspect);
-- They answer for neighbours without the rows: the other end is part of every entry. Its kind is,
-- too, for a step passes over what is not of its kinds: a table has edges to hundreds of columns.
CREATE INDEX edge_out ON edge (source, type, position, ordinal, destination_kind, via)
  WHERE leads = 1;
CREATE INDEX edge_in ON edge (destination, type, position, ordinal, source_kind, via)
  WHERE leads = 1;
`,
  // Nodes and names keep their numbers, which readers cache.
  reset: "DELETE FROM edge;",
};
