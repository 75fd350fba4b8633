/**
 * Regrowing beside: views are brought from the first record to near the head of a log that goes on,
 * while others of the same names are in use, whose place they are to take (replacing.ts).
 *
 * Views that are made of others are grown when those are near the head, from what is in them then:
 * each entity is folded once, and they go on together.
 *
 * Views in servers are compared with the log where they are then, and brought near once more. Those
 * in files are compared when they are closed (rebuilding.ts).
 *
 * What a view cannot take is noted here alone, and told in the end: until the edition is in place it
 * is nobody's concern.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { type ChangeLog, LogDamaged, recordsBetween } from "../log/change-log.ts";
import type { Decode } from "./batch.ts";
import { openParkingOf, type Parked, type ParkingNotes, WHOLE } from "./parking.ts";
import {
  type CountingGrower,
  closeAll,
  createGrower,
  type Grower,
  grownOf,
  putInPlace,
} from "./regrow.ts";
import type { Grown, View } from "./sink.ts";

export interface BesideParts {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: Decode;
  /** What is parked as the growing begins. */
  readonly notes: Pick<ParkingNotes, "load">;
  /** Taken over: closed in the end, whatever comes of it. */
  readonly views: readonly View[];
  /**
   * Opens views that are made of those, which are closed by then: `again` are those once more, so
   * that others can read them while they are written. Taken over, too.
   */
  readonly made?:
    | (() => Promise<{ readonly again: readonly View[]; readonly folded: readonly View[] }>)
    | undefined;
  readonly onProgress: (progress: GrowthProgress) => void;
  /**
   * Compares views in servers, by name, with the log; `parked`: what they pass over. When it rejects,
   * so does the growing, and none is left.
   */
  readonly onGrown?:
    | ((grown: Readonly<Record<string, Grown>>, parked: readonly Parked[]) => Promise<void>)
    | undefined;
  /** Called when the views are near the head; resolves with where they have to be in the end. */
  readonly onNear: () => Promise<Position>;
  /** Called when the views are in place, if they are before they are closed (Sink.publish). */
  readonly onInPlace?: ((parked: readonly Parked[]) => void) | undefined;
  readonly signal: AbortSignal;
  /**
   * Called after each batch with the milliseconds that it worked (thread-ms.ts): lets others have the machine, for
   * so many times shorter as there is haste (1: none).
   */
  readonly rest?: ((ms: number, haste: number) => Promise<void>) | undefined;
  /** Records of a batch; regrow.ts says how many when absent. */
  readonly batchMax?: number | undefined;
}

export interface RegrowProgress {
  readonly position: Position;
  readonly head: Position;
  readonly recordsPerSecond: number;
}

/** Of the views that are being grown: they come to the head together. */
export interface GrowthProgress extends RegrowProgress {
  readonly views: readonly string[];
  /** Records that these views have read, and records of the log up to the head. */
  readonly records: number;
  readonly total: number;
  /** Records that views before them have read. */
  readonly before: number;
  /** How many times the log is gone through after that. */
  readonly left: number;
  /** Others are grown meanwhile, which come to the head later. */
  readonly beside?: boolean | undefined;
}

/**
 * Records behind the head that count as near: a batch or two. While the distance does not halve from turn
 * to turn, pauses become shorter. When they are shortest and it still does not halve, writers append faster
 * than views follow: that distance counts as near, too.
 */
const NEAR = 5_000;
const HASTE_TIMES = 16;

/**
 * Resolves, when the views are closed and durable, with the entities that they pass over: those that
 * were parked, and those whose records they could not take. Rejects when a view cannot be grown, and
 * with the signal's reason; then none is left.
 */
