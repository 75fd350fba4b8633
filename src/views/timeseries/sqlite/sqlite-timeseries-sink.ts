/**
 * The sink of the timeseries view in SQLite.
 *
 * Removed events need no tombstones: rows and checkpoint change in one transaction, so the log
 * always continues from the state of the rows, in order. An older write of a removed event can only
 * be repeated at or below the checkpoint, where it is skipped.
 */
import { type Position, START } from "../../../core/position.ts";
import { boundedCache } from "../../../lib/bounded-cache.ts";
import { createSqliteSink } from "../../../storage/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  type ViewFile,
} from "../../../storage/sqlite/sqlite-view.ts";
import type { TimeseriesSink, TimeseriesWrite } from "../timeseries-table.ts";
import { timeseriesSchema } from "./schema.ts";
import { createTruncations, type Truncations } from "./truncations.ts";

type Write<Op extends TimeseriesWrite["op"]> = Extract<TimeseriesWrite, { op: Op }>;

/** Some 5 MB when full; a miss costs one index lookup. */
const SERIES_MAX = 20_000;

export function openSqliteTimeseriesSink(file: ViewFile): TimeseriesSink {
  const view = openSqliteView(timeseriesSchema, file);
  const truncations = createTruncations(view);
  return {
    ...createSqliteSink(view, createWriter(view, truncations)),
    maintain: () => truncations.step(),
  };
}

function createWriter({ db }: SqliteView, truncations: Truncations) {
  const known = boundedCache<string, number>(SERIES_MAX);
  const findSeries = db.prepare("SELECT id FROM series WHERE urn = ? AND aspect = ?");
  const insertSeries = db.prepare("INSERT INTO series (urn, aspect) VALUES (?, ?)");
  const insertPlace = db.prepare(
    "INSERT OR IGNORE INTO place (series, time, key, position) VALUES (?, ?, ?, ?)",
  );
  const removeWrittenBefore = db.prepare(`
    DELETE FROM event WHERE position =
      (SELECT position FROM place WHERE series = ? AND time = ? AND key = ?)`);
  const movePlace = db.prepare(
    "UPDATE place SET position = ? WHERE series = ? AND time = ? AND key = ?",
  );
  // OR REPLACE: an event without a place may remain.
  const insertEvent = db.prepare(`
    INSERT OR REPLACE INTO event (position, series, time, key, system, value)
    VALUES (?, ?, ?, ?, ?, ?)`);
  /** Deletes the events at the places, then the places. */
  const removing = (places: string) => [
    db.prepare(`DELETE FROM event WHERE position IN (SELECT position FROM place WHERE ${places})`),
    db.prepare(`DELETE FROM place WHERE ${places}`),
  ];
  const removeEvents = removing(`time BETWEEN ? AND ? AND series IN
    (SELECT id FROM series WHERE urn = ?3 AND (aspect = ?4 OR ?4 IS NULL))`);
  const removeOlder = removing(`time < ? AND series =
    (SELECT id FROM series WHERE urn = ? AND aspect = ?)`);

  function seriesOf(urn: string, aspect: string): number {
    const name = `${aspect}\0${urn}`;
    let series = known.get(name);
    if (series === undefined) {
      const found = findSeries.get(urn, aspect)?.id;
      series = Number(found ?? insertSeries.run(urn, aspect).lastInsertRowid);
      known.set(name, series);
    }
    return series;
  }

  function event({ urn, aspect, time, key, position, system, value }: Write<"event">): void {
    const place = [seriesOf(urn, aspect), time, key] as const;
    if (insertPlace.run(...place, position).changes === 0) {
      removeWrittenBefore.run(...place);
      movePlace.run(position, ...place);
    }
    insertEvent.run(position, ...place, system, value);
  }

  function remove({ urn, aspect, from, to }: Write<"remove">): void {
    const [earliest, latest] = [from ?? Number.NEGATIVE_INFINITY, to ?? Number.POSITIVE_INFINITY];
    for (const part of removeEvents) part.run(earliest, latest, urn, aspect ?? null);
  }

  return {
    write(writes: readonly TimeseriesWrite[], checkpoint: Position): void {
      for (const write of writes) {
        if (write.position <= checkpoint) continue;
        if (write.op === "event") event(write);
        else if (write.op === "remove") remove(write);
        else truncations.add(write);
      }
    },
    async restore(
      urn: string,
      writes: Iterable<TimeseriesWrite> | AsyncIterable<TimeseriesWrite>,
    ): Promise<void> {
      remove({ op: "remove", urn, position: START });
      for await (const write of writes) {
        if (write.op === "event") event(write);
        else if (write.op === "remove") remove(write);
        // Removes all events of the entity that are not among these writes.
        else for (const part of removeOlder) part.run(write.before, urn, write.aspect);
      }
    },
    clearCache: () => known.clear(),
  };
}
