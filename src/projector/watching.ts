/**
 * Views in servers that a projector of another process feeds: this one asks how far they are, and
 * takes one over when nobody moves it any more.
 */
import type { Position } from "../core/position.ts";
import type { Failing, Follower } from "./follower.ts";
import type { Parking } from "./parking.ts";
import type { View } from "./sink.ts";
import { beginsWatching } from "./start-places.ts";

interface Parts {
  readonly followers: readonly Follower[];
  readonly failing: Failing;
  /** Where the log ends. */
  readonly head: () => Promise<Position>;
  readonly parkingOf: (view: View) => Promise<Parking | undefined>;
  /** Milliseconds that a shared view stays where it is before this projector feeds it. */
  readonly takeOverMs: number;
  /** Called when something came of it. */
  readonly told: () => void;
  /** Called when there is something to feed. */
  readonly wakeUp: () => void;
}

export interface Watching {
  /** Asks how far the watched views are, each by itself: one that does not answer holds up no other. */
  look(): void;
  /** A server may take long to say where its view is; others are fed meanwhile. */
  recoverLater(follower: Follower): void;
}

/** How much longer a process of another model leaves a view to others. */
const PATIENCE = 5;

export function createWatching(parts: Parts): Watching {
  const { followers, failing, parkingOf, takeOverMs, told, wakeUp } = parts;

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

  /** Takes the view over when nobody moves it. Never rejects. */
  async function lookAt(follower: Follower): Promise<void> {
    const { position, failure } = follower;
    if (!(await failing.recover(follower))) return;
    follower.failure = undefined;
    if (follower.position !== position) follower.movedAt = Date.now();
    else if (await isLeft(follower)) await takeOver(follower);
    const feeds = follower.movedAt === undefined;
    if (feeds || follower.position !== position || failure !== undefined) told();
    if (feeds) wakeUp();
  }

  async function takeOver(follower: Follower): Promise<void> {
    try {
      // Who fed it until now may have parked something.
      follower.parking = await parkingOf(follower.view);
      follower.movedAt = undefined;
    } catch (error) {
      failing.fail(follower, error);
    }
  }

  /** Whether a view that this projector may feed is behind, and nobody feeds it. */
  async function isLeft({ view, position, movedAt = 0 }: Follower): Promise<boolean> {
    const patience = view.ofAnotherModel?.() === true ? PATIENCE : 1;
    if (view.shared !== "led" || Date.now() - movedAt < takeOverMs * patience) return false;
    try {
      return position < (await parts.head());
    } catch {
      // Without the log it could not be fed either.
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
