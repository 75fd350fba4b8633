/**
 * Reads the value that an aspect had before a change. The log has each value once, so the previous
 * value comes from the aspect view's history, by its version, and only for events that need it.
 */

import type { PlacedChange } from "../core/change.ts";
import { assert } from "../core/errors.ts";
import { lastOf } from "../core/position.ts";
import { awaitPosition } from "../projector/documents/wait-for-position.ts";
import type { Projection, Sink, View } from "../projector/sink.ts";
import type { AspectReader } from "../views/aspects/aspect-table.ts";
import type { ChangeEvent, PreviousValue } from "./change-event.ts";

export type ValueHistory = Pick<AspectReader, "position" | "findValue">;

/** Maximum number of concurrent reads. */
const AT_ONCE_MAX = 50;
/** The aspect view may lag by a batch; only the feed waits. */
const HISTORY_MS_MAX = 10_000;

/**
 * Adds previous values to events. Rejects with `unavailable` if the history does not reach the changes
 * within `msMax` milliseconds; the message has `reader`, the waiting view. A value that is no longer in
 * the history stays absent.
 */
export async function fillPrevious(
  events: readonly ChangeEvent[],
  history: ValueHistory,
  reader: string,
  msMax = 0,
): Promise<readonly ChangeEvent[]> {
  const wanting = events.filter(({ change }) => previousVersion(change) !== undefined);
  if (wanting.length === 0) return events;
  const needed = lastOf(wanting.map(({ change }) => change));
  await awaitPosition(history, needed, { waiter: reader, view: "aspect", msMax });
  const filled: ChangeEvent[] = [];
  for (let from = 0; from < events.length; from += AT_ONCE_MAX) {
    const slice = events.slice(from, from + AT_ONCE_MAX);
    filled.push(...(await Promise.all(slice.map((event) => withPrevious(event, history)))));
  }
  return filled;
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

export interface FeedViewParts {
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
  return {
    name,
    project,
    costly: true,
    async letGo() {
      await Promise.allSettled([history.position()]);
    },
    sink: {
      async apply(events, upTo, record) {
        const whole = await fillPrevious(events, history, `the view "${name}"`, HISTORY_MS_MAX);
        await sink.apply(whole, upTo, record);
      },
      restore: async () => undefined,
      ...(sink.tidy !== undefined && { tidy: () => sink.tidy?.() ?? Promise.resolve(false) }),
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
