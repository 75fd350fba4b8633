/**
 * Truncations on their way through the store. Deleting a million events takes seconds, in which
 * nothing else could be projected: so it is done in parts, each a short transaction, and readers
 * pass over what is still there (sqlite-timeseries-reader.ts).
 *
 * What a part takes follows from the truncation alone: events told before it, older than its time.
 * So it does not matter when it is done, nor whether an event was told again meanwhile.
 */
import { LRUCache } from "lru-cache";
import { entityTypeOf } from "../../core/urn.ts";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import type { SqliteView } from "../../projector/sqlite/sqlite-view.ts";
import type { TimeseriesWrite } from "../timeseries-table.ts";

type Truncate = Extract<TimeseriesWrite, { op: "truncate" }>;

export interface Truncations {
  add(write: Truncate): void;
  /** One transaction at most; whether there is more to do. */
  step(): Promise<boolean>;
}

/**
 * Events that one part looks at, in the order in which they came: those that came together lie
 * together, so that a page is written once or twice and not for each of its events. A tenth of a second.
 */
const EVENTS_MAX = 10_000;
/** Series of which it is remembered whether they are concerned; some megabytes. */
const SERIES_MAX = 50_000;

interface Pending {
  readonly position: number;
  readonly type: string;
  readonly aspect: string;
  readonly before: number;
  readonly batchSize: number;
  readonly event: number;
}

type Looked = readonly [event: number, series: number, time: number, position: number];

export function createTruncations(view: SqliteView): Truncations {
  const { db } = view;
  const { arrays } = preparingOn(db);
  const insert = db.prepare(`
    INSERT INTO truncation (position, entity_type, aspect, before, batch_size)
    VALUES (?, ?, ?, ?, ?)`);
  const first = db.prepare(`
    SELECT position, entity_type AS type, aspect, before, batch_size AS batchSize, event
    FROM truncation WHERE done = 0 ORDER BY position LIMIT 1`);
  const after = arrays<Looked>(`
    SELECT rowid, series, time, position FROM event WHERE rowid > ? ORDER BY rowid LIMIT ?`);
  const seriesOf = db.prepare("SELECT urn, aspect FROM series WHERE id = ?");
  const remove = db.prepare("DELETE FROM event WHERE rowid = ?");
  const note = db.prepare(`
    UPDATE truncation SET event = ?, deleted = deleted + ?, done = ? WHERE position = ?`);
  /** Undefined: not known. */
  let some: boolean | undefined;
  let concerned = new LRUCache<number, boolean>({ max: SERIES_MAX });
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

  /** An event that is told later, or again, comes after all that the truncation is about. */
  function part(pending: Pending): void {
    const { position, before, batchSize } = pending;
    if (of !== position) concerned = new LRUCache({ max: SERIES_MAX });
    of = position;
    const most = Math.min(batchSize, EVENTS_MAX);
    const events = after.all(pending.event, most);
    let deleted = 0;
    for (const [event, series, time, told] of events) {
      if (time >= before || told >= position || !isConcerned(series, pending)) continue;
      remove.run(event);
      deleted++;
    }
    const last = events.at(-1)?.[0] ?? pending.event;
    note.run(last, deleted, events.length < most ? 1 : 0, position);
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
