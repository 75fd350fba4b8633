/**
 * Standby for views in servers that another process feeds: polls their positions, and takes a view
 * over when it stops moving.
 */
import type { Position } from "../core/position.ts";
import type { Failing, Follower } from "./follower.ts";
import type { Parking } from "./parking/parking.ts";
import type { View } from "./sink.ts";
import { beginsWatching } from "./start-places.ts";

interface Parts {
  readonly followers: readonly Follower[];
  readonly failing: Failing;
  /** Position of the last record. */
  readonly head: () => Promise<Position>;
  readonly parkingOf: (view: View) => Promise<Parking | undefined>;
  /** Milliseconds that a shared view stays where it is before this projector feeds it. */
  readonly takeOverMs: number;
  /** Called when the state of a view changed. */
  readonly report: () => void;
  /** Called when there is something to feed. */
  readonly wakeUp: () => void;
}

export interface Watching {
  /** Polls the watched views concurrently: a slow server holds up no other view. */
  look(): void;
  /** Reads the checkpoint of a failed view in the background, because its server may be slow. */
  recoverLater(follower: Follower): void;
}

/** How much longer a process of another model leaves a view to others. */
const PATIENCE = 5;

export function createWatching(parts: Parts): Watching {
  const { followers, failing, parkingOf, takeOverMs, report, wakeUp } = parts;

  function look(): void {
    for (const follower of followers) {
      const { movedAt, feeding, failure } = follower;
      if (movedAt === undefined || feeding !== undefined) continue;
      if (failure !== undefined && failure.retryAt > Date.now()) continue;
      follower.feeding = lookAt(follower).finally(() => {
        follower.feeding = undefined;
      });
    }
  }

  /** Takes the view over when no process feeds it. Never rejects. */
  async function lookAt(follower: Follower): Promise<void> {
    const { position, failure } = follower;
    if (!(await failing.recover(follower))) return;
    follower.failure = undefined;
    if (follower.position !== position) follower.movedAt = Date.now();
    else if (await isLeft(follower)) await takeOver(follower);
    const feeds = follower.movedAt === undefined;
    if (feeds || follower.position !== position || failure !== undefined) report();
    if (feeds) wakeUp();
  }

  async function takeOver(follower: Follower): Promise<void> {
    try {
      // The process that fed it until now may have parked entities.
      follower.parking = await parkingOf(follower.view);
      follower.movedAt = undefined;
    } catch (error) {
      failing.fail(follower, error);
    }
  }

  /** The view is behind, no process feeds it, and this projector may. */
  async function isLeft({ view, position, movedAt = 0 }: Follower): Promise<boolean> {
    const patience = view.ofAnotherModel?.() === true ? PATIENCE : 1;
    if (view.shared !== "led" || Date.now() - movedAt < takeOverMs * patience) return false;
    try {
      return position < (await parts.head());
    } catch {
      // Without the log, this process could not feed it.
      return false;
    }
  }

  function recoverLater(follower: Follower): void {
    follower.feeding = failing.recover(follower).then((recovered) => {
      follower.feeding = undefined;
      if (recovered && beginsWatching(follower.view)) {
        follower.movedAt = Date.now();
        follower.failure = undefined;
      } else follower.recovered = recovered;
      wakeUp();
    });
  }

  return { look, recoverLater };
}