export async function regrowBeside(parts: BesideParts): Promise<readonly Parked[]> {
  const { signal, made } = parts;
  const log = patient(parts.log, signal);
  let open = parts.views;
  let outcome: "keep" | "discard" = "discard";
  let haste = 1;
  const rest = async (ms: number) => parts.rest?.(ms, haste);
  const whole = { ...parts, log, rest };
  async function growNear(growing: Growing): Promise<void> {
    for (let [left, hasteMax] = [Infinity, haste * HASTE_TIMES]; ; ) {
      const before = left;
      await growing.growTo(await log.head());
      await growing.tidy();
      left = recordsBetween(log, growing.position(), await log.head());
      if (left <= NEAR) return;
      if (left < before / 2) continue;
      if (haste >= hasteMax) return;
      haste *= 2;
    }
  }
  try {
    const first = await begin(whole, open, { before: 0, left: made === undefined ? 0 : 1 });
    await growNear(first);
    let all: Growing = first;
    if (made !== undefined) {
      await closeAll(open, "keep");
      open = [];
      const { again, folded } = await made();
      open = [...again, ...folded];
      const told = { before: first.records(), left: 0 };
      all = together(first.again(again), await begin(whole, folded, told));
      await growNear(all);
    }
    const grown = await grownOf(open);
    if (Object.keys(grown).length > 0 && parts.onGrown !== undefined) {
      await parts.onGrown(grown, all.parked());
      await growNear(all);
    }
    await all.growTo(await parts.onNear());
    await all.tidy();
    signal.throwIfAborted();
    outcome = "keep";
    const parked = all.parked();
    if (open.every(({ sink }) => sink.publish !== undefined)) {
      await putInPlace(open, log, (head) => all.growTo(head));
      parts.onInPlace?.(parked);
    }
    return parked;
  } finally {
    await closeAll(open, outcome);
  }
}

interface Growing extends Grower {
  parked(): readonly Parked[];
}

/** The views, from nothing. */
async function begin(
  {
    log,
    decode,
    notes,
    signal,
    rest,
    batchMax,
    onProgress,
  }: Omit<BesideParts, "rest"> & {
    readonly rest: (ms: number) => Promise<void>;
  },
  views: readonly View[],
  passes: Pick<GrowthProgress, "before" | "left">,
): Promise<Growing & CountingGrower & { again(views: readonly View[]): Growing }> {
  const parkings = await Promise.all(
    views.map((view) =>
      // Notes of its own: what is parked while it grows is told in the end.
      openParkingOf(view, { load: notes.load, write: async () => {} }, Date.now),
    ),
  );
  for (const { sink } of views) if ((await sink.position()) !== START) await sink.reset();
  const names = views.map(({ name }) => name);
  // Their documents are in the new edition, which lists them until it is settled with the log.
  const rejected = parkings.flatMap((parking) =>
    parking.list().filter(({ aspect }) => aspect === WHOLE.aspect),
  );
  const parked = () => {
    const listed = parkings.flatMap((parking) => parking.list());
    const urns = new Set(listed.map(({ urn }) => urn));
    return [...listed, ...rejected.filter(({ urn }) => !urns.has(urn))];
  };
  const parts = { log, decode, parkings, signal, rest, batchMax };
  const grower = createGrower({
    ...{ ...parts, views, from: START },
    onProgress(position, head, recordsPerSecond) {
      const records = grower.records();
      const total = records + recordsBetween(log, position, head);
      onProgress({ position, head, records, total, recordsPerSecond, views: names, ...passes });
    },
  });
  return {
    ...{ ...grower, parked },
    again(same) {
      return { ...createGrower({ ...parts, views: same, from: grower.position() }), parked };
    },
  };
}

/** The second is made of the first. */
function together(first: Growing, second: Growing): Growing {
  return {
    position: () => (first.position() < second.position() ? first.position() : second.position()),
    async growTo(head) {
      await first.growTo(head);
      await second.growTo(head);
    },
    async tidy() {
      await first.tidy();
      await second.tidy();
    },
    parked: () => [...first.parked(), ...second.parked()],
  };
}

/** A log that does not answer for a while does not cost what was grown by then. */
function patient(log: BesideParts["log"], signal: AbortSignal): BesideParts["log"] {
  async function trying<T>(ask: () => Promise<T>): Promise<T> {
    for (let pauseMs = PAUSE_MS.first; ; pauseMs *= 2) {
      try {
        return await ask();
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
    readAll: (from, options) => trying(() => log.readAll(from, options)),
    head: () => trying(() => log.head()),
  };
}

const PAUSE_MS = { first: 100, max: 10_000 };
