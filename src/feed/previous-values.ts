/**
 * The value that an aspect had before a change. The log keeps each value once; what was there before
 * is read from the aspect view's history, by its number, for those alone who are told of it.
 */
import type { AspectReader } from "../aspects/aspect-table.ts";
import type { PlacedChange } from "../core/change.ts";
import { assert } from "../core/errors.ts";
import { lastOf } from "../core/position.ts";
import { awaitPosition } from "../projector/awaited.ts";
import type { Projection, Sink, View } from "../projector/sink.ts";
import type { ChangeEvent, PreviousValue } from "./change-event.ts";

export type ValueHistory = Pick<AspectReader, "position" | "findValue">;

/** Values that are asked for at once. */
const AT_ONCE_MAX = 50;
/** The aspect view may be a batch behind; nobody else waits meanwhile. */
const HISTORY_MS_MAX = 10_000;

/**
 * The events with the values before. Rejects `unavailable` when the history does not come as far as
 * the changes within `msMax` milliseconds, naming `reader`, who waits. A value that the history no
 * longer has stays absent.
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
 * Number of the value before; undefined where there was none. A value that follows on a deleted one
 * has none: it names no run before its own.
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
  /** Of the view: `kafka`. */
  readonly name: string;
  readonly project: Projection<ChangeEvent>;
  /** Gets whole events. */
  readonly sink: Sink<ChangeEvent>;
  readonly history: ValueHistory & { close(): Promise<void> };
}

/**
 * A feed as the projector sees it. It comes after the aspect view, and waits for it. Nothing of an
 * entity can be restored: what was told was told.
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
