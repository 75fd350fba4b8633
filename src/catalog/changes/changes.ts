/**
 * The changes of the log, in its order: one page at a time, or as they happen.
 *
 * A reader that continues after the last position misses no change and receives none twice. An unreadable
 * record is never skipped: the page ends before it, and a read from there fails with its position.
 *
 * The changes of a few entities are read from their streams, all others by a scan of the log.
 */
import { setTimeout as pause, setImmediate as yieldToEventLoop } from "node:timers/promises";
import { isEventForSubscribers, type PlacedChange } from "../../core/change.ts";
import { CatalogError, isUnreadable } from "../../core/errors.ts";
import { lastOf, type Position, START } from "../../core/position.ts";
import { entityStream, parseStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { fillPrevious, type ValueHistory } from "../../feed/previous-values.ts";
import { formatNumber } from "../../lib/format.ts";
import { slicesOf } from "../../lib/lists.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { mergeStreams } from "../../log/merged-streams.ts";
import { type Model, unknownEntityType } from "../../model/model.ts";
import type { Addresses } from "../address.ts";
import { type Catalog, type ChangeEntry, type ChangesFilter, changesMax } from "../catalog.ts";
import { unknownAspect } from "../read/unknown-aspect.ts";
import { positionBefore } from "./position-before.ts";

type Changes = Pick<Catalog, "readChanges" | "followChanges">;

/** Of a read, from its position. */
type Direction = "after" | "before";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "readStream" | "tail" | "head" | "countBetween">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly addresses: Addresses;
  readonly model: Model;
  readonly history: ValueHistory;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
}

const limitDefault = 100;
/** Records that one page scans, however few changes it returns. */
const scannedMax = 50_000;
/** Bytes of the values of one page, which is in memory as a whole. */
const pageBytesMax = 8 * 1024 * 1024;
/** Records per read. Other requests wait some milliseconds for it. */
const readMax = 500;
/** The streams of more entities cost more than a scan of a page. */
const urnsMax = 10;
/** Records of one stream in memory at a time. */
const streamPageMax = 100;
/** Milliseconds before a follower reads an unavailable view again. */
const retryMs = 1_000;

