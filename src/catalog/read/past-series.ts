/**
 * Timeseries events as of a point in time: the aspect's stream, folded as the view folds it, with
 * the deletes of its entity and the truncations of its aspect. Events truncated later are visible
 * until the log is scavenged.
 *
 * The stream is read twice: first the keys of the events, without values; then the values of those
 * returned.
 */
import type { PlacedChange } from "../../core/change.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, type Revision, revision } from "../../core/position.ts";
import {
  entityStream,
  type StreamName,
  timeseriesStream,
  truncationStream,
} from "../../core/stream.ts";
import { entityTypeOf } from "../../core/urn.ts";
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { changesOf } from "../../log/whole-reads.ts";
import type { Projection } from "../../projector/sink.ts";
import type {
  TimeseriesEvent,
  TimeseriesRange,
  TimeseriesReader,
  TimeseriesWrite,
} from "../../views/timeseries/timeseries-table.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly project: Projection<TimeseriesWrite>;
  readonly withSlot: ConcurrencyLimit;
  /** The last position in these streams that belongs to the point in time. */
  readonly endIn: (streams: readonly StreamName[]) => Promise<Position>;
  readonly isHidden: (urn: string) => Promise<boolean>;
  /** Replaces foldedMax in tests. */
  readonly foldedMax?: number | undefined;
}

/** Events of a range in memory, without their values: some tens of megabytes. */
const foldedMax = 200_000;

interface Event {
  readonly time: number;
  readonly key: string;
  readonly revision: Revision;
  readonly accepted: boolean;
}

type Removal = Exclude<TimeseriesWrite, { readonly op: "event" }>;

export function createPastSeries(dependencies: Dependencies): Pick<TimeseriesReader, "list"> {
  const { log, decode, project, withSlot, endIn, isHidden } = dependencies;
  const eventsMax = dependencies.foldedMax ?? foldedMax;

  async function* changes(
    stream: StreamName,
    end: Position,
    from?: Revision,
  ): AsyncIterable<PlacedChange> {
    for await (const change of changesOf(log, decode, stream, from)) {
      if (change.position > end) return;
      yield change;
    }
  }

  /** Writes that remove events, in the order of the log. */
  async function removals(streams: readonly StreamName[], end: Position): Promise<Removal[]> {
    const found: Removal[] = [];
    for (const stream of streams) {
      for await (const change of changes(stream, end)) {
        for (const write of project(change)) if (write.op !== "event") found.push(write);
      }
    }
    return found.sort((a, b) => a.position - b.position);
  }

  async function fold(
    range: TimeseriesRange,
    end: Position,
    gone: readonly Removal[],
    accept: ((event: TimeseriesEvent) => boolean) | undefined,
  ): Promise<readonly Event[]> {
    const { urn, aspect, from = -Infinity, to = Infinity } = range;
    const events = new Map<string, Event>();
    let at = 0;
    const removeUpTo = (position: number): void => {
      for (; (gone[at]?.position ?? Infinity) < position; at++) remove(events, gone[at]);
    };
    for await (const change of changes(timeseriesStream(urn, aspect), end)) {
      removeUpTo(change.position);
      for (const write of project(change)) {
        if (write.op !== "event") remove(events, write);
        else if (write.time >= from && write.time <= to) {
          const { time, key } = write;
          const accepted = accept?.(write) !== false;
          events.set(`${time} ${key}`, { time, key, revision: change.revision, accepted });
        }
      }
      if (events.size > eventsMax) throw tooMany(range, eventsMax);
    }
    removeUpTo(Infinity);
    return [...events.values()];
  }

  /** In the order of the events. */
  async function valuesOf(
    stream: StreamName,
    end: Position,
    events: readonly Event[],
  ): Promise<readonly TimeseriesEvent[]> {
    const found = new Map<Revision, TimeseriesEvent>();
    const revisions = new Set(events.map((event) => event.revision));
    if (revisions.size === 0) return [];
    let first = Infinity;
    for (const one of revisions) first = Math.min(first, one);
    for await (const change of changes(stream, end, revision(first))) {
      if (!revisions.has(change.revision)) continue;
      for (const write of project(change)) {
        if (write.op === "event") found.set(change.revision, write);
      }
      if (found.size === revisions.size) break;
    }
    return events.flatMap((event) => found.get(event.revision) ?? []);
  }

  return {
    async list(range, { limit, ascending = false, accept }) {
      const { urn, aspect } = range;
      if (await isHidden(urn)) return [];
      return withSlot(async () => {
        const stream = timeseriesStream(urn, aspect);
        const others = [entityStream(urn), truncationStream(entityTypeOf(urn), aspect)];
        const end = await endIn([stream, ...others]);
        const events = await fold(range, end, await removals(others, end), accept);
        const sign = ascending ? 1 : -1;
        const chosen = events
          .filter(({ accepted }) => accepted)
          .sort((a, b) => sign * (a.time - b.time || byBytes(a.key, b.key)))
          .slice(0, limit);
        return valuesOf(stream, end, chosen);
      });
    },
  };
}

function remove(events: Map<string, Event>, write: Removal | undefined): void {
  if (write === undefined) return;
  const from = write.op === "remove" ? (write.from ?? -Infinity) : -Infinity;
  const to = write.op === "remove" ? (write.to ?? Infinity) : Infinity;
  const before = write.op === "truncate" ? write.before : Infinity;
  for (const [name, { time }] of events) {
    if (time >= from && time <= to && time < before) events.delete(name);
  }
}

const byBytes = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

const tooMany = ({ urn, aspect }: TimeseriesRange, max: number): CatalogError =>
  new CatalogError(
    "too_large",
    `"${aspect}" of "${urn}" has more than ${max} events in the range`,
    {
      hint: "Narrow the time range: startTimeMillis, endTimeMillis",
    },
  );
