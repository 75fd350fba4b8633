/** What a projector tells of its views. */
import type { Position } from "../core/position.ts";
import type { Parking } from "./parking.ts";
import { textOf } from "./projector-errors.ts";
import type { View } from "./sink.ts";
import type { Failure } from "./start-places.ts";

export interface ViewProgress {
  readonly position: Position;
  /** Why it does not move on; it is tried again and again. */
  readonly error?: string | undefined;
  /** Entities that it passes over (parking.ts); absent when there are none. */
  readonly parked?: number | undefined;
  /** Another process feeds it. */
  readonly elsewhere?: true | undefined;
}

export type ProjectorProgress = Readonly<Record<string, ViewProgress>>;

interface Told {
  readonly view: View;
  readonly position: Position;
  readonly failure: Failure | undefined;
  readonly mismatch: Error | undefined;
  readonly parking: Parking | undefined;
  /** Undefined of a view that this process feeds. */
  readonly movedAt: number | undefined;
}

export function progressOf(followers: readonly Told[]): ProjectorProgress {
  return Object.fromEntries(
    followers.map(({ view, position, failure, mismatch, parking, movedAt }) => {
      const error = mismatch ?? failure?.error;
      const parked = parking?.size ?? 0;
      const progress: ViewProgress = {
        position,
        ...(error !== undefined && { error: textOf(error) }),
        ...(parked > 0 && { parked }),
        ...(movedAt !== undefined && { elsewhere: true }),
      };
      return [view.name, progress];
    }),
  );
}