export function createChanges(dependencies: Dependencies): Changes {
  const { log, addresses, model, history, reached } = dependencies;

  /** Returns the change of a record that the filter selects. A reader skips an unreadable one in its direction. */
  function createSieve(
    filter: ChangesFilter,
    direction: Direction = "after",
  ): (record: LogRecord) => PlacedChange | undefined {
    const urns = setOf(filter.urns?.map((urn) => addresses.readable(urn).urn));
    const types = setOf(filter.entityTypes?.map(entityType));
    const aspects = setOf(filter.aspects?.map(aspect));
    const kind = filter.kind === "versioned" ? "entity" : filter.kind;
    return (record) => {
      // The stream's name rules out most records.
      const of = parseStream(record.stream);
      if (of === undefined || of.kind === "truncation") return undefined;
      if (of.kind === "event") {
        return filter.platformEvents && kind === undefined ? decode(record, direction) : undefined;
      }
      if (urns?.has(of.urn) === false || types?.has(entityTypeOf(of.urn)) === false)
        return undefined;
      if (of.kind === "timeseries" && aspects?.has(of.aspect) === false) return undefined;
      const change = decode(record, direction);
      if (change === undefined || !isEventForSubscribers(change)) return undefined;
      // Selected after decoding: an unreadable record stops the readers of both kinds.
      if (kind !== undefined && of.kind !== kind) return undefined;
      return aspects?.has(change.aspect) === false ? undefined : change;
    };
  }

  function decode(record: LogRecord, direction: Direction): PlacedChange | undefined {
    try {
      return dependencies.decode(record);
    } catch (error) {
      throw isUnreadable(error) ? unreadableAt(error, record.position, direction) : error;
    }
  }

  function entityType(name: string): string {
    const entity = model.findEntity(name);
    if (entity === undefined) throw unknownEntityType(model, name, "invalid");
    return entity.name;
  }

  function aspect(name: string): string {
    if (model.aspects.has(name)) return name;
    throw unknownAspect(model, name);
  }

  /** The streams that have all requested changes; undefined if only a scan of the log finds them. */
  function streamsOf({ urns, aspects }: ChangesFilter): readonly StreamName[] | undefined {
    if (urns === undefined || urns.length > urnsMax) return undefined;
    const timeseries = [...model.aspects.values()].filter(
      (one) => one.timeseries && aspects?.includes(one.name) !== false,
    );
    const streams = urns.flatMap((text) => {
      const { urn } = addresses.readable(text);
      return [entityStream(urn), ...timeseries.map(({ name }) => timeseriesStream(urn, name))];
    });
    return [...new Set(streams)];
  }

  async function* scan(from: Position | "end", backward = false): AsyncIterable<LogRecord> {
    for (let page = await log.readAll(from, { limit: readMax, backward }); ; ) {
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      page = await log.readAll(last.position, { limit: readMax, backward });
    }
  }

  async function* readStreams(
    streams: readonly StreamName[],
    after: Position,
    upTo: Position,
  ): AsyncIterable<LogRecord> {
    // Rejects a position between two records. Reads of streams would accept it.
    if (after !== START) await log.readAll(after, { limit: 1 });
    yield* mergeStreams(log, streams, { after, upTo, pageMax: streamPageMax });
  }

  /** Changes after a position, and the position up to which the page has all of them; `complete`: there are no others. */
  async function readPage(filter: ChangesFilter, after: Position, limit: number) {
    const streams = streamsOf(filter);
    const upTo = await log.head();
    const records = streams === undefined ? scan(after) : readStreams(streams, after, upTo);
    const page = await collect(records, createSieve(filter), limit);
    const { changes, position = after, complete } = page;
    return { changes, position: complete && position < upTo ? upTo : position, complete };
  }

  /** Changes before a position, newest first, and the position down to which the page has all of them. */
  async function readPageBefore(filter: ChangesFilter, before: Position | "end", limit: number) {
    const page = await collect(scan(before, true), createSieve(filter, "before"), limit);
    const { changes, position = START, complete } = page;
    return { changes, position: complete ? START : position };
  }

  async function checked(after: Position): Promise<Position> {
    const head = await log.head();
    if (after <= head) return after;
    throw new CatalogError(
      "invalid",
      `position ${after} is not in the log, which ends at ${head}`,
      {
        hint: "The position may belong to another log: read all entities again, then follow from the head",
      },
    );
  }

  async function withPrevious(
    changes: readonly PlacedChange[],
    previous: boolean | undefined,
  ): Promise<readonly ChangeEntry[]> {
    const events = changes.map((change) => ({ change }));
    if (previous !== true || changes.length === 0) return events;
    await reached(lastOf(changes));
    return fillPrevious(events, history, "the feed");
  }

  return {
    async readChanges({ after, before, since, limit = limitDefault, ...filter }) {
      if (!(limit >= 1 && limit <= changesMax)) {
        throw new CatalogError("malformed", `limit is ${formatNumber(limit)}`, {
          hint: `Send 1 to ${changesMax}`,
        });
      }
      if (before !== undefined) {
        const from = before === "end" ? before : await checked(before);
        const { changes, position } = await readPageBefore(filter, from, limit);
        const entries = await withPrevious(changes.toReversed(), filter.previous);
        return { changes: entries.toReversed(), position, end: position === START };
      }
      const begin = since === undefined ? START : await positionBefore(since, dependencies);
      const from = await checked(after ?? begin);
      const { changes, position, complete } = await readPage(filter, from, limit);
      // A complete page is the last one, also if others have written meanwhile.
      const end = complete || position >= (await log.head());
      return { changes: await withPrevious(changes, filter.previous), position, end };
    },

    async followChanges({ after, ...filter }, signal) {
      const sieve = createSieve(filter);
      const from = after === undefined ? await log.head() : await checked(after);
      // A feed that would begin with an unreadable record fails before its first page.
      const [next] = await log.readAll(from, { limit: 1 });
      if (next !== undefined) sieve(next);

      async function whenAvailable(
        changes: readonly PlacedChange[],
      ): Promise<readonly ChangeEntry[]> {
        for (;;) {
          try {
            return await withPrevious(changes, filter.previous);
          } catch (error) {
            const away = error instanceof CatalogError && error.code === "unavailable";
            if (!away || signal.aborted) throw error;
            await pause(retryMs, undefined, { signal });
          }
        }
      }

      async function* follow() {
        yield { changes: [], position: from };
        let at = from;
        // The streams of a few entities have the changes up to the head of the log; later ones follow.
        const head = streamsOf(filter) === undefined ? START : await log.head();
        while (at < head && !signal.aborted) {
          const { changes, position } = await readPage(filter, at, changesMax);
          yield { changes: await whenAvailable(changes), position };
          at = position;
        }
        for await (const page of log.tail(at, signal)) {
          for (const slice of slicesOf(page, readMax)) {
            const { changes, upTo, fault } = sift(slice, sieve);
            if (upTo !== undefined) yield { changes: await whenAvailable(changes), position: upTo };
            if (fault !== undefined) throw fault;
            await yieldToEventLoop();
          }
        }
      }
      return follow();
    },
  };
}

/** The changes of records up to the limits of a page, and the position of the last record. */
async function collect(
  records: AsyncIterable<LogRecord>,
  sieve: (record: LogRecord) => PlacedChange | undefined,
  limit: number,
) {
  const changes: PlacedChange[] = [];
  let position: Position | undefined;
  let [scanned, bytes] = [0, 0];
  try {
    for await (const record of records) {
      const change = sieve(record);
      position = record.position;
      if (++scanned % readMax === 0) await yieldToEventLoop();
      if (change !== undefined) {
        changes.push(change);
        bytes += change.value?.length ?? 0;
      }
      const full = changes.length >= limit || bytes >= pageBytesMax || scanned >= scannedMax;
      if (full) return { changes, position, complete: false };
    }
  } catch (error) {
    // The next page begins with the unreadable record.
    if (!isUnreadable(error) || position === undefined) throw error;
    return { changes, position, complete: false };
  }
  return { changes, position, complete: true };
}

/** The changes among the records up to one that cannot be read. */
function sift(
  records: readonly LogRecord[],
  sieve: (record: LogRecord) => PlacedChange | undefined,
) {
  const changes: PlacedChange[] = [];
  let upTo: Position | undefined;
  try {
    for (const record of records) {
      const change = sieve(record);
      if (change !== undefined) changes.push(change);
      upTo = record.position;
    }
  } catch (fault) {
    if (!isUnreadable(fault)) throw fault;
    return { changes, upTo, fault };
  }
  return { changes, upTo, fault: undefined };
}

const unreadableAt = (error: CatalogError, at: Position, direction: Direction): CatalogError =>
  new CatalogError("unreadable", error.message, {
    hint: `${error.hint === undefined ? "" : `${error.hint}. `}To skip it, continue ${direction} ${at}`,
    cause: error,
  });

const setOf = (names: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  names === undefined ? undefined : new Set(names);
