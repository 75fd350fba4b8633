/**
 * Long polling of changes: returns a page after a position, or waits until there is one. Versioned
 * changes, timeseries changes, or platform events, over the same reads as the feed.
 */
import type { PlacedChange } from "../../core/change.ts";
import { CatalogError, isUnreadable } from "../../core/errors.ts";
import type { PlatformEvent } from "../../core/platform-event.ts";
import type { Position } from "../../core/position.ts";
import type { PlatformEventsOf } from "../../feed/platform-events.ts";
import { formatNumber } from "../../lib/format.ts";
import { appendAll } from "../../lib/lists.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { type Catalog, type ChangeEntry, type ChangesFilter, changesMax } from "../catalog.ts";
import { createPause } from "../time-slices.ts";
import { positionBefore } from "./position-before.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly platformEventsOf: PlatformEventsOf;
  /** Filtered for the caller. */
  readonly changes: Pick<Catalog, "readChanges" | "followChanges">;
}

type Poll = Catalog["pollChanges"];
type Query = Parameters<Poll>[0];

/** Maximum number of changes in a response, as in DataHub. */
const polledMax = 5_000;
const waitMsMax = 10_000;
/**
 * Maximum number of waiting polls; further polls return at once. Each waiting poll follows the log.
 */
const waitersMax = 100;
/** Milliseconds to search for changes of a rare kind before the response reports progress. */
const lookMsMax = 5_000;
/** Bytes of values in a response after which no further page is read. */
const valueBytesMax = 4 * 1024 * 1024;
/** Platform events in a response; exceeded only by those of its last change. */
const eventsMax = 10_000;

export function createPoll({ log, decode, platformEventsOf, changes }: Dependencies): Poll {
  let waiting = 0;

  const filterOf = ({ kind }: Query): ChangesFilter =>
    kind === "events" ? { platformEvents: true } : { kind };

  /** The platform events that fit into a response, and the position of the last change that they cover. */
  async function eventsOf(found: readonly ChangeEntry[], end: Position) {
    const events: PlatformEvent[] = [];
    const pause = createPause();
    for (const one of found) {
      appendAll(events, platformEventsOf(one));
      const { position } = one.change;
      if (events.length >= eventsMax) return { events, position };
      const pausing = pause();
      if (pausing !== undefined) await pausing;
    }
    return { events, position: end };
  }

  /** Changes after the position, as many as fit into a response. */
  async function read(query: Query, after: Position, limit: number) {
    const found: ChangeEntry[] = [];
    const until = performance.now() + lookMsMax;
    let position = after;
    let bytes = 0;
    const full = () =>
      found.length >= limit || bytes >= valueBytesMax || performance.now() >= until;
    for (let end = false; !end && !full(); ) {
      const asked = {
        ...filterOf(query),
        after: position,
        limit: Math.min(changesMax, limit - found.length),
        previous: query.kind !== "timeseries",
      };
      const page = await changes.readChanges(asked).catch((error: unknown) => {
        // Return the changes before the unreadable record first.
        if (isUnreadable(error) && found.length > 0) return undefined;
        throw error;
      });
      if (page === undefined) break;
      for (const one of page.changes) {
        found.push(one);
        bytes += (one.change.value?.length ?? 0) + (one.previous?.value.length ?? 0);
      }
      ({ position, end } = page);
    }
    return { found, position };
  }

  /** Resolves when a change follows the position, when the time is over, or when the query ends. */
  async function nextChange(query: Query, after: Position, ms: number): Promise<void> {
    const timeout = AbortSignal.timeout(ms);
    const signal = query.signal === undefined ? timeout : AbortSignal.any([query.signal, timeout]);
    try {
      for await (const page of await changes.followChanges({ ...filterOf(query), after }, signal)) {
        if (page.changes.length > 0) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  return async (query) => {
    const { limit = 100, waitMs = waitMsMax } = query;
    if (!(limit >= 1 && limit <= polledMax)) {
      throw new CatalogError("malformed", `limit is ${formatNumber(limit)}`, {
        hint: `Send 1 to ${polledMax}`,
      });
    }
    const { after, since } = query;
    const from =
      after ??
      (since === undefined ? await log.head() : await positionBefore(since, { log, decode }));
    let page = await read(query, from, limit);
    if (page.found.length === 0 && waitMs > 0 && waiting < waitersMax) {
      waiting++;
      try {
        await nextChange(query, page.position, Math.min(waitMs, waitMsMax));
      } finally {
        waiting--;
      }
      page = await read(query, page.position, limit);
    }
    const { found, position } = page;
    if (query.kind !== "events") return { changes: found, events: [], position };
    return { changes: [], ...(await eventsOf(found, position)) };
  };
}
