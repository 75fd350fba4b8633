/** A view as the projector knows it, and how it fails and comes back (projector.ts tells its states). */
import type { CatalogError } from "../core/errors.ts";
import type { Parking } from "./parking.ts";
import { asError } from "./projector-errors.ts";
import type { Replaced } from "./replacing.ts";
import type { View } from "./sink.ts";
import { beginsWatching, placeAtStart } from "./start-places.ts";

export interface Follower extends Replaced {
  /** When a view that another process feeds was last seen to move; undefined while this one does. */
  movedAt: number | undefined;
  /** After a failure it has said where it is, and is to be fed again. */
  recovered: boolean;
  /** When it may do more of what it put off; undefined while it is not known of any. */
  tidyAt: number | undefined;
  /** See Compared (log-comparison.ts). */
  mismatch: CatalogError | undefined;
  unchecked: boolean;
}

/** Milliseconds until a failed batch is tried again, first and at most. */
export interface RetryMs {
  readonly first: number;
  readonly max: number;
}

/** Rejects when a view of this process's own cannot tell its checkpoint. */
export async function openFollower(
  view: View,
  parkingOf: (view: View) => Promise<Parking | undefined>,
  retryMs: RetryMs,
): Promise<Follower> {
  const placed = await placeAtStart(view, retryMs.first);
  const { position } = placed;
  const movedAt = beginsWatching(view) ? Date.now() : undefined;
  const parking = await parkingOf(view);
  const { failure } = placed;
  return {
    ...{ view, position, checkpoint: position, failure, parking, movedAt },
    ...{ feeding: undefined, recovered: false, hold: undefined, tidyAt: undefined },
    ...{ record: undefined, mismatch: undefined, unchecked: false },
  };
}

export interface Failing {
  /** The pause before the next attempt doubles with each. */
  fail(follower: Follower, error: unknown): void;
  /** There is nothing to do, and the store answers. */
  heal(follower: Follower): void;
  /** Whether it can say where it is: without that it is not fed. */
  recover(follower: Follower): Promise<boolean>;
}

/** `told`: called when something came of it. */
export function createFailing(retryMs: RetryMs, told: () => void): Failing {
  function fail(follower: Follower, error: unknown): void {
    const attempts = (follower.failure?.attempts ?? 0) + 1;
    const pauseMs = Math.min(retryMs.first * 2 ** (attempts - 1), retryMs.max);
    follower.failure = { error: asError(error), attempts, retryAt: Date.now() + pauseMs };
  }

  function heal(follower: Follower): void {
    if (follower.failure === undefined) return;
    follower.failure = undefined;
    told();
  }

  async function recover(follower: Follower): Promise<boolean> {
    try {
      follower.position = await follower.view.sink.position();
      follower.checkpoint = follower.position;
      follower.record = undefined;
      return true;
    } catch (error) {
      fail(follower, error);
      told();
      return false;
    }
  }

  return { fail, heal, recover };
}
