/**
 * Truncations on their way through the store. Deleting a million events takes seconds, in which
 * nothing else could be projected: so it is done in parts, each a short transaction, and readers
 * pass over what is still there (sqlite-timeseries-reader.ts).
 *
 * What a part takes follows from the truncation alone: events told before it, older than its time.
 * So it does not matter when it is done, nor whether an event was told again meanwhile.
 */
import { entityTypeOf } from "../../core/urn.ts";
import type { SqliteView } from "../../projector/sqlite/sqlite-view.ts";
import type { TimeseriesWrite } from "../timeseries-table.ts";

type Truncate = Extract<TimeseriesWrite, { op: "truncate" }>;

export interface Truncations {
  add(write: Truncate): void;
  /** One transaction at most; whether there is more to do. */
  step(): Promise<boolean>;
}

/** Numbers of series that one part looks through. */
const SERIES_MAX = 5_000;
/** Events that one part takes, however many it may: some ten milliseconds. */
const EVENTS_MAX = 1_000;

interface Pending {
  readonly position: number;
  readonly type: string;
  readonly aspect: string;
  readonly before: number;
  readonly batchSize: number;
  readonly series: number;
}

export function createTruncations(view: SqliteView): Truncations {
  const { db } = view;
  const insert = db.prepare(`
    INSERT INTO truncation (position, entity_type, aspect, before, batch_size)
    VALUES (?, ?, ?, ?, ?)`);
  const first = db.prepare(`
    SELECT position, entity_type AS type, aspect, before, batch_size AS batchSize, series
    FROM truncation WHERE done = 0 ORDER BY position LIMIT 1`);
  const lastSeries = db.prepare("SELECT coalesce(max(id), 0) AS id FROM series");
  const seriesAfter = db.prepare(
    "SELECT id, urn FROM series WHERE id > ? AND id <= ? AND aspect = ? ORDER BY id",
  );
  const remove = db.prepare(`
    DELETE FROM event WHERE rowid IN
      (SELECT rowid FROM event WHERE series = ? AND time < ? AND position < ? LIMIT ?)`);
  const note = db.prepare(`
    UPDATE truncation SET series = ?, deleted = deleted + ?, done = ? WHERE position = ?`);
  /** Undefined: not known. */
  let some: boolean | undefined;

  function part({ position, type, aspect, before, batchSize, series }: Pending): void {
    const end = Number(lastSeries.get()?.id);
    const to = Math.min(end, series + SERIES_MAX);
    const most = Math.min(batchSize, EVENTS_MAX);
    let left = most;
    let at = to;
    for (const { id, urn } of seriesAfter.all(series, to, aspect)) {
      if (entityTypeOf(String(urn)) !== type) continue;
      left -= Number(remove.run(Number(id), before, position, left).changes);
      if (left > 0) continue;
      // There may be more of this one.
      at = Number(id) - 1;
      break;
    }
    note.run(at, most - left, at === end ? 1 : 0, position);
  }

  return {
    add({ position, entityType, aspect, before, batchSize }) {
      some = true;
      insert.run(position, entityType, aspect, before, batchSize);
    },
    async step() {
      if (some === false) return false;
      const pending = first.get() as Pending | undefined;
      some = pending !== undefined;
      if (pending === undefined) return false;
      await view.mend(() => part(pending));
      return true;
    },
  };
}
