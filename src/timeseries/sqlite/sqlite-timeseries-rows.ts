/**
 * The rows of the timeseries view in SQLite, for verification: events as readers see them, without
 * those that truncations will take yet.
 */
import { inArrays, numberOf, openSqliteViewRows } from "../../projector/sqlite/row-reading.ts";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { timeseriesSchema, typeOf } from "./schema.ts";

const URNS_PER_PAGE = 1_000;

interface Cut {
  readonly type: string;
  readonly aspect: string;
  readonly before: number;
  readonly position: number;
}

type Event = readonly [time: number, key: string, position: number, system: string, value: string];

export const openSqliteTimeseriesRows = (path: string): ViewRows =>
  openSqliteViewRows(timeseriesSchema, path, (db) => {
    const pending = db.prepare(
      "SELECT entity_type AS type, aspect, before, position FROM truncation WHERE done = 0",
    );
    const seriesOf = inArrays(db.prepare("SELECT id, aspect FROM series WHERE urn = ?"));
    const eventsOf = inArrays(
      db.prepare("SELECT time, key, position, system, value FROM event WHERE series = ?"),
    );
    const countEvents = inArrays(db.prepare("SELECT count(*) FROM event"));
    const urnsAfter = inArrays(
      db.prepare(`
        SELECT DISTINCT urn FROM series WHERE urn > ? ORDER BY urn LIMIT ${URNS_PER_PAGE}`),
    );
    let cuts: readonly Cut[] = [];

    return {
      begin() {
        cuts = pending.all() as unknown as readonly Cut[];
      },
      rowsOf(urn) {
        const type = typeOf(urn);
        const rows: Row[] = [];
        for (const [id, aspect] of seriesOf.all(urn) as unknown as [number, string][]) {
          const own = cuts.filter((cut) => cut.type === type && cut.aspect === aspect);
          for (const event of eventsOf.all(id) as unknown as Event[]) {
            const [time, , position] = event;
            if (own.some((cut) => time < cut.before && position < cut.position)) continue;
            rows.push([aspect, ...event]);
          }
        }
        return rows;
      },
      /** What is still to leave the store would have to be told apart, event by event. */
      count: () => (cuts.length > 0 ? undefined : numberOf(countEvents)),
      urns(after) {
        const page = (
          urnsAfter.all((after as string | undefined) ?? "") as unknown as [string][]
        ).map(([urn]) => urn);
        return { urns: page, next: page.length === URNS_PER_PAGE ? page.at(-1) : undefined };
      },
      faults: () => [],
    };
  });
