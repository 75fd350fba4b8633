/**
 * Views of what entities are, rather than of what happened to them: each write is the whole fold of
 * one entity, and depends on no write before it.
 *
 * A batch tells which entities it touches. Their states are then read from the aspect view, and the
 * latest events of their timeseries from the timeseries view, which the projector brings forward
 * first; both may be newer than the batch, never older. So a batch that is told again, or late,
 * writes what is true now, and an entity that is touched a hundred times in a batch is folded once.
 *
 * A truncation touches no entity by name: those whose writes tell of events that are not there any
 * more are asked for, and folded again.
 */
import { setImmediate as otherTurns } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { PlacedChange } from "../core/change.ts";
import type { EntityState } from "../core/entity-state.ts";
import type { ValuePolicy } from "../core/parked-values.ts";
import { type Position, position, START } from "../core/position.ts";
import { awaitPosition } from "./awaited.ts";
import { EntityRefused, isPoison, type Parking, WHOLE } from "./parking.ts";
import { createSettling } from "./settling.ts";
import type { Sink, View } from "./sink.ts";

/** The latest event of a timeseries. */
export interface Event {
  readonly time: number;
  /** Of its record. */
  readonly position: Position;
  /** JSON text. */
  readonly value: string;
}

/** By aspect. */
export type LatestEvents = ReadonlyMap<string, Event>;

export interface Touch {
  /** Empty: those of the type that have lost their events of the aspect. */
  readonly urn: string;
  readonly entityType: string;
  readonly position: Position;
  /** The timeseries aspect that touches; undefined for what is of the entity itself. */
  readonly series?: string | undefined;
}

/** Where states come from: the aspect view. */
export interface States {
  /**
   * Every record up to here is in what getEntities gives, which is asked of the edition that is in
   * place now, or of a later one.
   */
  position(): Promise<Position>;
  getEntities(urns: readonly string[]): Promise<readonly EntityState[]>;
  /** Called when the view is closed. */
  close(): Promise<void>;
}

/** What the fold heeds of timeseries. */
export interface Events<W> {
  /** The aspects of an entity type that it heeds. */
  aspectsOf(entityType: string): readonly string[];
  /** The same of what `latest` gives. */
  position(): Promise<Position>;
  /** For each urn. */
  latest(urns: readonly string[], aspects: readonly string[]): Promise<readonly LatestEvents[]>;
  /** Entities whose writes may tell of an event of the aspect: SearchSink.holding. */
  telling(
    entityType: string,
    aspect: string,
    from?: string,
  ): Promise<{ readonly urns: readonly string[]; readonly next?: string | undefined }>;
  /** Sink.apply for writes that come before their batch. */
  amend(writes: readonly W[]): Promise<void>;
  /** Called when the view is closed. */
  close(): Promise<void>;
  /**
   * Whether its position moves over what the timeseries view ignores, so that it can be waited for
   * with every batch; otherwise the projector sees to it (View.madeOf).
   */
  readonly moves: boolean;
}

export interface FoldingParts<W> {
  readonly name: string;
  readonly sink: Sink<W>;
  readonly states: States;
  /** Undefined: timeseries bear on nothing. */
  readonly events?: Events<W> | undefined;
  /**
   * The write of an entity; `position`: every record of the entity up to there is told by it. What
   * makes it may be put off until it is applied: it then holds the state, which never changes.
   * `policy`: called when the write is made; absent where nothing can be parked.
   */
  readonly fold: (
    state: EntityState,
    entityType: string,
    position: Position,
    latest: LatestEvents,
    policy?: ValuePolicy,
  ) => W;
  /** Makes the write now. Absent: `fold` has made it. */
  readonly make?: ((write: W) => void) | undefined;
  /** Entities of which it is remembered how far they are folded; 20,000 when absent. */
  readonly foldedMax?: number | undefined;
  /** How long a batch waits for the states to come as far, where others do not wait for it; in ms. */
  readonly statesMsMax?: number | undefined;
}

const ASPECTS = "aspects";
const TIMESERIES = "timeseries";

/** States read at once: a few megabytes, some of them of thousands of columns. */
const STATES_MAX = 200;
/** Of states that the writes of a batch hold; with more, some of them come before their batch. */
const HELD_CHARS_MAX = 32 * 1024 * 1024;
const FOLDED_MAX = 20_000;
const NONE: LatestEvents = new Map();

/** How far an entity is folded: its own records, and the events of its timeseries. */
interface Folded {
  readonly states: Position;
  readonly events: Position;
}

const NOWHERE: Folded = { states: START, events: START };

const isBeyond = ({ series, position: at }: Touch, { states, events }: Folded): boolean =>
  at > (series === undefined ? states : events);

