/** A serializable snapshot of the progress of a projector's views. */
import type { Position } from "../../core/position.ts";
import type { Parking } from "../parking/parking.ts";
import { textOf } from "../projector-errors.ts";
import type { View } from "../sink.ts";
import type { Failure } from "../start-checkpoints.ts";

interface ViewProgress {
  readonly position: Position;
  /** The error that stops it; the projector keeps retrying. */
  readonly error?: string | undefined;
  /** True if the error is a mismatch: the log lacks the view's last record (log-comparison.ts). */
  readonly mismatched?: true | undefined;
  /** Number of parked entities (parking.ts); absent when there are none. */
  readonly parked?: number | undefined;
  /** True if another process projects it. */
  readonly elsewhere?: true | undefined;
}

export type ProjectorProgress = Readonly<Record<string, ViewProgress>>;

interface ViewSnapshot {
  readonly view: View;
  readonly position: Position;
  readonly failure: Failure | undefined;
  readonly mismatch: Error | undefined;
  readonly parking: Parking | undefined;
  /** Undefined for a view that this process projects. */
  readonly movedAt: number | undefined;
}

export function progressOf(viewStates: readonly ViewSnapshot[]): ProjectorProgress {
  return Object.fromEntries(
    viewStates.map(({ view, position, failure, mismatch, parking, movedAt }) => {
      const error = mismatch ?? failure?.error;
      const parked = parking?.size ?? 0;
      const progress: ViewProgress = {
        position,
        ...(error !== undefined && { error: textOf(error) }),
        ...(mismatch !== undefined && { mismatched: true }),
        ...(parked > 0 && { parked }),
        ...(movedAt !== undefined && { elsewhere: true }),
      };
      return [view.name, progress];
    }),
  );
}
