/**
 * The reader of the timeseries view in SQLite, with its own connection. Ranges are read in pages
 * from the index, bounded in events and in time, and yield to other requests between pages.
 * Concurrent writes may appear in later pages, but no event appears twice. If a truncation comes
 * meanwhile, the range is read again without the truncated events.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Position } from "../../../core/position.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { timeSliced } from "../../../storage/batching.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteReading } from "../../../storage/sqlite/sqlite-reading.ts";
import { acceptedEvents } from "../accepted-events.ts";
import { untruncated } from "../consistent-reads.ts";
import type {
  PlacedEvent,
  TimeseriesRange,
  TimeseriesReader,
  TruncationProgress,
} from "../timeseries-table.ts";
import { timeseriesSchema } from "./schema.ts";
import { createMeasuring, KEPT } from "./storage-size.ts";

/** Events read before it yields. */
const PAGE_MAX = 500;
/** Milliseconds before it yields: `accept` may be slow for a large event. */
const SLICE_MS_MAX = 5;

export function openSqliteTimeseriesReader(path: string): TimeseriesReader {
  const { db, readOne: read, position, close } = openSqliteReading(timeseriesSchema, path);
  const { pageOf, countIn, seriesOf, lastOf, lastKeptOf, truncating, lastTruncation } =
    createQueries(db);
  const measuring = createMeasuring(db);
  const findTruncation = db.prepare(
    "SELECT deleted, batch_size, done FROM truncation WHERE position = ?",
  );

  async function inParts<T>(parts: Generator<undefined, T>): Promise<T> {
    for (;;) {
      const part = await read(() => parts.next());
      if (part.done) return part.value;
      await yieldToEventLoop();
    }
  }

  const readPage = timeSliced((query: Parameters<typeof pageOf>) => read(() => pageOf(...query)));

  async function* pages(range: TimeseriesRange, ascending: boolean, size: number) {
    let last: Row | undefined;
    for (;;) {
      const page = await readPage([range, ascending, last, size]);
      yield page.rows;
      if (page.end) return;
      last = page.last;
      await yieldToEventLoop();
    }
  }

  const whole = <T>(work: () => Promise<T>): Promise<T> =>
    untruncated(() => read(lastTruncation), work);

  const list: TimeseriesReader["list"] = async (range, { limit, ascending = false, accept }) => {
    if (limit <= 0) return [];
    const size = accept === undefined ? Math.min(PAGE_MAX, limit) : PAGE_MAX;
    return whole(() =>
      acceptedEvents(pages(range, ascending, size), { limit, accept, yieldToEventLoop }),
    );
  };

  return {
    list,
    latest: (urns, aspects) =>
      whole(async () => {
        const found = urns.map(() => new Map<string, PlacedEvent>());
        const asked = new Set(aspects);
        const places = new Map(urns.map((urn, n) => [urn.toWellFormed(), n]));
        const cutting = await read(truncating);
        for (const { id, urn, aspect } of await read(() => seriesOf([...places.keys()]))) {
          if (!asked.has(aspect)) continue;
          const event = await read(() => (cutting ? lastKeptOf(id) : lastOf(id)));
          if (event !== undefined) found[places.get(urn) ?? -1]?.set(aspect, event);
        }
        return found;
      }),
    position,
    count: (range) => whole(() => read(() => countIn(range))),
    countOlder: (index, before) => inParts(measuring.count(index, before)),
    weigh: (indexes) => inParts(measuring.weigh(indexes)),
    findTruncation: (position) =>
      read((): TruncationProgress | undefined => {
        const row = findTruncation.get(position);
        if (row === undefined) return undefined;
        return {
          deleted: Number(row.deleted),
          batches: Math.ceil(Number(row.deleted) / Number(row.batch_size)),
          done: row.done === 1,
        };
      }),
    close,
  };
}

interface Row {
  readonly time: number;
  readonly key: string;
  readonly position: Position;
  readonly system: string;
  readonly value: string;
}

interface Page {
  readonly rows: readonly Row[];
  /** The last visited event; the next page starts after it. */
  readonly last: Row | undefined;
  /** True if no events follow. */
  readonly end: boolean;
}

/** A pending truncation: it deletes events that are older and were written before the position. */
interface Cut {
  readonly before: number;
  readonly position: number;
}

const SERIES = "(SELECT id FROM series WHERE urn = ? AND aspect = ?)";
/** In the order of their places. */
const EVENTS = "place CROSS JOIN event ON event.position = place.position";

