/**
 * The timeseries view's reading side in SQLite, on a connection of its own. Ranges are read in
 * pages from the index; between pages others get their turn, and what is written meanwhile may
 * show in the pages to come, but no event shows twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { Dump } from "../../projector/compare.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import type {
  TimeseriesEvent,
  TimeseriesRange,
  TimeseriesReader,
  TimeseriesRow,
} from "../timeseries-table.ts";
import { timeseriesSchema } from "./schema.ts";

/** Events read before others get their turn: a few milliseconds. */
const PAGE_MAX = 500;

export function openSqliteTimeseriesReader(path: string): TimeseriesReader & Dump<TimeseriesRow> {
  const db = openSqliteViewReader(timeseriesSchema, path);
  const { pageOf, countIn, seriesFrom } = createQueries(db);

  async function read<T>(query: () => T): Promise<T> {
    if (!db.isOpen) {
      throw new CatalogError("unavailable", `the view "${timeseriesSchema.view}" is closed`);
    }
    return translated(timeseriesSchema, "read", query);
  }

  async function* pages(range: TimeseriesRange, ascending: boolean, size: number) {
    let last: Row | undefined;
    for (;;) {
      const page: readonly Row[] = await read(() => pageOf(range, ascending, last, size));
      yield page;
      if (page.length < size) return;
      last = page.at(-1);
      await turn();
    }
  }

  return {
    async list(range, { limit, ascending = false, accept }) {
      const events: TimeseriesEvent[] = [];
      if (limit <= 0) return events;
      const size = accept === undefined ? Math.min(PAGE_MAX, limit) : PAGE_MAX;
      for await (const page of pages(range, ascending, size)) {
        for (const { time, value, system } of page) {
          const event = { time, value, system };
          if (accept === undefined || accept(event)) events.push(event);
          if (events.length === limit) return events;
        }
      }
      return events;
    },
    count: (range) => read(() => countIn(range)),
    async *dump() {
      let last: Series | undefined;
      for (;;) {
        const after: Series | undefined = last;
        const series = await read(() => seriesFrom(after));
        for (const { urn, aspect } of series) {
          for await (const page of pages({ urn, aspect }, true, PAGE_MAX)) {
            for (const row of page) yield { urn, aspect, ...row };
          }
        }
        last = series.at(-1);
        if (last === undefined) return;
      }
    },
    async close() {
      if (db.isOpen) db.close();
    },
  };
}

interface Row {
  readonly time: number;
  readonly key: string;
  readonly position: Position;
  readonly system: string;
  readonly value: string;
}

type Series = Pick<TimeseriesRow, "urn" | "aspect">;

const SERIES = "(SELECT id FROM series WHERE urn = ? AND aspect = ?)";

function createQueries(db: DatabaseSync) {
  const columns = "SELECT time, key, position, system, value FROM event";
  const firstLatest = db.prepare(`
    ${columns} WHERE series = ${SERIES} AND time BETWEEN ? AND ?
    ORDER BY time DESC, key DESC LIMIT ?`);
  const nextLatest = db.prepare(`
    ${columns} WHERE series = ${SERIES} AND time >= ? AND (time, key) < (?, ?)
    ORDER BY time DESC, key DESC LIMIT ?`);
  const firstEarliest = db.prepare(`
    ${columns} WHERE series = ${SERIES} AND time BETWEEN ? AND ?
    ORDER BY time, key LIMIT ?`);
  const nextEarliest = db.prepare(`
    ${columns} WHERE series = ${SERIES} AND time <= ? AND (time, key) > (?, ?)
    ORDER BY time, key LIMIT ?`);
  const countEvents = db.prepare(`
    SELECT count(*) AS count FROM event WHERE time BETWEEN ? AND ? AND series IN
      (SELECT id FROM series WHERE urn = ?3 AND (aspect = ?4 OR ?4 IS NULL))`);
  const someSeries = db.prepare(`
    SELECT urn, aspect FROM series WHERE (urn, aspect) > (?, ?) ORDER BY urn, aspect LIMIT ?`);

  return {
    pageOf(range: TimeseriesRange, ascending: boolean, last: Row | undefined, size: number) {
      const { urn, aspect } = range;
      const { from, to } = boundsOf(range);
      if (last === undefined) {
        const first = ascending ? firstEarliest : firstLatest;
        return first.all(urn, aspect, from, to, size) as unknown as Row[];
      }
      return (ascending
        ? nextEarliest.all(urn, aspect, to, last.time, last.key, size)
        : nextLatest.all(urn, aspect, from, last.time, last.key, size)) as unknown as Row[];
    },
    countIn(range: Parameters<TimeseriesReader["count"]>[0]): number {
      const { from, to } = boundsOf(range);
      return Number(countEvents.get(from, to, range.urn, range.aspect ?? null)?.count);
    },
    seriesFrom: (after: Series | undefined) =>
      someSeries.all(after?.urn ?? "", after?.aspect ?? "", PAGE_MAX) as unknown as Series[],
  };
}

const boundsOf = ({ from, to }: { readonly from?: number; readonly to?: number }) => ({
  from: from ?? Number.NEGATIVE_INFINITY,
  to: to ?? Number.POSITIVE_INFINITY,
});
