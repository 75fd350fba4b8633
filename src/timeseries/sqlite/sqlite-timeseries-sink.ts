/**
 * The timeseries view's writing side in SQLite.
 *
 * An event that was removed stays removed, though no row remembers it: rows and checkpoint move in
 * one transaction, so that the log is always read on from where the rows are, in order. An older
 * telling of the event can come again only at or below the checkpoint, where it is passed over.
 */
import { LRUCache } from "lru-cache";
import { type Position, START } from "../../core/position.ts";
import { createSqliteSink } from "../../projector/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  type ViewFile,
} from "../../projector/sqlite/sqlite-view.ts";
import type { TimeseriesSink, TimeseriesWrite } from "../timeseries-table.ts";
import { timeseriesSchema } from "./schema.ts";
import { createTruncations, type Truncations } from "./truncations.ts";

type Write<Op extends TimeseriesWrite["op"]> = Extract<TimeseriesWrite, { op: Op }>;

/** Some 5 MB when full; a series that is not among them costs one look into the index. */
const SERIES_MAX = 20_000;

export function openSqliteTimeseriesSink(file: ViewFile): TimeseriesSink {
  const view = openSqliteView(timeseriesSchema, file);
  const truncations = createTruncations(view);
  return {
    ...createSqliteSink(view, createWriter(view, truncations)),
    tidy: () => truncations.step(),
  };
}

function createWriter({ db }: SqliteView, truncations: Truncations) {
  const known = new LRUCache<string, number>({ max: SERIES_MAX });
  const findSeries = db.prepare("SELECT id FROM series WHERE urn = ? AND aspect = ?");
  const insertSeries = db.prepare("INSERT INTO series (urn, aspect) VALUES (?, ?)");
  const insertPlace = db.prepare(
    "INSERT OR IGNORE INTO place (series, time, key, position) VALUES (?, ?, ?, ?)",
  );
  const removeToldBefore = db.prepare(`
    DELETE FROM event WHERE position =
      (SELECT position FROM place WHERE series = ? AND time = ? AND key = ?)`);
  const movePlace = db.prepare(
    "UPDATE place SET position = ? WHERE series = ? AND time = ? AND key = ?",
  );
  // Where its place was lost, the event may still be there.
  const insertEvent = db.prepare(`
    INSERT OR REPLACE INTO event (position, series, time, key, system, value)
    VALUES (?, ?, ?, ?, ?, ?)`);
  /** Events, which their places tell; then the places. */
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
      removeToldBefore.run(...place);
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
        // Of this entity there is no more than what these writes have told.
        else for (const part of removeOlder) part.run(write.before, urn, write.aspect);
      }
    },
    forget: () => known.clear(),
  };
}
