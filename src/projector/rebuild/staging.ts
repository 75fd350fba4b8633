/**
 * Builds staging generations: applies the log to new generations of views, from the first record to
 * near its head, while the live generations are in use. rebuilding.ts verifies them and swaps them
 * in.
 *
 * Folded views, such as search, are built from other views when those are near the head, so each
 * entity is folded once. After that, all views apply the log.
 *
 * Generations on a server are verified while they are open; the build waits, and then catches up
 * again. Generations in files are verified after they are closed (rebuilding.ts).
 *
 * Records that a view cannot apply are parked in memory and returned at the end. The swap writes
 * them to the log.
 */
import { setTimeout as delay, setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { type ChangeLog, LogDamaged, recordsBetween } from "../../log/change-log.ts";
import { applyToView } from "../apply-batch.ts";
import { type Batch, type Decode, decodeBatch } from "../batch.ts";
import { limitBatch } from "../batch-groups.ts";
import {
  openParkingOf,
  type Parked,
  type Parking,
  type ParkingStore,
  WHOLE_DOCUMENT,
} from "../parking/parking.ts";
import { isConflict } from "../projector-errors.ts";
import type { Staged, View } from "../sink.ts";

export interface StagingParts {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: Decode;
  /** The parking of the views when the build begins. */
  readonly parkingStore: Pick<ParkingStore, "load">;
  /** Closed at the end, whatever the outcome. */
  readonly views: readonly View[];
  /**
   * Opens the views that are built from `views`, after `views` are closed. `reopened`: `views`,
   * opened again for writing, while the folded views read them. All of them are closed at the end.
   */
  readonly openFolded?:
    | (() => Promise<{ readonly reopened: readonly View[]; readonly folded: readonly View[] }>)
    | undefined;
  readonly onProgress: (progress: BuildProgress) => void;
  /**
   * Verifies staging generations on a server, by view, without the parked entities. The build fails
   * when it rejects.
   */
  readonly onStaged?:
    | ((staged: Readonly<Record<string, Staged>>, parked: readonly Parked[]) => Promise<void>)
    | undefined;
  /** Called when the views are near the head; resolves with the position to apply the log to. */
  readonly onNear: () => Promise<Position>;
  /** Called when views that become live before they are closed (Sink.publish) are live. */
  readonly onLive?: ((parked: readonly Parked[]) => void) | undefined;
  readonly signal: AbortSignal;
  /** Records of a batch; BATCH_MAX when absent. */
  readonly batchMax?: number | undefined;
}

/** Progress of the build of one view. */
export interface RebuildProgress {
  readonly position: Position;
  readonly head: Position;
  readonly recordsPerSecond: number;
}

/** Progress of the build of views that reach the head together. */
export interface BuildProgress extends RebuildProgress {
  readonly views: readonly string[];
  /** Records that these views have read, and records of the log up to the head. */
  readonly records: number;
  readonly total: number;
  /** Records that the previous passes over the log have read. */
  readonly recordsBefore: number;
  /** Number of passes over the log that follow. */
  readonly passesLeft: number;
}

/**
 * Maximum lag in records that counts as near the head: a batch or two. If the lag does not halve in a
 * round, writers append faster than views apply, and the current lag counts as near.
 */
const NEAR_RECORDS = 5_000;
/**
 * Rows with random keys dirty most index pages in every batch, so larger batches write fewer pages.
 */
const BATCH_MAX = 5_000;
/**
 * Maximum number of attempts to make a staging generation live while another process projects the
 * view.
 */
const PUBLISH_ATTEMPTS_MAX = 10;
/** First and maximum pause before a read of an unavailable log is repeated. */
const PAUSE_MS = { first: 100, max: 10_000 };

/**
 * Resolves with the parked records and values when the views are closed and durable. Rejects when a
 * view cannot be built, or with the signal's reason; then all views are discarded.
 */
export async function buildStaging(parts: StagingParts): Promise<readonly Parked[]> {
  const { signal, openFolded } = parts;
  const log = withRetries(parts.log, signal);
  let open = parts.views;
  let outcome: "keep" | "discard" = "discard";
  const buildParts = { ...parts, log };
  async function catchUp(building: Building): Promise<void> {
    for (let [left, before] = [Infinity, Infinity]; left > NEAR_RECORDS; before = left) {
      await building.applyTo(await log.head());
      await building.maintain();
      left = recordsBetween(log, building.position(), await log.head());
      if (left >= before / 2) return;
    }
  }
  try {
    const first = await startBuild(buildParts, open, {
      recordsBefore: 0,
      passesLeft: openFolded === undefined ? 0 : 1,
    });
    await catchUp(first);
    let all: Building = first;
    if (openFolded !== undefined) {
      await closeAll(open, "keep");
      open = [];
      const { reopened, folded } = await openFolded();
      open = [...reopened, ...folded];
      const passes = { recordsBefore: first.records(), passesLeft: 0 };
      all = combine(first.withViews(reopened), await startBuild(buildParts, folded, passes));
      await catchUp(all);
    }
    const staged = await stagedOf(open);
    if (Object.keys(staged).length > 0 && parts.onStaged !== undefined) {
      await parts.onStaged(staged, all.parked());
      await catchUp(all);
    }
    await all.applyTo(await parts.onNear());
    await all.maintain();
    signal.throwIfAborted();
    outcome = "keep";
    const parked = all.parked();
    if (open.every(({ sink }) => sink.publish !== undefined)) {
      await publishAll(open, log, (head) => all.applyTo(head));
      parts.onLive?.(parked);
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
async function startBuild(
  { log, decode, parkingStore, signal, batchMax, onProgress }: StagingParts,
  views: readonly View[],
  passes: Pick<BuildProgress, "recordsBefore" | "passesLeft">,
): Promise<Building & CountingApplier & { withViews(views: readonly View[]): Building }> {
  const parkings = await Promise.all(
    views.map((view) =>
      // Nothing is written to the log before the swap.
      openParkingOf(view, { load: parkingStore.load, write: async () => {} }, Date.now),
    ),
  );
  for (const { sink } of views) if ((await sink.position()) !== START) await sink.reset();
  const names = views.map(({ name }) => name);
  // The staging generation has these documents. They stay listed until the swap reconciles the parking.
  const rejected = parkings.flatMap((parking) =>
    parking.list().filter(({ aspect }) => aspect === WHOLE_DOCUMENT.aspect),
  );
  const parked = () => {
    const listed = parkings.flatMap((parking) => parking.list());
    const urns = new Set(listed.map(({ urn }) => urn));
    return [...listed, ...rejected.filter(({ urn }) => !urns.has(urn))];
  };
  const parts = { log, decode, parkings, signal, batchMax };
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
    withViews(same) {
      return { ...createApplier({ ...parts, views: same, from: applier.position() }), parked };
    },
  };
}

/** Applies each batch to `first`, then to `second`, whose views are built from those of `first`. */
function combine(first: Building, second: Building): Building {
  return {
    position: () => (first.position() < second.position() ? first.position() : second.position()),
    async applyTo(head) {
      await first.applyTo(head);
      await second.applyTo(head);
    },
    async maintain() {
      await first.maintain();
      await second.maintain();
    },
    parked: () => [...first.parked(), ...second.parked()],
  };
}

/** Repeats reads while the log is unavailable, so that the build continues after an outage. */
function withRetries(log: StagingParts["log"], signal: AbortSignal): StagingParts["log"] {
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

const logTruncated = (at: Position, head: Position): LogDamaged =>
  new LogDamaged("unavailable", `the log ends at position ${at}, but its head was ${head}`, {
    hint: "It is damaged: restore it from a backup",
  });

/** The staging generations on a server, and their positions, by view. */
async function stagedOf(views: readonly View[]): Promise<Readonly<Record<string, Staged>>> {
  const staged: Record<string, Staged> = {};
  for (const { name, sink } of views) {
    if (sink.staged !== undefined) staged[name] = await sink.staged();
  }
  return staged;
}

/**
 * Makes staging generations on a server live. If another process has moved a live generation
 * further, applies the log up to the new head and tries again.
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
    const permanent = failures.find((error) => !isConflict(error)) ?? failures[0];
    left = left.filter((_, n) => outcomes[n]?.status === "rejected");
    if (permanent === undefined) return;
    if (tries === PUBLISH_ATTEMPTS_MAX || !isConflict(permanent)) throw permanent;
    await applyTo(await log.head());
  }
}

/** Closes folded views before their sources, and every view even if one close fails. */
export async function closeAll(views: readonly View[], outcome: "keep" | "discard"): Promise<void> {
  const closing = views.toReversed().map(({ sink }) => sink.close(outcome));
  const failed = (await Promise.allSettled(closing)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Applies the log to views that are at the same position. */
interface Applier {
  position(): Position;
  /**
   * Applies the log up to `end`, or to the next record's position. Rejects when a record cannot be
   * read, or when a view without a parking cannot apply it.
   */
  applyTo(end: Position): Promise<void>;
  /** Runs all maintenance of the views. */
  maintain(): Promise<void>;
}

interface CountingApplier extends Applier {
  /** Number of records read. Positions are not consecutive in every log, so they give no count. */
  records(): number;
}

export function createApplier(
  parts: Pick<StagingParts, "views" | "decode" | "batchMax"> & {
    readonly log: Pick<ChangeLog, "readAll">;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
    /** By view. Without a parking, the first poison record of the view rejects the build. */
    readonly parkings: readonly (Parking | undefined)[];
    readonly from: Position;
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
        // Drops records after `head`, which the sources of folded views have not applied yet.
        const page = limitBatch(await log.readAll(position, { limit: batchMax }), head);
        if (page.length === 0) throw logTruncated(position, head);
        const changes = decodeBatch(page, decode, position);
        // Views park a record that cannot be decoded, and continue after it.
        const end = changes.poison?.position ?? changes.upTo;
        for (const [n, view] of views.entries()) {
          await applyUpTo(end, view, changes, position, parkings[n]);
        }
        if (changes.failure !== undefined && changes.poison === undefined) throw changes.failure;
        position = end;
        records += page.findLastIndex((record) => record.position <= end) + 1;
        const seconds = (performance.now() - begun) / 1_000;
        // Reads and writes may all be synchronous: yield, so that the thread receives its messages.
        await yieldToEventLoop();
        const reached = position > head ? position : head;
        onProgress?.({ position, head: reached, recordsPerSecond: records / seconds });
      }
    },
    async maintain() {
      for (const { sink } of views) {
        for (let more = true; more; ) more = (await sink.maintain?.()) ?? false;
      }
    },
  };
}

async function applyUpTo(
  end: Position,
  view: View,
  changes: Batch<PlacedChange>,
  after: Position,
  parking: Parking | undefined,
): Promise<void> {
  for (let at = after; at < end; ) {
    const items = at === after ? changes.items : changes.items.filter((one) => one.position > at);
    const applied = await applyToView(view, { ...changes, items }, at, {
      parking,
      always: () => true,
    });
    if (applied.failure !== undefined) throw applied.failure;
    at = applied.upTo;
  }
}
