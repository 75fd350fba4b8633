/**
 * Readers that also return all rows of their view, so that tests can compare views. The rows are
 * those that verification reads.
 */
import type { Position, Revision } from "../../src/core/position.ts";
import type { Row, ViewRows } from "../../src/projector/verify/view-rows.ts";
import type { StoredValue } from "../../src/views/aspects/aspect-table.ts";
import { openSqliteAspectReader } from "../../src/views/aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteAspectRows } from "../../src/views/aspects/sqlite/sqlite-aspect-rows.ts";
import type { Pair, Stamps } from "../../src/views/graph/graph.ts";
import { openSqliteGraphReader } from "../../src/views/graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteGraphRows } from "../../src/views/graph/sqlite/sqlite-graph-rows.ts";
import type { SearchDocument } from "../../src/views/search/search.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchRows } from "../../src/views/search/sqlite/sqlite-search-rows.ts";
import { decodeDocument } from "../../src/views/search/stored-document.ts";
import { openSqliteTimeseriesReader } from "../../src/views/timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesRows } from "../../src/views/timeseries/sqlite/sqlite-timeseries-rows.ts";
import type { PlacedEvent } from "../../src/views/timeseries/timeseries-table.ts";

export interface Dump<Row> {
  /**
   * All rows, in an order that depends only on the rows. Rows omit ids that the store assigns, so a
   * rebuilt view has the same dump as the live one.
   */
  dump(): AsyncIterable<Row>;
}

/** A value. Rows are in byte order of urn and aspect, then by version. */
export interface AspectRow extends StoredValue {
  readonly urn: string;
  readonly aspect: string;
  /** Position of the record that created the value. */
  readonly position: Position;
  /** Revision of the last record that stated the value. */
  readonly revision: Revision;
  /** Positions of the last record that confirmed it, and of the one that removed it. */
  readonly confirmed: Position | undefined;
  readonly removed: Position | undefined;
  readonly exists: boolean;
}

/** An edge. Rows are in byte order of entity and aspect, then by position and ordinal. */
export interface GraphRow extends Pair, Stamps {
  /** The entity and aspect that state it. */
  readonly entity: string;
  readonly aspect: string;
  readonly path: string;
  readonly via: string | undefined;
  /** Position of the record that first stated it, and its index in that aspect. */
  readonly position: Position;
  readonly ordinal: number;
}

/** An event. Rows are in byte order of urn and aspect, then by time and byte order of key. */
export interface TimeseriesRow extends PlacedEvent {
  readonly urn: string;
  readonly aspect: string;
  readonly key: string;
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Adds `dump` to a reader. `rowsOf`: the rows of one entity. */
const withDump =
  <Dumped>(rowsOf: (urn: string, rows: readonly Row[]) => readonly Dumped[]) =>
  <R extends object>(
    reader: R,
    openRows: () => ViewRows | Promise<ViewRows>,
  ): R & Dump<Dumped> => ({
    ...reader,
    async *dump() {
      const view = await openRows();
      try {
        let left = [...new Set((await Array.fromAsync(view.urns())).flat())].sort(byBytes);
        while (left.length > 0) {
          const { rows } = await view.read(left);
          for (const [n, own] of rows.entries()) yield* rowsOf(left[n] ?? "", own);
          left = left.slice(rows.length);
        }
      } finally {
        await view.close();
      }
    },
  });

export const withAspectDump = withDump((urn, rows): readonly AspectRow[] => {
  const exists = rows.some((row) => row[0] === "" && row[10] === 1);
  return rows
    .filter(([aspect]) => aspect !== "")
    .map((row) => {
      const [aspect, version, position, revision, confirmed, removed] = row;
      const [time, actor, system, value] = row.slice(6);
      return {
        ...{ urn, aspect, version, position, revision, time, actor, system, value, exists },
        ...{ confirmed: confirmed ?? undefined, removed: removed ?? undefined },
      } as AspectRow;
    })
    .sort((a, b) => byBytes(a.aspect, b.aspect) || a.version - b.version);
});

export const withGraphDump = withDump((entity, rows): readonly GraphRow[] =>
  rows
    .map((row) => {
      const [aspect, type, source, destination, position, ordinal, path, via] = row;
      const [createdOn, createdActor, updatedOn, updatedActor, properties] = row.slice(8);
      return {
        ...{ entity, aspect, type, source, destination, position, ordinal, path },
        ...{ createdOn, createdActor, updatedOn, updatedActor, via: via ?? undefined },
        ...(properties !== null && { properties: JSON.parse(String(properties)) }),
      } as GraphRow;
    })
    .sort(
      (a, b) => byBytes(a.aspect, b.aspect) || a.position - b.position || a.ordinal - b.ordinal,
    ),
);

export const withTimeseriesDump = withDump((urn, rows): readonly TimeseriesRow[] =>
  rows
    .map(
      ([aspect, time, key, position, system, value]) =>
        ({ urn, aspect, time, key, position, system, value }) as TimeseriesRow,
    )
    .sort((a, b) => byBytes(a.aspect, b.aspect) || a.time - b.time || byBytes(a.key, b.key)),
);

/** In byte order of the urns. */
export const withSearchDump = withDump((urn, rows): readonly { document: SearchDocument }[] =>
  rows.map((row) => ({ document: decodeDocument(urn, String(row.at(-1))) })),
);

export const openDumpedAspectReader = (path: string) =>
  withAspectDump(openSqliteAspectReader(path), () => openSqliteAspectRows(path));

export const openDumpedGraphReader = (path: string) =>
  withGraphDump(openSqliteGraphReader(path), () => openSqliteGraphRows(path));

export const openDumpedTimeseriesReader = (path: string) =>
  withTimeseriesDump(openSqliteTimeseriesReader(path), () => openSqliteTimeseriesRows(path));

export const openDumpedSearchReader = (path: string) =>
  withSearchDump(openSqliteSearchReader(path), () => openSqliteSearchRows(path));
