/**
 * Entities as of a point in time: their streams, folded up to it. Only durable records count. The
 * aspect view is read only for values that had a successor by then, because those never change.
 *
 * A time is resolved per entity: to its last record that was not written later, and everything
 * before that record, even where a clock went backwards. A position in the middle of a write shows
 * the part before it.
 *
 * Memory is bounded by a page of records and the response. Long streams are read in pages with a yield
 * between them, and few requests fold at the same time.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import { type EntityState, unknownEntity } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { foldEntity } from "../../core/fold-entity.ts";
import { type Position, type Revision, revision, START } from "../../core/position.ts";
import { entityStream, type StreamName } from "../../core/stream.ts";
import type { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { changesOf } from "../../log/whole-reads.ts";
import type { Projection } from "../../projector/sink.ts";
import type { AspectReader, StoredValue } from "../../views/aspects/aspect-table.ts";
import type { TimeseriesReader, TimeseriesWrite } from "../../views/timeseries/timeseries-table.ts";
import type { ReadPorts } from "../access/filtered-readers.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import type { AsOfPoint } from "./entity-reads.ts";
import { createPastSeries } from "./past-series.ts";

interface PastPorts {
  readonly states: Pick<EntityCache, "read" | "peek" | "positionOf">;
  readonly aspects: Pick<AspectReader, "findValue">;
  readonly timeseries: Pick<TimeseriesReader, "list">;
  /** The requested position, or the last position found for the requested time so far. */
  shown(): Position;
}

export interface PastTools {
  readonly log: Pick<ChangeLog, "readStream" | "head">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly keyAspectOf: (entityType: string) => string | undefined;
  /** The projection of the timeseries view. */
  readonly project: Projection<TimeseriesWrite>;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
  readonly withSlot: ConcurrencyLimit;
  readonly now: () => number;
  /** Replaces the constant in tests. */
  readonly recordsMax?: number | undefined;
}

interface Present {
  readonly aspects: Pick<AspectReader, "findValue">;
  /**
   * The entities as the caller may see them now. An entity that is hidden now, even as removed, is
   * hidden at every point in time. Undefined: everything is visible.
   */
  readonly seen?: ((urns: readonly string[]) => Promise<readonly EntityState[]>) | undefined;
  readonly hiddenUpTo?: ReadPorts["hiddenUpTo"];
}

/** Records of a stream per page. The first pages of a search for a time are smaller. */
const pageMax = 500;
const pageMin = 16;
/**
 * Records after which a request folds no further entity: ten seconds of CPU, as measured. A single
 * entity is folded whatever the length of its stream.
 */
const recordsMax = 500_000;

