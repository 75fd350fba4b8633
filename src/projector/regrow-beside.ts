/**
 * Regrowing beside: views are brought from the first record to near the head of a log that goes on,
 * while others of the same names are in use, whose place they are to take (replacing.ts).
 *
 * What a view cannot take is noted here alone, and told in the end: until the edition is in place it
 * is nobody's concern.
 */
import { type Position, START } from "../core/position.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { Decode } from "./batch.ts";
import { openParking, type Parked, type ParkingNotes } from "./parking.ts";
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

/** So many records behind the head is near: a batch or two. */
const NEAR = 5_000;

/**
 * Resolves, when the views are closed and durable, with the entities that they pass over: those that
 * were parked, and those whose records they could not take. Rejects when a view cannot be grown, and
 * with the signal's reason; then none is left.
 */
export async function regrowBeside(parts: BesideParts): Promise<readonly Parked[]> {
  const { log, views, signal } = parts;
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
      ...{ ...parts, parkings, from: START },
      onProgress(position, head) {
        const recordsPerSecond = position / ((performance.now() - begun) / 1_000);
        parts.onProgress({ position, head, recordsPerSecond });
      },
    });
    do {
      await grower.growTo(await log.head());
      await grower.tidy();
    } while ((await log.head()) - grower.position() > NEAR);
    await grower.growTo(await parts.onNear());
    await grower.tidy();
    signal.throwIfAborted();
    outcome = "keep";
    return parkings.flatMap((parking) => parking.list());
  } finally {
    for (const { sink } of views) await sink.close(outcome);
  }
}
