/**
 * Standby for views in servers that another process feeds: polls their positions, and takes a view
 * over when it stops moving.
 */
import type { Position } from "../core/position.ts";
import type { Parking } from "./parking/parking.ts";
import type { View } from "./sink.ts";
import { startsAsStandby } from "./start-checkpoints.ts";
import type { Failing, ViewState } from "./view-state.ts";

interface Parts {
  readonly viewStates: readonly ViewState[];
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

export interface Standby {
  /** Polls the watched views concurrently: a slow server holds up no other view. */
  look(): void;
  /** Reads the checkpoint of a failed view in the background, because its server may be slow. */
  recoverLater(viewState: ViewState): void;
}

/** How much longer a process of another model leaves a view to others. */
const PATIENCE = 5;

export function createStandby(parts: Parts): Standby {
  const { viewStates, failing, parkingOf, takeOverMs, report, wakeUp } = parts;

  function look(): void {
    for (const viewState of viewStates) {
      const { movedAt, busy: feeding, failure } = viewState;
      if (movedAt === undefined || feeding !== undefined) continue;
      if (failure !== undefined && failure.retryAt > Date.now()) continue;
      viewState.busy = lookAt(viewState).finally(() => {
        viewState.busy = undefined;
      });
    }
  }

  /** Takes the view over when no process feeds it. Never rejects. */
  async function lookAt(viewState: ViewState): Promise<void> {
    const { position, failure } = viewState;
    if (!(await failing.recover(viewState))) return;
    viewState.failure = undefined;
    if (viewState.position !== position) viewState.movedAt = Date.now();
    else if (await isLeft(viewState)) await takeOver(viewState);
    const feeds = viewState.movedAt === undefined;
    if (feeds || viewState.position !== position || failure !== undefined) report();
    if (feeds) wakeUp();
  }

  async function takeOver(viewState: ViewState): Promise<void> {
    try {
      // The process that fed it until now may have parked entities.
      viewState.parking = await parkingOf(viewState.view);
      viewState.movedAt = undefined;
    } catch (error) {
      failing.fail(viewState, error);
    }
  }

  /** The view is behind, no process feeds it, and this projector may. */
  async function isLeft({ view, position, movedAt = 0 }: ViewState): Promise<boolean> {
    const patience = view.ofAnotherModel?.() === true ? PATIENCE : 1;
    if (view.shared !== "led" || Date.now() - movedAt < takeOverMs * patience) return false;
    try {
      return position < (await parts.head());
    } catch {
      // Without the log, this process could not feed it.
      return false;
    }
  }

  function recoverLater(viewState: ViewState): void {
    viewState.busy = failing.recover(viewState).then((recovered) => {
      viewState.busy = undefined;
      if (recovered && startsAsStandby(viewState.view)) {
        viewState.movedAt = Date.now();
        viewState.failure = undefined;
      } else viewState.recovered = recovered;
      wakeUp();
    });
  }

  return { look, recoverLater };
}
