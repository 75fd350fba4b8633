/**
 * A view of documents, such as search. Each write is the whole document of one entity, independent
 * of earlier writes.
 *
 * A batch selects the changed entities. Their states are read from the aspect view and their latest
 * events from the timeseries view. The projector applies the batch to these views first, so the
 * states are never older than the batch. A batch that is applied twice, or late, therefore writes
 * the current state, and an entity that changes a hundred times in a batch is folded once.
 *
 * A truncation has no urn: the view looks up the entities whose documents contain truncated events,
 * and folds them again.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import type { EntityState } from "../../core/entity-state.ts";
import type { ValuePolicy } from "../../core/parked-values.ts";
import { type Position, position, START } from "../../core/position.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import { appendAll, maxOf, slicesOf } from "../../lib/lists.ts";
import { EntityRejected, isPoison, type Parking, WHOLE_DOCUMENT } from "../parking/parking.ts";
import type { Sink, View } from "../sink.ts";
import { createValueParking } from "./value-parking.ts";
import { awaitPosition } from "./wait-for-position.ts";

/** The latest event of a timeseries. */
interface LatestEvent {
  readonly time: number;
  /** Position of the event's record. */
  readonly position: Position;
  /** JSON text. */
  readonly value: string;
}

/** Latest events by aspect. */
type LatestEvents = ReadonlyMap<string, LatestEvent>;

interface Touch {
  /** Empty: all entities of the type whose events of the aspect were truncated. */
  readonly urn: string;
  readonly entityType: string;
  readonly position: Position;
  /** The changed timeseries aspect; undefined for a change of the entity itself. */
  readonly series?: string | undefined;
}

/** The source of entity states: the aspect view. */
interface StateSource {
  /**
   * Checkpoint of the live generation. `getEntities` reads that generation or a later one, and
   * covers every record up to here.
   */
  position(): Promise<Position>;
  getEntities(urns: readonly string[]): Promise<readonly EntityState[]>;
  /** Called when the view is closed. */
  close(): Promise<void>;
}

/** The timeseries events that documents contain. */
interface EventSource<W> {
  /** The timeseries aspects that documents of an entity type contain. */
  aspectsOf(entityType: string): readonly string[];
  /** As `StateSource.position`, for `latest`. */
  position(): Promise<Position>;
  /** Latest events, for each urn. */
  latest(urns: readonly string[], aspects: readonly string[]): Promise<readonly LatestEvents[]>;
  /**
   * A page of the entities whose documents may contain an event of the aspect (SearchSink.holding).
   */
  holding(
    entityType: string,
    aspect: string,
    from?: string,
  ): Promise<{ readonly urns: readonly string[]; readonly next?: string | undefined }>;
  /** Applies writes ahead of their batch; the checkpoint does not move. */
  amend(writes: readonly W[]): Promise<void>;
  /** Called when the view is closed. */
  close(): Promise<void>;
  /**
   * True if the position also moves over records that the timeseries view ignores: batches can wait
   * for it. Otherwise the projector orders the views (View.builtFrom).
   */
  readonly coversIgnored: boolean;
}

interface DocumentViewParts<W> {
  readonly name: string;
  readonly sink: Sink<W>;
  readonly states: StateSource;
  /** Undefined: documents contain no timeseries. */
  readonly events?: EventSource<W> | undefined;
  /**
   * The write of an entity; it covers every record of the entity up to `position`. It may be made
   * lazily, when it is applied: until then it holds the immutable state. `policy`: called when the
   * write is made; absent without a parking.
   */
  readonly fold: (
    state: EntityState,
    entityType: string,
    position: Position,
    latest: LatestEvents,
    policy?: ValuePolicy,
  ) => W;
  /** Evaluates a lazy write. Absent if `fold` is not lazy. */
  readonly make?: ((write: W) => void) | undefined;
  /** Size of the cache of folded positions by entity; 20,000 when absent. */
  readonly foldedMax?: number | undefined;
  /** Maximum wait of a batch for the source views, in milliseconds. */
  readonly statesMsMax?: number | undefined;
}

const ASPECTS = "aspects";
const TIMESERIES = "timeseries";

/** States per read: a few megabytes, even if some entities have thousands of columns. */
const STATES_MAX = 200;
/** Maximum size of the states that pending writes reference; above it, they are applied at once. */
const PENDING_CHARS_MAX = 32 * 1024 * 1024;
const FOLDED_MAX = 20_000;
const NONE: LatestEvents = new Map();

/** Positions up to which an entity is folded: its own records, and its timeseries events. */
interface Folded {
  readonly states: Position;
  readonly events: Position;
}

const NOT_FOLDED: Folded = { states: START, events: START };

const isBeyond = ({ series, position: at }: Touch, { states, events }: Folded): boolean =>
  at > (series === undefined ? states : events);