/** Throws `invalid` for a position or time in the future. */
export async function openPast(
  tools: PastTools,
  present: Present,
  point: AsOfPoint,
): Promise<PastPorts> {
  const { log, decode, keyAspectOf, withSlot, reached } = tools;
  await rejectFuture(tools, point);
  const folded = new Map<string, Promise<EntityState>>();
  const known = new Map<string, EntityState>();
  const ends = new Map<string, Position>();
  let latest = START;
  let records = 0;

  /** The last position in these streams that belongs to the point in time. */
  async function endIn(streams: readonly StreamName[]): Promise<Position> {
    if ("position" in point) return point.position;
    let end = START;
    for (const stream of streams) {
      const last = await lastNotLater(tools, stream, point.time);
      if (last > end) end = last;
    }
    if (end > latest) latest = end;
    return end;
  }

  async function fold(urn: string, now: EntityState | undefined): Promise<EntityState> {
    if (now?.aspects.size === 0) return unknownEntity(urn);
    if (records > (tools.recordsMax ?? recordsMax)) throw tooMany(records);
    const since = (await present.hiddenUpTo?.(urn)) ?? START;
    const end = await endIn([entityStream(urn)]);
    const entity = foldEntity(urn, keyAspectOf);
    let first: Revision | undefined;
    for await (const change of changesOf(log, decode, entityStream(urn))) {
      if (first === undefined && change.revision > 0) await rejectTrimmed(log, urn);
      first ??= change.revision;
      if (change.position > end) break;
      records++;
      if (change.position <= since) continue;
      entity.add(change);
      ends.set(urn, change.position);
    }
    const state = now === undefined ? entity.state() : visiblePart(entity.state(), now);
    known.set(urn, state);
    return state;
  }

  async function read(urns: readonly string[]): Promise<readonly EntityState[]> {
    const missing = [...new Set(urns)].filter((urn) => !folded.has(urn));
    if (missing.length > 0) {
      const now = await present.seen?.(missing);
      const folding = (async () => {
        const states = new Map<string, EntityState>();
        // One slot per entity, so that a small request does not wait for a large one.
        for (const [i, urn] of missing.entries()) {
          states.set(urn, await withSlot(() => fold(urn, now?.[i])));
        }
        return states;
      })();
      for (const urn of missing) {
        folded.set(
          urn,
          folding.then((states) => states.get(urn) ?? unknownEntity(urn)),
        );
      }
    }
    return Promise.all(urns.map((urn) => folded.get(urn) ?? unknownEntity(urn)));
  }

  return {
    shown: () => ("position" in point ? point.position : latest),

    // findValue waits for the view where necessary.
    states: { read, peek: (urn) => known.get(urn), positionOf: () => START },

    aspects: {
      async findValue(urn, name, version): Promise<StoredValue | undefined> {
        const [state] = await read([urn]);
        const last = state?.aspects.get(name);
        if (last === undefined || version > last.version) return undefined;
        if (version === last.version) return { ...last, system: JSON.stringify(last.system) };
        await reached(ends.get(urn) ?? START);
        return present.aspects.findValue(urn, name, version);
      },
    },

    timeseries: createPastSeries({
      ...tools,
      endIn,
      async isHidden(urn) {
        const [state] = (await present.seen?.([urn])) ?? [];
        if (state?.aspects.size === 0) return true;
        const since = (await present.hiddenUpTo?.(urn)) ?? START;
        return since > START && (await endIn([entityStream(urn)])) <= since;
      },
    }),
  };
}

const tooMany = (count: number): CatalogError =>
  new CatalogError("too_large", `reading these entities takes more than ${count - 1} records`, {
    hint: "Request fewer entities at a time",
  });

async function rejectFuture({ log, now }: PastTools, point: AsOfPoint): Promise<void> {
  if ("position" in point) {
    const head = await log.head();
    if (point.position <= head) return;
    throw new CatalogError(
      "invalid",
      `position ${point.position} is not in the log, which ends at ${head}`,
      { hint: `Send a position of at most ${head}, such as an X-Annals-Position` },
    );
  }
  const time = now();
  if (point.time <= time) return;
  throw new CatalogError(
    "invalid",
    `the time ${instant(point.time)} is in the future: the service's clock says ${instant(time)}`,
    { hint: "Omit it to read the current state" },
  );
}

/** ISO text of epoch milliseconds; the number for a time that no date has. */
const instant = (time: number): string =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time);

/** A stream without its first records would fold to a wrong state. */
async function rejectTrimmed(log: PastTools["log"], urn: string): Promise<void> {
  const [first] = await log.readStream(entityStream(urn), revision(0), { limit: 1 });
  if (first?.revision === 0) return;
  throw new CatalogError("invalid", `the log no longer has the first records of "${urn}"`, {
    hint: "Read its current state, or restore a backup of the log",
  });
}

/** Position of the last record not later than the time; START if there is none. */
async function lastNotLater(
  { log, decode }: Pick<PastTools, "log" | "decode">,
  stream: StreamName,
  time: number,
): Promise<Position> {
  let from: Revision | "end" = "end";
  for (let limit = pageMin; ; limit = Math.min(limit * 2, pageMax), await yieldToEventLoop()) {
    const page: readonly LogRecord[] = await log.readStream(stream, from, {
      limit,
      backward: true,
    });
    for (const record of page) {
      const change = readable(decode, record);
      if (change !== undefined && change.created.time <= time) return record.position;
    }
    const oldest = page.at(-1);
    if (oldest === undefined || oldest.revision <= 0) return START;
    from = revision(oldest.revision - 1);
  }
}

function visiblePart(state: EntityState, now: EntityState): EntityState {
  const aspects = [...state.aspects].filter(([name]) => now.aspects.has(name));
  return aspects.length === state.aspects.size ? state : { ...state, aspects: new Map(aspects) };
}
