/**
 * The timeseries view's reading side in SQLite, on a connection of its own. Ranges are read in
 * pages from the index; between pages others get their turn, and what is written meanwhile may
 * show in the pages to come, but no event shows twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import type { TimeseriesEvent, TimeseriesRange, TimeseriesReader } from "../timeseries-table.ts";
import { timeseriesSchema } from "./schema.ts";

/** Events read before others get their turn: a few milliseconds. */
const PAGE_MAX = 500;

export function openSqliteTimeseriesReader(path: string): TimeseriesReader {
  const db = openSqliteViewReader(timeseriesSchema, path);
  const { pageOf, countIn } = createQueries(db);

  async function read<T>(query: () => T): Promise<T> {
    if (!db.isOpen) {
      throw new CatalogError("unavailable", `the view "${timeseriesSchema.view}" is closed`);
    }
    return translated(timeseriesSchema, "read", query);
  }

  return {
    async list(range, { limit, ascending = false, accept }) {
      const events: TimeseriesEvent[] = [];
      let last: Row | undefined;
      while (events.length < limit) {
        const size = accept === undefined ? Math.min(PAGE_MAX, limit - events.length) : PAGE_MAX;
        const page: readonly Row[] = await read(() => pageOf(range, ascending, last, size));
        for (const { time, value, system } of page) {
          const event = { time, value, system };
          if (accept === undefined || accept(event)) events.push(event);
          if (events.length === limit) break;
        }
        last = page.at(-1);
        if (page.length < size) break;
        await turn();
      }
      return events;
    },
    count: (range) => read(() => countIn(range)),
    async close() {
      if (db.isOpen) db.close();
    },
  };
}

interface Row {
  readonly time: number;
  readonly key: string;
  readonly system: string;
  readonly value: string;
}

const SERIES = "(SELECT id FROM series WHERE urn = ? AND aspect = ?)";

function createQueries(db: DatabaseSync) {
  const columns = "SELECT time, key, system, value FROM event";
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
  };
}

const boundsOf = ({ from, to }: { readonly from?: number; readonly to?: number }) => ({
  from: from ?? Number.NEGATIVE_INFINITY,
  to: to ?? Number.POSITIVE_INFINITY,
});
