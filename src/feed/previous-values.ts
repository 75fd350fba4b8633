/**
 * Reads the value that an aspect had before a change. The log has each value once, so the previous
 * value comes from the aspect view's history, by its version, and only for events that need it. The
 * event of a run gets the current relationships of that run, which name its job or flow.
 */
import type { PlacedChange } from "../core/change.ts";
import { currentAspect } from "../core/entity-state.ts";
import { assert } from "../core/errors.ts";
import { lastOf, type Position, START } from "../core/position.ts";
import { INSTANCE_RELATIONSHIPS, INSTANCE_RUN } from "../core/timeline/run-events.ts";
import { appendAll, slicesOf } from "../lib/lists.ts";
import { awaitPosition } from "../projector/documents/wait-for-position.ts";
import type { Projection, Sink, View } from "../projector/sink.ts";
import type { AspectReader } from "../views/aspects/aspect-table.ts";
import type { ChangeEvent, PreviousValue } from "./change-event.ts";

export type ValueHistory = Pick<AspectReader, "position" | "findValue" | "getEntities">;

/** Maximum number of concurrent reads. */
const AT_ONCE_MAX = 50;
/** The aspect view may lag by a batch; only the feed waits. */
const HISTORY_MS_MAX = 10_000;

/**
 * Adds previous values to events. Rejects with `unavailable` if the history does not reach the
 * changes within `msMax` milliseconds; the message has `reader`, the waiting view. A value that is
 * no longer in the history stays absent. Relationships of runs are those after `earlier`, a change
 * of an aspect, and after those among the events.
 */
export async function fillPrevious(
  events: readonly ChangeEvent[],
  history: ValueHistory,
  reader: string,
  msMax = 0,
  earlier: Position = START,
): Promise<readonly ChangeEvent[]> {
  const changes = events.map(({ change }) => change);
  const wanting = changes.filter((change) => previousVersion(change) !== undefined);
  const runs = changes.some(isInstanceRun);
  if (wanting.length === 0 && !runs) return events;
  // The aspect view's position does not move over timeseries.
  const needed = runs ? lastVersioned(changes, earlier) : lastOf(wanting);
  await awaitPosition(history, needed, { waiter: reader, view: "aspect", msMax });
  const filled: ChangeEvent[] = [];
  for (const slice of slicesOf(events, AT_ONCE_MAX)) {
    const relationships = await readRelationships(slice, history);
    appendAll(
      filled,
      await Promise.all(
        slice.map((event) =>
          isInstanceRun(event.change)
            ? { ...event, relationships: relationships.get(event.change.urn) }
            : withPrevious(event, history),
        ),
      ),
    );
  }
  return filled;
}

/** Position of the last change of an aspect, or `earlier`. */
const lastVersioned = (changes: readonly PlacedChange[], earlier: Position): Position =>
  changes.findLast(({ timeseries }) => !timeseries)?.position ?? earlier;

const isInstanceRun = ({ aspect, timeseries }: PlacedChange): boolean =>
  timeseries && aspect === INSTANCE_RUN;

/** The relationships of the instances of jobs among the events, by urn. */
async function readRelationships(
  events: readonly ChangeEvent[],
  history: ValueHistory,
): Promise<ReadonlyMap<string, string | undefined>> {
  const runs = events.filter(({ change }) => isInstanceRun(change)).map(({ change }) => change.urn);
  if (runs.length === 0) return new Map();
  const states = await history.getEntities([...new Set(runs)]);
  return new Map(
    states.map((state) => [state.urn, currentAspect(state, INSTANCE_RELATIONSHIPS)?.value]),
  );
}

async function withPrevious(event: ChangeEvent, history: ValueHistory): Promise<ChangeEvent> {
  const { change } = event;
  const version = previousVersion(change);
  if (version === undefined) return event;
  const found = await history.findValue(change.urn, change.aspect, version);
  if (found === undefined) return event;
  const previous: PreviousValue = { value: found.value, system: JSON.parse(found.system) };
  return { change, previous };
}

/**
 * Version of the previous value; undefined if there was none. A value after a deletion has none: it
 * has no last run.
 */
function previousVersion({
  timeseries,
  changeType,
  system,
  position,
}: PlacedChange): number | undefined {
  if (timeseries || changeType === "RESTATE") return undefined;
  const version = Number(system.version);
  assert(version >= 1, `the change at position ${position} has version "${system.version}"`);
  if (changeType === "DELETE") return version;
  return version === 1 || system.lastRunId === undefined ? undefined : version - 1;
}

interface FeedViewParts {
  /** Name of the view: `kafka`. */
  readonly name: string;
  readonly project: Projection<ChangeEvent>;
  /** Receives events with their previous values. */
  readonly sink: Sink<ChangeEvent>;
  readonly history: ValueHistory & { close(): Promise<void> };
}

/**
 * The feed as a view of the projector. It waits for the aspect view. Entities cannot be restored,
 * because sent events cannot be changed.
 */
export function createFeedView({ name, project, sink, history }: FeedViewParts): View<ChangeEvent> {
  let versioned = START;
  return {
    name,
    project,
    costly: true,
    async followSources() {
      await Promise.allSettled([history.position()]);
    },
    sink: {
      async apply(events, upTo, record) {
        const reader = `the view "${name}"`;
        const whole = await fillPrevious(events, history, reader, HISTORY_MS_MAX, versioned);
        await sink.apply(whole, upTo, record);
        versioned = lastVersioned(
          events.map(({ change }) => change),
          versioned,
        );
      },
      restore: async () => undefined,
      ...(sink.maintain !== undefined && {
        maintain: () => sink.maintain?.() ?? Promise.resolve(false),
      }),
      position: () => sink.position(),
      lastRecord: async () => sink.lastRecord?.(),
      reset: () => sink.reset(),
      async close(outcome) {
        try {
          await sink.close(outcome);
        } finally {
          await history.close();
        }
      },
    },
  };
}
