/**
 * Rollback of a run for the timeseries of one entity. Events are folded as in the view: the newest
 * write of an event counts, and removed events are gone. An event that the run wrote last is
 * removed; an earlier write of another run is effective again.
 */
import type { PlacedChange, SystemMetadata } from "../../core/change.ts";
import type { Position, Revision } from "../../core/position.ts";
import { markOf, type RolledBackRun } from "../../core/rollback.ts";
import type { Projection } from "../../projector/sink.ts";
import type { TimeseriesWrite } from "../../views/timeseries/timeseries-table.ts";

interface EventWrite {
  readonly position: Position;
  /** Revision in the stream of the aspect's events. */
  readonly revision: Revision;
  readonly system: SystemMetadata;
}

/** The changes that roll back the run's events of one aspect, in this order. */
export interface SeriesRollback {
  readonly aspect: string;
  /** The run's writes that are removed. */
  readonly rolledBack: readonly EventWrite[];
  /** Time ranges of removed events, both ends included. */
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  /** Writes that are effective again, or that were in a removed range without being the run's. */
  readonly restored: readonly EventWrite[];
}

export interface SeriesFold {
  /** Adds the next change of the log that affects the entity. */
  add(change: PlacedChange): void;
  rollBack(run: RolledBackRun): readonly SeriesRollback[];
  /** Number of aspects with remaining events. */
  others(run: RolledBackRun): number;
  /** Last revisions of the streams. */
  revisions(): ReadonlyMap<string, Revision>;
}

/** Writes of one event, oldest first. */
interface Event {
  readonly time: number;
  readonly writes: EventWrite[];
}

type Series = Map<string, Event>;

/** `project`: the projection of the timeseries view. */
export function createSeriesFold(project: Projection<TimeseriesWrite>): SeriesFold {
  const byAspect = new Map<string, Series>();
  const revisions = new Map<string, Revision>();

  function seriesOf(aspect: string): Series {
    const series = byAspect.get(aspect) ?? new Map<string, Event>();
    byAspect.set(aspect, series);
    return series;
  }

  function apply(write: TimeseriesWrite, change: PlacedChange): void {
    switch (write.op) {
      case "event": {
        const series = seriesOf(write.aspect);
        const name = `${write.time} ${write.key}`;
        const event = series.get(name) ?? { time: write.time, writes: [] };
        const { position, revision, system } = change;
        event.writes.push({ position, revision, system });
        series.set(name, event);
        return;
      }
      case "remove": {
        const { aspect, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = write;
        const all = aspect === undefined ? [...byAspect.values()] : [seriesOf(aspect)];
        for (const series of all) remove(series, ({ time }) => time >= from && time <= to);
        return;
      }
      case "truncate":
        remove(seriesOf(write.aspect), ({ time }) => time < write.before);
    }
  }

  return {
    add(change) {
      for (const write of project(change)) apply(write, change);
      if (change.timeseries && change.urn !== "") revisions.set(change.aspect, change.revision);
    },
    rollBack: (run) =>
      [...byAspect]
        .map(([aspect, series]) => rollBackSeries(aspect, [...series.values()], run))
        .filter(({ rolledBack }) => rolledBack.length > 0),
    others: (run) =>
      [...byAspect.values()].filter((series) =>
        series.values().some((event) => remaining(event, run) !== undefined),
      ).length,
    revisions: () => revisions,
  };
}

function remove(series: Series, gone: (event: Event) => boolean): void {
  for (const [name, event] of series) if (gone(event)) series.delete(name);
}

const isOwn = ({ system, position }: EventWrite, run: RolledBackRun): boolean =>
  system.runId === run.runId && position <= run.upTo;

/** The effective write of an event without the run. */
function remaining({ writes }: Event, run: RolledBackRun): EventWrite | undefined {
  const last = writes.at(-1);
  if (last !== undefined && !isOwn(last, run)) return last;
  return writes.findLast(
    (one) =>
      !isOwn(one, run) && !run.isRolledBack(one.system.runId, one.position, markOf(one.system)),
  );
}

/** One range for consecutive events that are all removed: a run often wrote a whole series. */
function rollBackSeries(
  aspect: string,
  events: readonly Event[],
  run: RolledBackRun,
): SeriesRollback {
  const ordered = events.toSorted((a, b) => a.time - b.time);
  const ownAt = new Set(ordered.filter((event) => lastIsOwn(event, run)).map(({ time }) => time));
  const ranges: { from: number; to: number }[] = [];
  const rolledBack: EventWrite[] = [];
  const restored: EventWrite[] = [];
  let open: { from: number; to: number } | undefined;
  for (const event of ordered) {
    if (!ownAt.has(event.time)) {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = { from: event.time, to: event.time };
      ranges.push(open);
    }
    open.to = event.time;
    const last = event.writes.at(-1);
    if (last !== undefined && isOwn(last, run)) rolledBack.push(last);
    const rest = remaining(event, run);
    if (rest !== undefined) restored.push(rest);
  }
  return { aspect, rolledBack, ranges, restored };
}

function lastIsOwn({ writes }: Event, run: RolledBackRun): boolean {
  const last = writes.at(-1);
  return last !== undefined && isOwn(last, run);
}
