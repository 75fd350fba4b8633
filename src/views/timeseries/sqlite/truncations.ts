/**
 * Applies truncations to the store. Deleting a million events takes seconds and would block other
 * writes, so it is done in parts, each a short transaction, and readers skip truncated events that
 * still exist (sqlite-timeseries-reader.ts).
 *
 * The truncation alone determines the deleted events: those written before it, and older than its
 * time. So the time of the deletion and later writes of an event do not matter. Events are deleted in
 * the order of insertion, then their places series by series, so that each deletes adjacent rows.
 */
import { entityTypeOf } from "../../../core/urn.ts";
import { boundedCache } from "../../../lib/bounded-cache.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { SqliteView } from "../../../storage/sqlite/sqlite-view.ts";
import type { TimeseriesWrite } from "../timeseries-table.ts";

type Truncate = Extract<TimeseriesWrite, { op: "truncate" }>;

export interface Truncations {
  add(write: Truncate): void;
  /** Runs at most one transaction. Resolves to true if truncated events are left. */
  step(): Promise<boolean>;
}

/** Maximum number of events or places of one part: some milliseconds if events are small. */
const PART_MAX = { events: 10_000, places: 20_000 };
/** Series ids of one query, and the number of places that cost as much as the query. */
const SERIES_PAGE = { numbers: 1_000, places: 250 };
/** Maximum number of series for which a match with the truncation is cached: some megabytes. */
const SERIES_MAX = 50_000;

interface Pending {
  readonly position: number;
  readonly type: string;
  readonly aspect: string;
  readonly before: number;
  readonly batchSize: number;
  readonly event: number;
  readonly series: number;
  /** Null: at the beginning of the next series. */
  readonly time: number | null;
  readonly key: string | null;
}

/** The key of a place within its series. */
type Place = readonly [time: number, key: string];

/** Bounds: no event has these times. */
const FIRST: Place = [Number.NEGATIVE_INFINITY, ""];
const LAST: Place = [Number.POSITIVE_INFINITY, ""];

export function createTruncations(view: SqliteView): Truncations {
  const { db } = view;
  const { objects } = preparingOn(db);
  const insert = db.prepare(`
    INSERT INTO truncation (position, entity_type, aspect, before, batch_size)
    VALUES (?, ?, ?, ?, ?)`);
  const first = objects<Pending>(`
    SELECT position, entity_type AS type, aspect, before, batch_size AS batchSize, event, series,
      time, key
    FROM truncation WHERE done = 0 ORDER BY position LIMIT 1`);
  const noteEvents = db.prepare(
    "UPDATE truncation SET event = ?, deleted = deleted + ? WHERE position = ?",
  );
  const notePlaces = db.prepare(
    "UPDATE truncation SET series = ?, time = ?, key = ?, done = ? WHERE position = ?",
  );
  const removeEvents = removingEvents(view);
  const removePlaces = removingPlaces(view);
  /** False if no truncation is pending; undefined before the first query. */
  let some: boolean | undefined;

  function part(pending: Pending): void {
    const { position, event } = pending;
    // Later writes have a later position.
    if (event < position) {
      const { deleted, last } = removeEvents(pending);
      noteEvents.run(last, deleted, position);
    } else {
      const { series, after: [time, key] = [null, null], done } = removePlaces(pending);
      notePlaces.run(series, time, key, done ? 1 : 0, position);
    }
  }

  return {
    add({ position, entityType, aspect, before, batchSize }) {
      some = true;
      insert.run(position, entityType, aspect, before, batchSize);
    },
    async step() {
      if (some === false) return false;
      const pending = first.get();
      some = pending !== undefined;
      if (pending === undefined) return false;
      await view.amend(() => part(pending));
      return true;
    },
  };
}

function removingEvents({ db }: SqliteView) {
  const { arrays } = preparingOn(db);
  const nth = arrays<[number]>(`
    SELECT position FROM event WHERE position > ? AND position < ?
    ORDER BY position LIMIT 1 OFFSET ?`);
  const seriesIn = arrays<[number]>(
    "SELECT DISTINCT series FROM event WHERE position > ? AND position <= ?",
  );
  const seriesOf = db.prepare("SELECT urn, aspect FROM series WHERE id = ?");
  const sql = "DELETE FROM event WHERE position > ? AND position <= ? AND time < ?";
  const remove = db.prepare(sql);
  const removeOf = db.prepare(`${sql} AND +series IN (SELECT value FROM json_each(?))`);
  let concerned = boundedCache<number, boolean>(SERIES_MAX);
  let of: number | undefined;

  function isConcerned(series: number, { type, aspect }: Pending): boolean {
    let found = concerned.get(series);
    if (found === undefined) {
      const row = seriesOf.get(series);
      found = row?.aspect === aspect && entityTypeOf(String(row.urn)) === type;
      concerned.set(series, found);
    }
    return found;
  }

  return (pending: Pending): { readonly deleted: number; readonly last: number } => {
    const { position, event, before, batchSize } = pending;
    if (of !== position) concerned = boundedCache(SERIES_MAX);
    of = position;
    const last =
      nth.get(event, position, Math.min(batchSize, PART_MAX.events) - 1)?.[0] ?? position;
    const all = seriesIn.all(event, last).map(([series]) => series);
    const some = all.filter((series) => isConcerned(series, pending));
    let { changes }: { changes: number | bigint } = { changes: 0 };
    if (some.length === all.length) ({ changes } = remove.run(event, last, before));
    else if (some.length > 0) {
      ({ changes } = removeOf.run(event, last, before, JSON.stringify(some)));
    }
    return { deleted: Number(changes), last };
  };
}

interface PlacesRemoved {
  /** The last series, and its last place if it has more; otherwise the next series follows. */
  readonly series: number;
  readonly after?: Place | undefined;
  readonly done: boolean;
}

function removingPlaces({ db }: SqliteView) {
  const { arrays } = preparingOn(db);
  const lastSeries = arrays<[number]>("SELECT coalesce(max(id), 0) FROM series");
  const seriesAfter = arrays<readonly [id: number, urn: string]>(
    "SELECT id, urn FROM series WHERE id > ? AND id <= ? AND aspect = ? ORDER BY id",
  );
  const nth = arrays<Place>(`
    SELECT time, key FROM place WHERE series = ? AND (time, key) > (?, ?) AND time < ?
    ORDER BY time, key LIMIT 1 OFFSET ?`);
  const remove = db.prepare(`
    DELETE FROM place WHERE series = ? AND (time, key) > (?, ?) AND (time, key) <= (?, ?)
      AND time < ? AND position < ?`);

  return (pending: Pending): PlacesRemoved => {
    const { position, type, aspect, before, series, time, key } = pending;
    const end = numberOf(lastSeries);
    let left = PART_MAX.places;
    let after: Place | undefined = time === null || key === null ? undefined : [time, key];
    let at = after === undefined ? series : series - 1;
    while (at < end) {
      for (const [id, urn] of seriesAfter.all(at, at + SERIES_PAGE.numbers, aspect)) {
        if (entityTypeOf(urn) !== type) continue;
        const from: Place = id === series ? (after ?? FIRST) : FIRST;
        after = nth.get(id, ...from, before, left - 1);
        const { changes } = remove.run(id, ...from, ...(after ?? LAST), before, position);
        if (after !== undefined) return { series: id, after, done: false };
        left -= Number(changes) + 1;
        if (left <= 0) return { series: id, done: false };
      }
      at += SERIES_PAGE.numbers;
      left -= SERIES_PAGE.places;
      if (left <= 0) return { series: at, done: false };
    }
    return { series: at, done: true };
  };
}