export function createDocumentView<W>(parts: DocumentViewParts<W>): View<Touch> {
  const { name, sink, states, events, fold, make, foldedMax = FOLDED_MAX, statesMsMax = 0 } = parts;
  const folded = boundedCache<string, Folded>(foldedMax);
  const isHeld = (entityType: string, aspect: string): boolean =>
    events?.aspectsOf(entityType).includes(aspect) ?? false;

  let parking: Parking | undefined;
  const valueParking = createValueParking();

  /** Evaluates the writes of these entities, to find the values that cannot be projected. */
  async function makeDocuments(touches: readonly Touch[], upTo: Position): Promise<void> {
    for (const slice of slicesOf(touches, STATES_MAX)) {
      for (const write of (await foldAll(slice, upTo)).writes) {
        try {
          make?.(write);
        } catch {
          // The store gets the write and rejects it.
        }
      }
      await yieldToEventLoop();
    }
  }

  /** The last known checkpoint of the sink. */
  let lastCheckpoint = position(0);

  /** True if the entity's document was dropped and no later record has changed the entity. */
  const isOmitted = (urn: string, at: Position): boolean =>
    parking !== undefined && at <= parking.omittedUpTo(urn);

  /** Waits until both source views cover these touches. */
  async function awaitStates(touches: readonly Touch[], upTo?: Position): Promise<Folded> {
    const last = (some: readonly Touch[]): Position =>
      position(maxOf([0, ...some.map((touch) => touch.position)]));
    const waiting = { waiter: `the view "${name}"`, msMax: statesMsMax };
    // A checkpoint need not move over records that the view ignores: waits for touches only.
    const own = last(touches.filter(({ series }) => series === undefined));
    const at = await awaitPosition(states, own, { ...waiting, view: "aspect" });
    if (events === undefined) return { states: at, events: at };
    const lastEvent = last(touches.filter(({ series }) => series !== undefined));
    const wanted =
      events.coversIgnored && upTo !== undefined && touches.length > 0 ? upTo : lastEvent;
    const seen = await awaitPosition(events, wanted, { ...waiting, view: TIMESERIES });
    return { states: at, events: seen };
  }

  const isStale = (touch: Touch): boolean => isBeyond(touch, folded.get(touch.urn) ?? NOT_FOLDED);

  /** The last read positions of both source views, while restores run in one transaction. */
  let sourcesInRestore: Folded | undefined;

  async function latestOf(
    touches: readonly Touch[],
    series?: readonly string[],
  ): Promise<ReadonlyMap<string, LatestEvents>> {
    const found = new Map<string, LatestEvents>();
    if (events === undefined) return found;
    for (const [type, some] of Map.groupBy(touches, ({ entityType }) => entityType)) {
      const aspects = series ?? events.aspectsOf(type);
      if (aspects.length === 0) continue;
      const urns = some.map(({ urn }) => urn);
      const latest = await events.latest(urns, aspects);
      for (const [n, urn] of urns.entries()) found.set(urn, latest[n] ?? NONE);
    }
    return found;
  }

  /** Folds the touched entities into writes, in order, and adds up the size of their states. */
  async function foldAll(
    touches: readonly Touch[],
    upTo: Position,
  ): Promise<{ readonly writes: readonly W[]; readonly chars: number }> {
    const found = await states.getEntities(touches.map(({ urn }) => urn));
    const latest = await latestOf(touches);
    const writes = touches.map(({ urn, entityType }, n) => {
      const events = latest.get(urn) ?? NONE;
      return fold(found[n] as EntityState, entityType, upTo, events, valueParking.policyOf(urn));
    });
    let chars = 0;
    for (const { aspects } of found) {
      for (const { value } of aspects.values()) chars += value.length;
    }
    return { writes, chars };
  }

  /** Applies writes one by one after an error, to find the entity whose write the store rejects. */
  async function amendOneByOne(
    touches: readonly Touch[],
    writes: readonly W[],
    { amend }: EventSource<W>,
  ): Promise<void> {
    try {
      await amend(writes);
    } catch (error) {
      if (!isPoison(error) || valueParking.hasUnlisted()) throw error;
      for (const [n, write] of writes.entries()) {
        try {
          await amend([write]);
        } catch (cause) {
          if (!isPoison(cause) || valueParking.hasUnlisted()) throw cause;
          throw new EntityRejected(touches[n]?.urn ?? "", cause);
        }
      }
    }
  }

  /** Folds the entities whose documents contain truncated events. */
  async function foldTruncated(touch: Touch, upTo: Position): Promise<void> {
    const { entityType, series = "" } = touch;
    if (events === undefined) return;
    let from: string | undefined;
    do {
      const page = await events.holding(entityType, series, from);
      const holding = page.urns.map((urn) => ({ ...touch, urn }));
      const latest = await latestOf(holding, [series]);
      const lost = holding.filter(({ urn }) => !latest.get(urn)?.has(series)).filter(isStale);
      for (const some of slicesOf(lost, STATES_MAX)) {
        await amendOneByOne(some, (await foldAll(some, upTo)).writes, events);
      }
      from = page.next;
      await yieldToEventLoop();
    } while (from !== undefined);
  }

  async function apply(batch: readonly Touch[], upTo: Position, record?: string): Promise<void> {
    const stale = new Map<string, Touch>();
    const touches = batch.filter(({ urn, position: at }) => !isOmitted(urn, at));
    const ofEntities = touches.filter(({ urn }) => urn !== "");
    for (const touch of ofEntities) if (isStale(touch)) stale.set(touch.urn, touch);
    const truncations = touches.filter(({ urn }) => urn === "");
    const toFold = [...stale.values()];
    const at = await awaitStates([...ofEntities.filter(isStale), ...truncations], upTo);
    await valueParking.withListedValues(
      upTo,
      () => makeDocuments(toFold, upTo),
      async () => {
        for (const truncation of truncations) await foldTruncated(truncation, upTo);
        let writes: W[] = [];
        let held = 0;
        for (const slice of slicesOf(toFold, STATES_MAX)) {
          if (held > PENDING_CHARS_MAX && events !== undefined) {
            await events.amend(writes);
            writes = [];
            held = 0;
          }
          const some = await foldAll(slice, upTo);
          appendAll(writes, some.writes);
          held += some.chars;
        }
        await sink.apply(writes, upTo, record);
      },
    );
    for (const { urn } of toFold) folded.set(urn, at);
    lastCheckpoint = upTo;
  }

  /**
   * Fails in a transaction if it must park, which writes to the log: the entity is restored alone.
   */
  async function restoreOne(last: Touch | undefined, urn: string): Promise<void> {
    folded.delete(urn);
    const own = sourcesInRestore === undefined ? parking : undefined;
    if (parking?.isRejected(urn) && own === undefined) throw new Error(`"${urn}" is parked`);
    await own?.release(urn, WHOLE_DOCUMENT.aspect);
    if (last === undefined || isOmitted(urn, last.position)) return sink.restore(urn, []);
    const put = async () => sink.restore(urn, (await foldAll([last], last.position)).writes);
    if (own === undefined) return put();
    try {
      await valueParking.withListedValues(
        last.position,
        () => makeDocuments([last], last.position),
        put,
      );
    } catch (error) {
      if (!isPoison(error)) throw error;
      await own.park({ urn, position: last.position, ...WHOLE_DOCUMENT }, error);
      await sink.restore(urn, []);
      throw error;
    }
  }

  return {
    name,
    costly: true,
    builtFrom: events === undefined ? [ASPECTS] : [ASPECTS, TIMESERIES],
    project: (change) => touchesOf(change, isHeld),
    onParking(used) {
      parking = used;
      valueParking.setParking(used);
    },
    async followSources() {
      await Promise.allSettled([states.position(), events?.position()]);
    },
    sink: {
      apply,
      /**
       * Folds the states of the source views, which are restored first. An entity without records
       * has no touch, and no write.
       */
      async restore(urn, touches) {
        const own: Touch[] = [];
        for await (const touch of touches) if (touch.urn === urn) keepLast(own, touch);
        const last = own.toSorted((a, b) => a.position - b.position).at(-1);
        if (own.some((touch) => isBeyond(touch, sourcesInRestore ?? NOT_FOLDED))) {
          const at = await awaitStates(own);
          if (sourcesInRestore !== undefined) sourcesInRestore = at;
        }
        await restoreOne(last, urn);
      },
      ...(sink.inTransaction && {
        async inTransaction(work) {
          sourcesInRestore = NOT_FOLDED;
          try {
            await sink.inTransaction?.(work);
          } finally {
            sourcesInRestore = undefined;
          }
        },
      }),
      ...(sink.maintain !== undefined && {
        maintain: () => sink.maintain?.() ?? Promise.resolve(false),
      }),
      async position() {
        const at = await sink.position();
        // The view lost writes: the cached positions are too high.
        if (at < lastCheckpoint) folded.clear();
        lastCheckpoint = at;
        return at;
      },
      lastRecord: async () => sink.lastRecord?.(),
      async reset() {
        folded.clear();
        await sink.reset();
      },
      ...(sink.staged !== undefined && { staged: sink.staged }),
      ...(sink.publish && { publish: (head) => sink.publish?.(head) ?? Promise.resolve() }),
      async close(outcome) {
        await sink.close(outcome);
        await states.close();
        await events?.close();
      },
    },
  };
}

/** The documents that a change affects. */
function touchesOf(
  change: PlacedChange,
  isHeld: (entityType: string, aspect: string) => boolean,
): readonly Touch[] {
  const { timeseries, urn, entityType, aspect, position: at } = change;
  if (!timeseries) return [{ urn, entityType, position: at }];
  return isHeld(entityType, aspect) ? [{ urn, entityType, position: at, series: aspect }] : [];
}

/** Keeps the last touch of each timeseries: an entity may have a million events. */
function keepLast(touches: Touch[], touch: Touch): void {
  const before = touches.findIndex(({ series }) => series === touch.series);
  if (before >= 0) touches.splice(before, 1);
  touches.push(touch);
}