function createQueries(db: DatabaseSync) {
  const { objects } = preparingOn(db);
  const cutsOf = objects<Cut>(
    "SELECT before, position FROM truncation WHERE done = 0 AND entity_type = ? AND aspect = ?",
  );
  const truncating = db.prepare("SELECT 1 FROM truncation WHERE done = 0 LIMIT 1");
  const newest = db.prepare("SELECT max(position) AS position FROM truncation");
  const { first, next, count, countKept } = prepareQueries(db);
  const lastWhere = (kept: string) =>
    objects<PlacedEvent>(`
      SELECT place.time AS time, place.position AS position, value, system FROM ${EVENTS} WHERE place.series = ? ${kept}
      ORDER BY place.time DESC, place.key DESC LIMIT 1`);
  const last = lastWhere("");
  const lastKept = lastWhere(`AND ${KEPT}`);
  const ofUrns = objects<{ readonly id: number; readonly urn: string; readonly aspect: string }>(`
    SELECT series.id AS id, series.urn AS urn, aspect FROM json_each(?) AS asked
    CROSS JOIN series ON series.urn = asked.value`);

  return {
    /**
     * At most so many events; fewer at the end, or after the time limit. Skips events of pending
     * truncations, page by page: there may be a million of them.
     */
    pageOf(range: TimeseriesRange, ascending: boolean, last: Row | undefined, size: number): Page {
      const { urn, aspect } = range;
      const { from, to } = boundsOf(range);
      const cuts = cutsOf.all(entityTypeOf(urn), aspect);
      const most = cuts.length === 0 ? size : PAGE_MAX;
      const order = ascending ? "earliest" : "latest";
      const found =
        last === undefined
          ? first[order].iterate(urn, aspect, from, to, most)
          : next[order].iterate(...[urn, aspect, ascending ? to : from, last.time, last.key, most]);
      const rows: Row[] = [];
      const sliceEnd = performance.now() + SLICE_MS_MAX;
      let looked = 0;
      let at: Row | undefined;
      for (const row of found) {
        looked++;
        at = row;
        if (!cuts.some((cut) => row.time < cut.before && row.position < cut.position))
          rows.push(row);
        const full = rows.length === size && looked < most;
        if (full || performance.now() >= sliceEnd) return { rows, last: at, end: false };
      }
      return { rows, last: at, end: looked < most };
    },
    countIn(range: Parameters<TimeseriesReader["count"]>[0]): number {
      const { from, to } = boundsOf(range);
      const aspect = range.aspect ?? null;
      const asked = [from, to, range.urn, aspect, aspect] as const;
      const found = truncating.get() === undefined ? count.get(...asked) : countKept.get(...asked);
      return Number(found?.count);
    },
    seriesOf: (urns: readonly string[]) => ofUrns.all(JSON.stringify(urns)),
    lastOf: (series: number) => last.get(series),
    lastKeptOf: (series: number) => lastKept.get(series),
    truncating: () => truncating.get() !== undefined,
    /** Its position; null for an event that does not exist. */
    lastTruncation: () => newest.get()?.position,
  };
}

function prepareQueries(db: DatabaseSync) {
  const { objects } = preparingOn(db);
  const columns = `
    SELECT place.time AS time, place.key AS key, place.position AS position, system, value
    FROM ${EVENTS}`;
  const first = (order: string) =>
    objects<Row>(`
      ${columns} WHERE place.series = ${SERIES} AND place.time BETWEEN ? AND ?
      ORDER BY ${order} LIMIT ?`);
  const counting = `
    SELECT count(*) AS count FROM place WHERE time BETWEEN ? AND ? AND series IN
      (SELECT id FROM series WHERE urn = ? AND (aspect = ? OR ? IS NULL))`;
  return {
    first: {
      latest: first("place.time DESC, place.key DESC"),
      earliest: first("place.time, place.key"),
    },
    next: {
      latest: objects<Row>(`
        ${columns} WHERE place.series = ${SERIES} AND place.time >= ?
          AND (place.time, place.key) < (?, ?)
        ORDER BY place.time DESC, place.key DESC LIMIT ?`),
      earliest: objects<Row>(`
        ${columns} WHERE place.series = ${SERIES} AND place.time <= ?
          AND (place.time, place.key) > (?, ?)
        ORDER BY place.time, place.key LIMIT ?`),
    },
    count: db.prepare(counting),
    countKept: db.prepare(`${counting} AND ${KEPT}`),
  };
}

const boundsOf = ({ from, to }: { readonly from?: number; readonly to?: number }) => ({
  from: from ?? Number.NEGATIVE_INFINITY,
  to: to ?? Number.POSITIVE_INFINITY,
});
