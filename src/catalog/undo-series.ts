/**
 * What undoing a run comes to for the timeseries of one entity. Events are folded as the view folds
 * them: the newest telling of an event counts, and what was taken away is gone. An event that the run
 * told last goes; where another run had told it before, that telling holds again.
 */
import type { PlacedChange, SystemMetadata } from "../core/change.ts";
import type { Position, Revision } from "../core/position.ts";
import { markOf, type UndoneRun } from "../core/undo.ts";
import type { Projection } from "../projector/sink.ts";
import type { TimeseriesWrite } from "../timeseries/timeseries-table.ts";

interface ToldEvent {
  readonly position: Position;
  /** In the stream of the aspect's events. */
  readonly revision: Revision;
  readonly system: SystemMetadata;
}

/** What it takes to undo the run's events of one aspect, in this order. */
export interface SeriesUndo {
  readonly aspect: string;
  /** What the run told, and is taken away. */
  readonly undone: readonly ToldEvent[];
  /** Times of events that are taken away, both ends included. */
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  /** Tellings that hold again, or went with their time though they are not the run's. */
  readonly retold: readonly ToldEvent[];
}

export interface SeriesFold {
  /** The next change of the log that bears on the entity. */
  add(change: PlacedChange): void;
  undo(run: UndoneRun): readonly SeriesUndo[];
  /** How many aspects have events that stay. */
  others(run: UndoneRun): number;
  /** Last revisions of the streams. */
  revisions(): ReadonlyMap<string, Revision>;
}

/** Tellings of one event, the oldest first. */
interface Event {
  readonly time: number;
  readonly tellings: ToldEvent[];
}

type Series = Map<string, Event>;

/** `project`: how the view of timeseries follows from the log. */
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
        const event = series.get(name) ?? { time: write.time, tellings: [] };
        const { position, revision, system } = change;
        event.tellings.push({ position, revision, system });
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
    undo: (run) =>
      [...byAspect]
        .map(([aspect, series]) => undoSeries(aspect, [...series.values()], run))
        .filter(({ undone }) => undone.length > 0),
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

const isOwn = ({ system, position }: ToldEvent, run: UndoneRun): boolean =>
  system.runId === run.runId && position <= run.upTo;

/** What holds of an event without the run. */
function remaining({ tellings }: Event, run: UndoneRun): ToldEvent | undefined {
  const last = tellings.at(-1);
  if (last !== undefined && !isOwn(last, run)) return last;
  return tellings.findLast(
    (one) => !isOwn(one, run) && !run.isUndone(one.system.runId, one.position, markOf(one.system)),
  );
}

/** One range for neighbours in time that all go: a run often told a whole series. */
function undoSeries(aspect: string, events: readonly Event[], run: UndoneRun): SeriesUndo {
  const ordered = events.toSorted((a, b) => a.time - b.time);
  const ownAt = new Set(ordered.filter((event) => lastIsOwn(event, run)).map(({ time }) => time));
  const ranges: { from: number; to: number }[] = [];
  const undone: ToldEvent[] = [];
  const retold: ToldEvent[] = [];
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
    const last = event.tellings.at(-1);
    if (last !== undefined && isOwn(last, run)) undone.push(last);
    const rest = remaining(event, run);
    if (rest !== undefined) retold.push(rest);
  }
  return { aspect, undone, ranges, retold };
}

function lastIsOwn({ tellings }: Event, run: UndoneRun): boolean {
  const last = tellings.at(-1);
  return last !== undefined && isOwn(last, run);
}
