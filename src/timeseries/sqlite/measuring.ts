/**
 * Counting and weighing the events of one aspect of all entities of a type, in parts that take some
 * ten milliseconds each. What truncations will take yet is not counted.
 */
import type { DatabaseSync } from "node:sqlite";
import { entityTypeOf } from "../../core/urn.ts";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import type { TimeseriesIndex, TimeseriesMeasure } from "../timeseries-table.ts";

/** Numbers of series looked through, and events read, in one part. */
const SERIES_MAX = 2_000;
const EVENTS_MAX = 5_000;

/** Per event: its place in the index and the row's own numbers. */
const ROW_BYTES = 60;

type Parts = Generator<TimeseriesMeasure, undefined, undefined>;
type Place = readonly [time: number, key: string];

/** Each step of what it gives is a part. */
export function createMeasuring(
  db: DatabaseSync,
): (index: TimeseriesIndex, before?: number) => Parts {
  const { arrays, objects } = preparingOn(db);
  const lastSeries = db.prepare("SELECT coalesce(max(id), 0) AS id FROM series");
  const seriesAfter = objects<{ readonly id: number; readonly urn: string }>(
    "SELECT id, urn FROM series WHERE id > ? AND id <= ? AND aspect = ? ORDER BY id",
  );
  const pending = objects<Cut>(
    "SELECT before, position FROM truncation WHERE done = 0 AND entity_type = ? AND aspect = ?",
  );
  const eventsAfter = arrays<EventRow>(`
    SELECT time, key, position, length(value) + length(system) + length(key) AS bytes FROM event
    WHERE series = ? AND (time, key) > (?, ?) ORDER BY time, key LIMIT ?`);

  return function* ({ entityType, aspect }, before = Number.NEGATIVE_INFINITY): Parts {
    const cuts = pending.all(entityType, aspect);
    let part = { events: 0, older: 0, bytes: 0 };
    let read = 0;

    /** One page of a series; where it ended, if there may be more. */
    function page(series: number, after: Place): Place | undefined {
      const rows = eventsAfter.all(series, ...after, EVENTS_MAX);
      read += rows.length;
      for (const [time, , position, bytes] of rows) {
        if (cuts.some((cut) => time < cut.before && position < cut.position)) continue;
        part.events++;
        if (time < before) part.older++;
        part.bytes += bytes + ROW_BYTES;
      }
      const last = rows.length === EVENTS_MAX ? rows.at(-1) : undefined;
      return last && [last[0], last[1]];
    }

    const end = Number(lastSeries.get()?.id);
    for (let from = 0; from < end; from += SERIES_MAX) {
      for (const { id, urn } of seriesAfter.all(from, from + SERIES_MAX, aspect)) {
        if (entityTypeOf(urn) !== entityType) continue;
        let at: Place | undefined = [Number.NEGATIVE_INFINITY, ""];
        while (at !== undefined) {
          at = page(id, at);
          if (read < EVENTS_MAX) continue;
          yield part;
          part = { events: 0, older: 0, bytes: 0 };
          read = 0;
        }
      }
      yield part;
      part = { events: 0, older: 0, bytes: 0 };
      read = 0;
    }
  };
}

interface Cut {
  readonly before: number;
  readonly position: number;
}

type EventRow = readonly [time: number, key: string, position: number, bytes: number];
