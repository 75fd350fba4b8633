/**
 * The rows of the timeseries view in SQLite, for verification: events as readers see them, without
 * those of pending truncations.
 */
import type { DatabaseSync } from "node:sqlite";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Row, ViewRows } from "../../../projector/verify/view-rows.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../../storage/sqlite/row-reading.ts";
import { timeseriesSchema } from "./schema.ts";

const URNS_PER_PAGE = 1_000;

interface Cut {
  readonly type: string;
  readonly aspect: string;
  readonly before: number;
  readonly position: number;
}

type Event = readonly [time: number, key: string, position: number, system: string, value: string];

export const openSqliteTimeseriesRows = (path: string): ViewRows =>
  openSqliteViewRows(timeseriesSchema, path, queriesOf);

const PENDING =
  "SELECT entity_type AS type, aspect, before, position FROM truncation WHERE done = 0";

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays, objects } = preparingOn(db);
  const pending = objects<Cut>(PENDING);
  const seriesOf = arrays<readonly [id: number, aspect: string]>(
    "SELECT id, aspect FROM series WHERE urn = ?",
  );
  const eventsOf = arrays<Event>(`
    SELECT place.time, place.key, place.position, system, value
    FROM place CROSS JOIN event USING ${AS_PLACED} WHERE place.series = ?`);
  const countEvents = arrays<readonly [number]>("SELECT count(*) FROM event");
  const countPlaces = arrays<readonly [number]>("SELECT count(*) FROM place");
  const urnsAfter = arrays<readonly [urn: string]>(`
    SELECT DISTINCT urn FROM series WHERE urn > ? ORDER BY urn LIMIT ${URNS_PER_PAGE}`);
  let cuts: readonly Cut[] = [];

  return {
    begin() {
      cuts = pending.all();
    },
    rowsOf(urn) {
      const type = entityTypeOf(urn);
      const rows: Row[] = [];
      for (const [id, aspect] of seriesOf.all(urn)) {
        const own = cuts.filter((cut) => cut.type === type && cut.aspect === aspect);
        for (const event of eventsOf.all(id)) {
          const [time, , position] = event;
          if (own.some((cut) => time < cut.before && position < cut.position)) continue;
          rows.push([aspect, ...event]);
        }
      }
      return rows;
    },
    /** Undefined during truncations: events that are still to be deleted would have to be excluded. */
    count: () => (cuts.length > 0 ? undefined : numberOf(countEvents)),
    urns(after) {
      const page = urnsAfter.all((after as string | undefined) ?? "").map(([urn]) => urn);
      return { urns: page, next: page.length === URNS_PER_PAGE ? page.at(-1) : undefined };
    },
    faults() {
      if (cuts.length > 0) return [];
      const [events, places] = [numberOf(countEvents), numberOf(countPlaces)];
      return events === places ? [] : [`there are ${events} events, and places of ${places}`];
    },
  };
}

/** An event that readers cannot find at its place does not count. */
const AS_PLACED = "(series, time, key, position)";
