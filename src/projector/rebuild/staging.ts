/**
 * Builds staging generations: applies the log to new generations of views, from the first record to
 * near its head, while the live generations are in use. rebuilding.ts verifies them and swaps them in.
 *
 * Views that are made of others are built when those are near the head, from their state then: each
 * entity is folded once. After that they follow together.
 *
 * Views in servers are verified while they are open and stand still, and then brought near once more.
 * Views in files are verified when they are closed (rebuilding.ts).
 *
 * Records that a view cannot apply are parked in memory and returned at the end: no one else sees them
 * before the swap.
 */
import { setTimeout as delay, setImmediate as otherTurns } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { type ChangeLog, LogDamaged, recordsBetween } from "../../log/change-log.ts";
import { applyToView } from "../apply-batch.ts";
import { type Batch, type Decode, decodeBatch } from "../batch.ts";
import { cut } from "../batch-groups.ts";
import {
  openParkingOf,
  type Parked,
  type Parking,
  type ParkingNotes,
  WHOLE,
} from "../parking/parking.ts";
import { isConflict } from "../projector-errors.ts";
import type { Staged, View } from "../sink.ts";
import { workedMs } from "../thread/cpu-time.ts";

export interface StagingParts {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: Decode;
  /** The parking of the views when the build begins. */
  readonly notes: Pick<ParkingNotes, "load">;
  /** Closed at the end, whatever the outcome. */
  readonly views: readonly View[];
  /**
   * Opens views that are made of `views`, which are closed by then. `again` are `views` reopened for
   * writing, so that the others can read them meanwhile. Closed at the end, too.
   */
  readonly made?:
    | (() => Promise<{ readonly again: readonly View[]; readonly folded: readonly View[] }>)
    | undefined;
  readonly onProgress: (progress: BuildProgress) => void;
  /** Verifies views in servers, by name, without the parked entities. When it rejects, so does the build. */
  readonly onStaged?:
    | ((staged: Readonly<Record<string, Staged>>, parked: readonly Parked[]) => Promise<void>)
    | undefined;
  /** Called when the views are near the head; resolves with the position that they have to reach. */
  readonly onNear: () => Promise<Position>;
  /** Called when views that are live before they are closed (Sink.publish) are live. */
  readonly onInPlace?: ((parked: readonly Parked[]) => void) | undefined;
  readonly signal: AbortSignal;
  /**
   * Called after each batch with its milliseconds of work (thread/cpu-time.ts): pauses, `haste` times shorter
   * than usual.
   */
  readonly rest?: ((ms: number, haste: number) => Promise<void>) | undefined;
  /** Records of a batch; BATCH_MAX when absent. */
  readonly batchMax?: number | undefined;
}

/** How far the build of one view is. */
export interface RebuildProgress {
  readonly position: Position;
  readonly head: Position;
  readonly recordsPerSecond: number;
}

/** How far the build of some views is, which reach the head together. */
export interface BuildProgress extends RebuildProgress {
  readonly views: readonly string[];
  /** Records that these views have read, and records of the log up to the head. */
  readonly records: number;
  readonly total: number;
  /** Records that views before them have read. */
  readonly before: number;
  /** Number of passes over the log that follow. */
  readonly left: number;
  /** Another worker builds other views, which reach the head later. */
  readonly beside?: boolean | undefined;
}

/**
 * Records behind the head that count as near: a batch or two. While the distance does not halve from turn
 * to turn, pauses become shorter. When they are shortest and it still does not halve, writers append faster
 * than views follow: that distance counts as near, too.
 */
const NEAR = 5_000;
const HASTE_TIMES = 16;
/** Small rows with random keys touch each page of an index once per batch: larger batches write less. */
const BATCH_MAX = 5_000;
/** Attempts to make a view in a server live, whose live generation another process may move meanwhile. */
const TRIES_MAX = 10;
/** Pauses before a read of a log that is unavailable is repeated, first and at most. */
const PAUSE_MS = { first: 100, max: 10_000 };

/**
 * Resolves, when the views are closed and durable, with everything that is parked in them. Rejects when
 * a view cannot be built, and with the signal's reason; then all are discarded.
 */
