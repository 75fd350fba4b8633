/**
 * Regrowing beside: views are brought from the first record to near the head of a log that goes on,
 * while others of the same names are in use, whose place they are to take (replacing.ts).
 *
 * What a view cannot take is noted here alone, and told in the end: until the edition is in place it
 * is nobody's concern.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { Decode } from "./batch.ts";
import { openParking, type Parked, type ParkingNotes } from "./parking.ts";
import { isConflict } from "./projector-errors.ts";
import { createGrower } from "./regrow.ts";
import type { View } from "./sink.ts";

export interface BesideParts {
  readonly log: Pick<ChangeLog, "readAll" | "head">;
  readonly decode: Decode;
  /** What is parked as the growing begins. */
  readonly notes: Pick<ParkingNotes, "load">;
  /** Taken over: closed in the end, whatever comes of it. */
  readonly views: readonly View[];
  readonly onProgress: (progress: RegrowProgress) => void;
  /** Called when the views are near the head; resolves with where they have to be in the end. */
  readonly onNear: () => Promise<Position>;
  /** Called when the views are in place, if they are before they are closed (Sink.publish). */
  readonly onInPlace?: ((parked: readonly Parked[]) => void) | undefined;
  readonly signal: AbortSignal;
  /** Called after each batch with the milliseconds that it took: lets others have the machine. */
  readonly rest?: ((workedMs: number) => Promise<void>) | undefined;
  /** Records of a batch; regrow.ts says how many when absent. */
  readonly batchMax?: number | undefined;
}

export interface RegrowProgress {
  readonly position: Position;
  readonly head: Position;
  readonly recordsPerSecond: number;
}

/**
 * So many records behind the head is near: a batch or two. So is what does not become much less from
 * turn to turn: where positions count bytes, or writers never rest, the head is not to be come nearer.
 */
const NEAR = 5_000;

/**
 * Resolves, when the views are closed and durable, with the entities that they pass over: those that
 * were parked, and those whose records they could not take. Rejects when a view cannot be grown, and
 * with the signal's reason; then none is left.
 */
export async function regrowBeside(parts: BesideParts): Promise<readonly Parked[]> {
  const { views, signal } = parts;
  const log = patient(parts.log, signal);
  const begun = performance.now();
  let outcome: "keep" | "discard" = "discard";
  try {
    const parkings = await Promise.all(
      views.map(({ name }) =>
        // Notes of its own: what is parked while it grows is told in the end.
        openParking(name, { load: parts.notes.load, write: async () => {} }, Date.now),
      ),
    );
    for (const { sink } of views) if ((await sink.position()) !== START) await sink.reset();
    const grower = createGrower({
      ...{ ...parts, log, parkings, from: START },
      onProgress(position, head) {
        const recordsPerSecond = position / ((performance.now() - begun) / 1_000);
        parts.onProgress({ position, head, recordsPerSecond });
      },
    });
    let [left, before] = [Infinity, Infinity];
    do {
      before = left;
      await grower.growTo(await log.head());
      await grower.tidy();
      left = (await log.head()) - grower.position();
    } while (left > NEAR && left < before / 2);
    await grower.growTo(await parts.onNear());
    await grower.tidy();
    signal.throwIfAborted();
    outcome = "keep";
    const parked = parkings.flatMap((parking) => parking.list());
    if (views.every(({ sink }) => sink.publish !== undefined)) {
      await putInPlace(views, async () => grower.growTo(await log.head()));
      parts.onInPlace?.(parked);
    }
    return parked;
  } finally {
    await Promise.all(views.map(({ sink }) => sink.close(outcome)));
  }
}

/** A log that does not answer for a while does not cost what was grown by then. */
function patient(log: BesideParts["log"], signal: AbortSignal): BesideParts["log"] {
  async function trying<T>(ask: () => Promise<T>): Promise<T> {
    for (let pauseMs = PAUSE_MS.first; ; pauseMs *= 2) {
      try {
        return await ask();
      } catch (error) {
        const later = error instanceof CatalogError && error.code === "unavailable";
        if (!later || pauseMs > PAUSE_MS.max) throw error;
        await delay(pauseMs, undefined, { signal });
      }
    }
  }
  return {
    readAll: (from, options) => trying(() => log.readAll(from, options)),
    head: () => trying(() => log.head()),
  };
}

const PAUSE_MS = { first: 100, max: 10_000 };

/** Another process may have moved a view that this one took for its own to feed. */
async function putInPlace(views: readonly View[], growOn: () => Promise<void>): Promise<void> {
  let left = views;
  for (let tries = 1; left.length > 0; tries++) {
    const outcomes = await Promise.allSettled(left.map(({ sink }) => sink.publish?.()));
    const failures = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    const fatal = failures.find((error) => !isConflict(error)) ?? failures[0];
    left = left.filter((_, n) => outcomes[n]?.status === "rejected");
    if (fatal === undefined) return;
    if (tries === TRIES_MAX || !isConflict(fatal)) throw fatal;
    await growOn();
  }
}

const TRIES_MAX = 10;
