/**
 * Counts the events of one aspect of all entities of a type, and estimates their size, in parts of some
 * milliseconds. Events of pending truncations are not counted.
 */
import type { DatabaseSync } from "node:sqlite";
import { entityTypeOf } from "../../../core/urn.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { TimeseriesCount, TimeseriesIndex } from "../timeseries-table.ts";

/** Numbers of series looked through in one part. */
const SERIES_MAX = 2_000;
/** Events looked at in one part: to count them takes their places alone. */
const EVENTS_MAX = { inPlaces: 50_000, inPlacesKept: 10_000, inRows: 5_000 };

/** Per event: its place and the row's own numbers. */
const ROW_BYTES = 60;

type Place = readonly [time: number, key: string];
/** A part of a series, its end included. */
type Stretch = readonly [series: number, ...after: Place, ...upTo: Place];

const FIRST: Place = [Number.NEGATIVE_INFINITY, ""];
/** No event is of this time. */
const LAST: Place = [Number.POSITIVE_INFINITY, ""];

/** Of places: what truncations that are not done will take is not there any more. `type`: an entity type. */
export const keptBy = (type: string): string => `NOT EXISTS (
  SELECT 1 FROM truncation AS t JOIN series AS s ON s.id = place.series
  WHERE t.done = 0 AND t.aspect = s.aspect AND t.entity_type = ${type}
    AND place.time < t.before AND place.position < t.position)`;

/** ?1 and ?2 are the statement's own. */
const IN_STRETCH = `place.series = ?3 AND (place.time, place.key) > (?4, ?5)
  AND (place.time, place.key) <= (?6, ?7)`;

/** Each step is a part, after which others may have their turn. */
type Parts<Result> = Generator<undefined, Result>;

interface Measuring {
  /** How many events there are, and how many of them are older than `before`. */
  count(index: TimeseriesIndex, before: number): Parts<TimeseriesCount>;
  /** About how many bytes the events take. */
  weigh(index: TimeseriesIndex): Parts<number>;
}

export function createMeasuring(db: DatabaseSync): Measuring {
  const { arrays, objects } = preparingOn(db);
  const lastSeries = arrays<[number]>("SELECT coalesce(max(id), 0) FROM series");
  const seriesAfter = objects<{ readonly id: number; readonly urn: string }>(
    "SELECT id, urn FROM series WHERE id > ? AND id <= ? AND aspect = ? ORDER BY id",
  );
  const truncating = db.prepare("SELECT 1 FROM truncation WHERE done = 0 LIMIT 1");
  const nthAfter = arrays<Place>(`
    SELECT time, key FROM place WHERE series = ? AND (time, key) > (?, ?)
    ORDER BY time, key LIMIT 1 OFFSET ?`);
  const counting = (kept: string) =>
    arrays<readonly [looked: number, events: number, older: number]>(`
      SELECT count(*), count(*) FILTER (WHERE ${kept}), count(*) FILTER (WHERE time < ?2 AND ${kept})
      FROM place WHERE ${IN_STRETCH}`);
  const countAll = counting("?1 IS NOT NULL");
  const countKept = counting(keptBy("?1"));
  const weighing = arrays<readonly [looked: number, bytes: number]>(`
    SELECT count(*), coalesce(sum(length(value) + length(system) + length(place.key) + ?2)
      FILTER (WHERE ${keptBy("?1")}), 0)
    FROM place LEFT JOIN event USING (position) WHERE ${IN_STRETCH}`);

  /** Visits the events of the index by ranges; `look` returns the number of events. */
  function* walk(
    { entityType, aspect }: TimeseriesIndex,
    most: number,
    look: (...stretch: Stretch) => number,
  ): Parts<void> {
    const end = numberOf(lastSeries);
    for (let from = 0; from < end; from += SERIES_MAX) {
      let looked = 0;
      for (const { id, urn } of seriesAfter.all(from, from + SERIES_MAX, aspect)) {
        if (entityTypeOf(urn) !== entityType) continue;
        let after: Place | undefined = FIRST;
        while (after !== undefined) {
          const upTo = nthAfter.get(id, ...after, most - 1);
          looked += look(id, ...after, ...(upTo ?? LAST));
          after = upTo;
          if (looked < most) continue;
          yield;
          looked = 0;
        }
      }
      yield;
    }
  }

  return {
    *count(index, before) {
      const sum = { events: 0, older: 0 };
      const kept = truncating.get() !== undefined;
      const statement = kept ? countKept : countAll;
      yield* walk(index, kept ? EVENTS_MAX.inPlacesKept : EVENTS_MAX.inPlaces, (...stretch) => {
        const [looked = 0, events = 0, older = 0] =
          statement.get(index.entityType, before, ...stretch) ?? [];
        sum.events += events;
        sum.older += older;
        return looked;
      });
      return sum;
    },
    *weigh(index) {
      let sum = 0;
      yield* walk(index, EVENTS_MAX.inRows, (...stretch) => {
        const [looked = 0, bytes = 0] = weighing.get(index.entityType, ROW_BYTES, ...stretch) ?? [];
        sum += bytes;
        return looked;
      });
      return sum;
    },
  };
}