export async function buildStaging(parts: StagingParts): Promise<readonly Parked[]> {
  const { signal, made } = parts;
  const log = patient(parts.log, signal);
  let open = parts.views;
  let outcome: "keep" | "discard" = "discard";
  let haste = 1;
  const rest = async (ms: number) => parts.rest?.(ms, haste);
  const whole = { ...parts, log, rest };
  async function comeNear(building: Building): Promise<void> {
    for (let [left, hasteMax] = [Infinity, haste * HASTE_TIMES]; ; ) {
      const before = left;
      await building.applyTo(await log.head());
      await building.tidy();
      left = recordsBetween(log, building.position(), await log.head());
      if (left <= NEAR) return;
      if (left < before / 2) continue;
      if (haste >= hasteMax) return;
      haste *= 2;
    }
  }
  try {
    const first = await begin(whole, open, { before: 0, left: made === undefined ? 0 : 1 });
    await comeNear(first);
    let all: Building = first;
    if (made !== undefined) {
      await closeAll(open, "keep");
      open = [];
      const { again, folded } = await made();
      open = [...again, ...folded];
      const passes = { before: first.records(), left: 0 };
      all = together(first.again(again), await begin(whole, folded, passes));
      await comeNear(all);
    }
    const staged = await stagedOf(open);
    if (Object.keys(staged).length > 0 && parts.onStaged !== undefined) {
      await parts.onStaged(staged, all.parked());
      await comeNear(all);
    }
    await all.applyTo(await parts.onNear());
    await all.tidy();
    signal.throwIfAborted();
    outcome = "keep";
    const parked = all.parked();
    if (open.every(({ sink }) => sink.publish !== undefined)) {
      await publishAll(open, log, (head) => all.applyTo(head));
      parts.onInPlace?.(parked);
    }
    return parked;
  } finally {
    await closeAll(open, outcome);
  }
}

interface Building extends Applier {
  parked(): readonly Parked[];
}

/** Builds the views from START. */
async function begin(
  {
    log,
    decode,
    notes,
    signal,
    rest,
    batchMax,
    onProgress,
  }: Omit<StagingParts, "rest"> & {
    readonly rest: (ms: number) => Promise<void>;
  },
  views: readonly View[],
  passes: Pick<BuildProgress, "before" | "left">,
): Promise<Building & CountingApplier & { again(views: readonly View[]): Building }> {
  const parkings = await Promise.all(
    views.map((view) =>
      // Nothing is written to the log before the swap.
      openParkingOf(view, { load: notes.load, write: async () => {} }, Date.now),
    ),
  );
  for (const { sink } of views) if ((await sink.position()) !== START) await sink.reset();
  const names = views.map(({ name }) => name);
  // Their documents are in the staging generation, which lists them until its parking is settled with the log.
  const rejected = parkings.flatMap((parking) =>
    parking.list().filter(({ aspect }) => aspect === WHOLE.aspect),
  );
  const parked = () => {
    const listed = parkings.flatMap((parking) => parking.list());
    const urns = new Set(listed.map(({ urn }) => urn));
    return [...listed, ...rejected.filter(({ urn }) => !urns.has(urn))];
  };
  const parts = { log, decode, parkings, signal, rest, batchMax };
  const applier = createApplier({
    ...{ ...parts, views, from: START },
    onProgress({ position, head, recordsPerSecond }) {
      const records = applier.records();
      const total = records + recordsBetween(log, position, head);
      onProgress({ position, head, records, total, recordsPerSecond, views: names, ...passes });
    },
  });
  return {
    ...{ ...applier, parked },
    again(same) {
      return { ...createApplier({ ...parts, views: same, from: applier.position() }), parked };
    },
  };
}

/** The second is made of the first. */
function together(first: Building, second: Building): Building {
  return {
    position: () => (first.position() < second.position() ? first.position() : second.position()),
    async applyTo(head) {
      await first.applyTo(head);
      await second.applyTo(head);
    },
    async tidy() {
      await first.tidy();
      await second.tidy();
    },
    parked: () => [...first.parked(), ...second.parked()],
  };
}

/** A log that is unavailable for a while does not end the build. */
function patient(log: StagingParts["log"], signal: AbortSignal): StagingParts["log"] {
  async function retried<T>(read: () => Promise<T>): Promise<T> {
    for (let pauseMs = PAUSE_MS.first; ; pauseMs *= 2) {
      try {
        return await read();
      } catch (error) {
        const away = error instanceof CatalogError && error.code === "unavailable";
        const later = away && !(error instanceof LogDamaged);
        if (!later || pauseMs > PAUSE_MS.max) throw error;
        await delay(pauseMs, undefined, { signal });
      }
    }
  }
  return {
    ...log,
    readAll: (from, options) => retried(() => log.readAll(from, options)),
    head: () => retried(() => log.head()),
  };
}

