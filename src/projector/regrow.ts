/**
 * Regrowing: empties views and brings them from the first record to the head of the log, as fast as
 * they take it. For a log that nobody is appending to, and views that no projector is writing to.
 */
import { setImmediate as otherTurns } from "node:timers/promises";
import type { PlacedChange } from "../core/change.ts";

import { type Position, START } from "../core/position.ts";
import { type ChangeLog, LogDamaged } from "../log/change-log.ts";
import { type Batch, type Decode, decodeBatch } from "./batch.ts";
import { feedView } from "./feeding.ts";
import { cut } from "./groups.ts";
import { openParkingOf, type Parking, type ParkingNotes } from "./parking.ts";
import { isConflict } from "./projector-errors.ts";
import type { Grown, View } from "./sink.ts";
import { workedMs } from "./thread-ms.ts";

export interface RegrowParts {
  readonly log: Pick<ChangeLog, "readAll" | "head">;
  /** Taken over: closed in the end, whatever comes of it. */
  readonly views: readonly View[];
  readonly decode: Decode;
  /** Where it is noted what a view cannot take; without it, such a record ends the regrowing. */
  readonly notes?: ParkingNotes | undefined;
  /** After every batch; `recordsPerSecond` since the beginning. */
  readonly onProgress?:
    | ((position: Position, head: Position, recordsPerSecond: number) => void)
    | undefined;
  /** Records of a batch; 5,000 when absent. */
  readonly batchMax?: number | undefined;
  /**
   * Called when all is grown, with where those are that lie in servers, by view. When it rejects,
   * nothing takes the place of anything.
   */
  readonly onGrown?: ((grown: Readonly<Record<string, Grown>>) => Promise<void>) | undefined;
  /** Asked before each batch; it throws what it has to end with. */
  readonly signal?: AbortSignal | undefined;
}

const TRIES_MAX = 10;

/** Many small rows of random keys touch each page of an index once per batch: the more the better. */
const BATCH_MAX = 5_000;

/**
 * Resolves with the number of records that were read, up to the head at the beginning. When a record
 * cannot be read or projected, or a view cannot take it, rejects with that error, and with the signal's
 * reason when that aborts; views that were
 * grown beside others (Sink.close) are then discarded, others are left as far as they came.
 */
export async function regrow(parts: RegrowParts): Promise<number> {
  const { views } = parts;
  let outcome: "keep" | "discard" = "discard";
  try {
    const grower = await grow(parts);
    if (parts.onGrown !== undefined) await parts.onGrown(await grownOf(views));
    await putInPlace(views, parts.log, grower.growTo);
    outcome = "keep";
    return grower.records();
  } finally {
    await closeAll(views, outcome);
  }
}

const brokenOff = (at: Position, head: Position): LogDamaged =>
  new LogDamaged("unavailable", `the log ends at position ${at}, where it went on to ${head}`, {
    hint: "It is damaged: restore it from a backup",
  });

/** Of those that lie in servers. */
export async function grownOf(views: readonly View[]): Promise<Readonly<Record<string, Grown>>> {
  const grown: Record<string, Grown> = {};
  for (const { name, sink } of views) {
    if (sink.grown !== undefined) grown[name] = await sink.grown();
  }
  return grown;
}

async function grow(parts: RegrowParts): Promise<CountingGrower> {
  const { log, views, notes } = parts;
  for (const { sink } of views) {
    if ((await sink.position()) !== START) await sink.reset();
  }
  const parkings = await Promise.all(
    views.map((view) => notes && openParkingOf(view, notes, Date.now)),
  );
  const grower = createGrower({ ...parts, parkings, from: START });
  await grower.growTo(await log.head());
  await grower.tidy();
  return grower;
}

/**
 * Puts views that lie in servers in their places. One that is there may be further, since another process feeds
 * it: then the new one grows on, and this is repeated.
 */
export async function putInPlace(
  views: readonly View[],
  log: Pick<ChangeLog, "head">,
  growTo: (head: Position) => Promise<void>,
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
    await growTo(await log.head());
  }
}

/** Closes those that are made of others first, which they have open. Each is closed, also if one fails. */
export async function closeAll(views: readonly View[], outcome: "keep" | "discard"): Promise<void> {
  const closing = views.toReversed().map(({ sink }) => sink.close(outcome));
  const failed = (await Promise.allSettled(closing)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Brings views that are at the same position forward together. */
export interface Grower {
  position(): Position;
  /** To this position, or to the next one of a record; rejects as `regrow` does. */
  growTo(end: Position): Promise<void>;
  /** Does what the views have put off. */
  tidy(): Promise<void>;
}

export interface CountingGrower extends Grower {
  /** Records that were read: positions do not number them in every log. */
  records(): number;
}

export function createGrower(
  parts: Omit<RegrowParts, "notes" | "onGrown"> & {
    /** Of each view; undefined: what it cannot take ends the growing. */
    readonly parkings: readonly (Parking | undefined)[];
    readonly from: Position;
    readonly rest?: ((ms: number) => Promise<void>) | undefined;
  },
): CountingGrower {
  const { log, views, decode, onProgress, batchMax = BATCH_MAX, parkings, from, signal } = parts;
  const begun = performance.now();
  let position = from;
  let records = 0;
  return {
    position: () => position,
    records: () => records,
    async growTo(head) {
      while (position < head) {
        signal?.throwIfAborted();
        const before = workedMs();
        // Records after the end are left out: views that are made of others cannot take them yet.
        const page = cut(await log.readAll(position, { limit: batchMax }), head);
        if (page.length === 0) throw brokenOff(position, head);
        const changes = decodeBatch(page, decode, position);
        // Past what could not be decoded, where views can park it.
        const end = changes.culprit?.position ?? changes.upTo;
        for (const [n, view] of views.entries()) {
          await feedTo(end, view, changes, position, parkings[n]);
        }
        if (changes.failure !== undefined && changes.culprit === undefined) throw changes.failure;
        position = end;
        records += page.findLastIndex((record) => record.position <= end) + 1;
        const seconds = (performance.now() - begun) / 1_000;
        // Views and logs may work without ever waiting: messages must get in between all the same.
        await otherTurns();
        await parts.rest?.(workedMs() - before);
        onProgress?.(position, position > head ? position : head, records / seconds);
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
    const fed = await feedView(view, { ...changes, items }, at, { parking, always: () => true });
    if (fed.failure !== undefined) throw fed.failure;
    at = fed.upTo;
  }
}
