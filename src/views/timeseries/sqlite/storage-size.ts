/**
 * Counts the events of timeseries aspects, and estimates their size, in parts of some milliseconds.
 * Events of pending truncations are not counted.
 */
import type { DatabaseSync } from "node:sqlite";
import { entityTypeOf } from "../../../core/urn.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { TimeseriesCount, TimeseriesIndex } from "../timeseries-table.ts";

/** Events of one part. */
const EVENTS_MAX = 5_000;

/** Per event: its place and the row's own numbers. */
const ROW_BYTES = 60;

type Place = readonly [series: number, time: number, key: string];

const FIRST: Place = [0, Number.NEGATIVE_INFINITY, ""];
const LAST: Place = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, ""];

/** Of a row of `series`: its urn names the entity type, as entityTypeOf finds it. `type`: an SQL expression. */
const ofType = (type: string): string =>
  `instr(substr(series.urn, 5), ':' || ${type} || ':') = instr(substr(series.urn, 5), ':')`;

/** Of a row of `place`: no pending truncation deletes the event. The first condition is evaluated once. */
export const KEPT = `(
  NOT EXISTS (SELECT 1 FROM truncation WHERE done = 0)
  OR NOT EXISTS (
    SELECT 1 FROM truncation AS t JOIN series ON series.id = place.series
    WHERE t.done = 0 AND t.aspect = series.aspect AND ${ofType("t.entity_type")}
      AND place.time < t.before AND place.position < t.position))`;

const IN_RANGE = `(place.series, place.time, place.key) > (?1, ?2, ?3)
  AND (place.series, place.time, place.key) <= (?4, ?5, ?6)`;

/** Each step is a part, after which other work may run. */
type Parts<Result> = Generator<undefined, Result>;

interface Measuring {
  /** How many events there are, and how many of them are older than `before`. */
  count(index: TimeseriesIndex, before: number): Parts<TimeseriesCount>;
  /** About how many bytes the events of each index take. */
  weigh(indexes: readonly TimeseriesIndex[]): Parts<readonly number[]>;
}

export function createMeasuring(db: DatabaseSync): Measuring {
  const { arrays } = preparingOn(db);
  const lastOfPart = arrays<Place>(`
    SELECT series, time, key FROM place WHERE (series, time, key) > (?, ?, ?)
    ORDER BY series, time, key LIMIT 1 OFFSET ${EVENTS_MAX - 1}`);
  const counting = arrays<readonly [older: number, events: number]>(`
    SELECT count(*) FILTER (WHERE time < ?9), count(*)
    FROM place CROSS JOIN series ON series.id = place.series
    WHERE ${IN_RANGE} AND aspect = ?7 AND ${ofType("?8")} AND ${KEPT}`);
  const weighing = arrays<readonly [urn: string, aspect: string, bytes: number]>(`
    SELECT urn, aspect, sum(octet_length(value) + octet_length(system) + octet_length(place.key))
      + ${ROW_BYTES} * count(*)
    FROM place CROSS JOIN series ON series.id = place.series CROSS JOIN event USING (position)
    WHERE ${IN_RANGE} AND ${KEPT} GROUP BY place.series`);

  /** The places of all events, in ranges. */
  function* ranges(): Generator<readonly [...after: Place, ...upTo: Place]> {
    let after: Place | undefined = FIRST;
    while (after !== undefined) {
      const upTo = lastOfPart.get(...after);
      yield [...after, ...(upTo ?? LAST)];
      after = upTo;
    }
  }

  return {
    *count({ entityType, aspect }, before) {
      const sum = { events: 0, older: 0 };
      for (const range of ranges()) {
        const [older = 0, events = 0] = counting.get(...range, aspect, entityType, before) ?? [];
        sum.events += events;
        sum.older += older;
        yield;
      }
      return sum;
    },
    *weigh(indexes) {
      const sums = new Map<string, number>();
      for (const range of ranges()) {
        for (const [urn, aspect, bytes] of weighing.all(...range)) {
          const index = nameOf({ entityType: entityTypeOf(urn), aspect });
          sums.set(index, (sums.get(index) ?? 0) + bytes);
        }
        yield;
      }
      return indexes.map((index) => sums.get(nameOf(index)) ?? 0);
    },
  };
}

const nameOf = ({ entityType, aspect }: TimeseriesIndex): string => `${entityType} ${aspect}`;