export function createFoldingView<W>(parts: FoldingParts<W>): View<Touch> {
  const { name, sink, states, events, fold, make, foldedMax = FOLDED_MAX, statesMsMax = 0 } = parts;
  // By size, though all have the same: for a number of them it would take memory for all at once.
  const folded = new LRUCache<string, Folded>({ maxSize: foldedMax, sizeCalculation: () => 1 });
  const heeds = (entityType: string, aspect: string): boolean =>
    events?.aspectsOf(entityType).includes(aspect) ?? false;

  let parking: Parking | undefined;
  const settling = createSettling();

  /** Makes the writes of these entities, for the values that cannot be projected. */
  async function makeAll(touches: readonly Touch[], upTo: Position): Promise<void> {
    for (let from = 0; from < touches.length; from += STATES_MAX) {
      for (const write of (await foldAll(touches.slice(from, from + STATES_MAX), upTo)).writes) {
        try {
          make?.(write);
        } catch {
          // The store is given the write, and rejects it.
        }
      }
      await otherTurns();
    }
  }

  /** Where the sink was when it was last heard of. */
  let left = position(0);

  /** Whether the entity's document was dropped and nothing has changed it since. */
  const isOmitted = (urn: string, at: Position): boolean =>
    parking !== undefined && at <= parking.omittedUpTo(urn);

  /** Waits until both have what these touches tell of. */
  async function awaitStates(touches: readonly Touch[], upTo?: Position): Promise<Folded> {
    const last = (some: readonly Touch[]): Position =>
      position(Math.max(0, ...some.map((touch) => touch.position)));
    const waiting = { waiter: `the view "${name}"`, msMax: statesMsMax };
    // A checkpoint stays behind over records that the view ignores, which touch nothing.
    const own = last(touches.filter(({ series }) => series === undefined));
    const at = await awaitPosition(states, own, { ...waiting, view: "aspect" });
    if (events === undefined) return { states: at, events: at };
    const told = last(touches.filter(({ series }) => series !== undefined));
    const wanted = events.moves && upTo !== undefined && touches.length > 0 ? upTo : told;
    const seen = await awaitPosition(events, wanted, { ...waiting, view: TIMESERIES });
    return { states: at, events: seen };
  }

  const isStale = (touch: Touch): boolean => isBeyond(touch, folded.get(touch.urn) ?? NOWHERE);

  /** Of restores that are done together: how far both were when that was asked last. */
  let asked: Folded | undefined;

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

  /** The writes of some entities, in the order of the touches, and the size of what they hold. */
  async function foldAll(
    touches: readonly Touch[],
    upTo: Position,
  ): Promise<{ readonly writes: readonly W[]; readonly chars: number }> {
    const found = await states.getEntities(touches.map(({ urn }) => urn));
    const latest = await latestOf(touches);
    const writes = touches.map(({ urn, entityType }, n) => {
      const events = latest.get(urn) ?? NONE;
      return fold(found[n] as EntityState, entityType, upTo, events, settling.policyOf(urn));
    });
    let chars = 0;
    for (const { aspects } of found) {
      for (const { value } of aspects.values()) chars += value.length;
    }
    return { writes, chars };
  }

  /** Names the entity that cannot be taken: the touch is of none. */
  async function amendEach(
    touches: readonly Touch[],
    writes: readonly W[],
    { amend }: Events<W>,
  ): Promise<void> {
    try {
      await amend(writes);
    } catch (error) {
      if (!isPoison(error) || settling.isDue()) throw error;
      for (const [n, write] of writes.entries()) {
        try {
          await amend([write]);
        } catch (cause) {
          if (!isPoison(cause) || settling.isDue()) throw cause;
          throw new EntityRefused(touches[n]?.urn ?? "", cause);
        }
      }
    }
  }

  /** Folds those that tell of events which a truncation took. */
  async function foldTruncated(touch: Touch, upTo: Position): Promise<void> {
    const { entityType, series = "" } = touch;
    if (events === undefined) return;
    let from: string | undefined;
    do {
      const page = await events.telling(entityType, series, from);
      const told = page.urns.map((urn) => ({ ...touch, urn }));
      const latest = await latestOf(told, [series]);
      const lost = told.filter(({ urn }) => !latest.get(urn)?.has(series)).filter(isStale);
      for (let at = 0; at < lost.length; at += STATES_MAX) {
        const some = lost.slice(at, at + STATES_MAX);
        await amendEach(some, (await foldAll(some, upTo)).writes, events);
      }
      from = page.next;
      await otherTurns();
    } while (from !== undefined);
  }

  async function apply(given: readonly Touch[], upTo: Position, record?: string): Promise<void> {
    const stale = new Map<string, Touch>();
    const touches = given.filter(({ urn, position: at }) => !isOmitted(urn, at));
    const some = touches.filter(({ urn }) => urn !== "");
    for (const touch of some) if (isStale(touch)) stale.set(touch.urn, touch);
    const truncations = touches.filter(({ urn }) => urn === "");
    const all = [...stale.values()];
    const at = await awaitStates([...some.filter(isStale), ...truncations], upTo);
    await settling.settled(
      upTo,
      () => makeAll(all, upTo),
      async () => {
        for (const truncation of truncations) await foldTruncated(truncation, upTo);
        let writes: W[] = [];
        let held = 0;
        for (let from = 0; from < all.length; from += STATES_MAX) {
          if (held > HELD_CHARS_MAX && events !== undefined) {
            await events.amend(writes);
            writes = [];
            held = 0;
          }
          const some = await foldAll(all.slice(from, from + STATES_MAX), upTo);
          writes.push(...some.writes);
          held += some.chars;
        }
        await sink.apply(writes, upTo, record);
      },
    );
    for (const { urn } of all) folded.set(urn, at);
    left = upTo;
  }

  /** Within `together` nothing can be listed as parked: such an entity is restored alone. */
  async function restoreOne(last: Touch | undefined, urn: string): Promise<void> {
    folded.delete(urn);
    const own = asked === undefined ? parking : undefined;
    if (parking?.isRejected(urn) && own === undefined) throw new Error(`"${urn}" is parked`);
    await own?.release(urn, WHOLE.aspect);
    if (last === undefined || isOmitted(urn, last.position)) return sink.restore(urn, []);
    const put = async () => sink.restore(urn, (await foldAll([last], last.position)).writes);
    if (own === undefined) return put();
    try {
      await settling.settled(last.position, () => makeAll([last], last.position), put);
    } catch (error) {
      if (!isPoison(error)) throw error;
      await own.park({ urn, position: last.position, ...WHOLE }, error);
      await sink.restore(urn, []);
      throw error;
    }
  }

  return {
    name,
    costly: true,
    madeOf: events === undefined ? [ASPECTS] : [ASPECTS, TIMESERIES],
    project: (change) => touchesOf(change, heeds),
    useParking(used) {
      parking = used;
      settling.use(used);
    },
    async letGo() {
      await Promise.allSettled([states.position(), events?.position()]);
    },
    sink: {
      apply,
      /**
       * The views that it is made of are restored first: what they then say of the entity is folded.
       * One that the log never told of has no touch, and no write.
       */
      async restore(urn, touches) {
        const told: Touch[] = [];
        for await (const touch of touches) if (touch.urn === urn) keepLast(told, touch);
        const last = told.toSorted((a, b) => a.position - b.position).at(-1);
        if (told.some((touch) => isBeyond(touch, asked ?? NOWHERE))) {
          const at = await awaitStates(told);
          if (asked !== undefined) asked = at;
        }
        await restoreOne(last, urn);
      },
      ...(sink.together && {
        async together(work) {
          asked = NOWHERE;
          try {
            await sink.together?.(work);
          } finally {
            asked = undefined;
          }
        },
      }),
      ...(sink.tidy !== undefined && { tidy: () => sink.tidy?.() ?? Promise.resolve(false) }),
      async position() {
        const at = await sink.position();
        // Behind where it was left: it lost something, and what is known of it is not true any more.
        if (at < left) folded.clear();
        left = at;
        return at;
      },
      lastRecord: async () => sink.lastRecord?.(),
      async reset() {
        folded.clear();
        await sink.reset();
      },
      ...(sink.grown !== undefined && { grown: sink.grown }),
      ...(sink.publish && { publish: (head) => sink.publish?.(head) ?? Promise.resolve() }),
      async close(outcome) {
        await sink.close(outcome);
        await states.close();
        await events?.close();
      },
    },
  };
}

/** What a change touches. */
function touchesOf(
  change: PlacedChange,
  heeds: (entityType: string, aspect: string) => boolean,
): readonly Touch[] {
  const { timeseries, urn, entityType, aspect, position: at } = change;
  if (!timeseries) return [{ urn, entityType, position: at }];
  return heeds(entityType, aspect) ? [{ urn, entityType, position: at, series: aspect }] : [];
}

/** Of a million events of an entity, the last of each of its timeseries says enough. */
function keepLast(touches: Touch[], touch: Touch): void {
  const before = touches.findIndex(({ series }) => series === touch.series);
  if (before >= 0) touches.splice(before, 1);
  touches.push(touch);
}