const brokenOff = (at: Position, head: Position): LogDamaged =>
  new LogDamaged("unavailable", `the log ends at position ${at}, but its head was ${head}`, {
    hint: "It is damaged: restore it from a backup",
  });

/** The positions of views in servers, by name. */
async function stagedOf(views: readonly View[]): Promise<Readonly<Record<string, Staged>>> {
  const staged: Record<string, Staged> = {};
  for (const { name, sink } of views) {
    if (sink.staged !== undefined) staged[name] = await sink.staged();
  }
  return staged;
}

/**
 * Makes views in servers live. The live generation may be further, since another process feeds it: then
 * the log is applied further, and this is repeated.
 */
async function publishAll(
  views: readonly View[],
  log: Pick<ChangeLog, "head">,
  applyTo: (head: Position) => Promise<void>,
): Promise<void> {
  let left = views;
  for (let tries = 1; left.length > 0; tries++) {
    const head = await log.head();
    const outcomes = await Promise.allSettled(left.map(({ sink }) => sink.publish?.(head)));
    const failures = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    const fatal = failures.find((error) => !isConflict(error)) ?? failures[0];
    left = left.filter((_, n) => outcomes[n]?.status === "rejected");
    if (fatal === undefined) return;
    if (tries === TRIES_MAX || !isConflict(fatal)) throw fatal;
    await applyTo(await log.head());
  }
}

/** Closes views that are made of others first, which have those open. Each is closed, also if one fails. */
export async function closeAll(views: readonly View[], outcome: "keep" | "discard"): Promise<void> {
  const closing = views.toReversed().map(({ sink }) => sink.close(outcome));
  const failed = (await Promise.allSettled(closing)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Applies the log to views that are at the same position. */
export interface Applier {
  position(): Position;
  /**
   * Up to this position, or to the next one of a record. Rejects when a record cannot be read, and when
   * a view cannot apply it and has no parking.
   */
  applyTo(end: Position): Promise<void>;
  /** Does the work that the views have deferred. */
  tidy(): Promise<void>;
}

interface CountingApplier extends Applier {
  /** Records that were read: positions are not consecutive in every log. */
  records(): number;
}

export function createApplier(
  parts: Pick<StagingParts, "views" | "decode" | "batchMax"> & {
    readonly log: Pick<ChangeLog, "readAll">;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
    /** Of each view; undefined: a record that it cannot apply ends the work. */
    readonly parkings: readonly (Parking | undefined)[];
    readonly from: Position;
    readonly rest?: ((ms: number) => Promise<void>) | undefined;
  },
): CountingApplier {
  const { log, views, decode, onProgress, batchMax = BATCH_MAX, parkings, from, signal } = parts;
  const begun = performance.now();
  let position = from;
  let records = 0;
  return {
    position: () => position,
    records: () => records,
    async applyTo(head) {
      while (position < head) {
        signal?.throwIfAborted();
        const before = workedMs();
        // Records after the end are left out: the sources of views that are made of others are not there yet.
        const page = cut(await log.readAll(position, { limit: batchMax }), head);
        if (page.length === 0) throw brokenOff(position, head);
        const changes = decodeBatch(page, decode, position);
        // Past a record that cannot be decoded, which views park.
        const end = changes.poison?.position ?? changes.upTo;
        for (const [n, view] of views.entries()) {
          await feedTo(end, view, changes, position, parkings[n]);
        }
        if (changes.failure !== undefined && changes.poison === undefined) throw changes.failure;
        position = end;
        records += page.findLastIndex((record) => record.position <= end) + 1;
        const seconds = (performance.now() - begun) / 1_000;
        // Views and logs may never wait: the thread has to receive its messages in between.
        await otherTurns();
        await parts.rest?.(workedMs() - before);
        const reached = position > head ? position : head;
        onProgress?.({ position, head: reached, recordsPerSecond: records / seconds });
      }
    },
    async tidy() {
      for (const { sink } of views) {
        for (let more = true; more; ) more = (await sink.tidy?.()) ?? false;
      }
    },
  };
}

async function feedTo(
  end: Position,
  view: View,
  changes: Batch<PlacedChange>,
  after: Position,
  parking: Parking | undefined,
): Promise<void> {
  for (let at = after; at < end; ) {
    const items = at === after ? changes.items : changes.items.filter((one) => one.position > at);
    const fed = await applyToView(view, { ...changes, items }, at, { parking, always: () => true });
    if (fed.failure !== undefined) throw fed.failure;
    at = fed.upTo;
  }
}
