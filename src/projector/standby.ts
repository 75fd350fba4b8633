/**
 * Standby for views on servers that the projector of another process applies batches to. Polls
 * their positions, and takes a view over when its position stops moving.
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
  /** Milliseconds without progress of a shared view after which this projector takes it over. */
  readonly takeOverMs: number;
  /** Called when the state of a view changed. */
  readonly report: () => void;
  /** Called when a view can apply batches. */
  readonly wakeUp: () => void;
}

interface Standby {
  /** Polls the standby views concurrently, so that a slow server delays no other view. */
  poll(): void;
  /** Reads the checkpoint of a failed view in the background, because its server may be slow. */
  recoverLater(viewState: ViewState): void;
}

/** Factor of the take-over timeout for a process with another model than the view. */
const OTHER_MODEL_FACTOR = 5;

export function createStandby(parts: Parts): Standby {
  const { viewStates, failing, parkingOf, takeOverMs, report, wakeUp } = parts;

  function poll(): void {
    for (const viewState of viewStates) {
      const { movedAt, busy, failure } = viewState;
      if (movedAt === undefined || busy !== undefined) continue;
      if (failure !== undefined && failure.retryAt > Date.now()) continue;
      viewState.busy = pollView(viewState).finally(() => {
        viewState.busy = undefined;
      });
    }
  }

  /** Takes the view over when no process applies batches to it. Never rejects. */
  async function pollView(viewState: ViewState): Promise<void> {
    const { position, failure } = viewState;
    if (!(await failing.recover(viewState))) return;
    viewState.failure = undefined;
    if (viewState.position !== position) viewState.movedAt = Date.now();
    else if (await isAbandoned(viewState)) await takeOver(viewState);
    const isTakenOver = viewState.movedAt === undefined;
    if (isTakenOver || viewState.position !== position || failure !== undefined) report();
    if (isTakenOver) wakeUp();
  }

  async function takeOver(viewState: ViewState): Promise<void> {
    try {
      // The previous projector of the view may have parked entities.
      viewState.parking = await parkingOf(viewState.view);
      viewState.movedAt = undefined;
    } catch (error) {
      failing.fail(viewState, error);
    }
  }

  /** True if the view is behind, has no projector, and this projector may take it over. */
  async function isAbandoned({ view, position, movedAt = 0 }: ViewState): Promise<boolean> {
    const times = view.builtWithAnotherModel?.() === true ? OTHER_MODEL_FACTOR : 1;
    if (view.shared !== "leader" || Date.now() - movedAt < takeOverMs * times) return false;
    try {
      return position < (await parts.head());
    } catch {
      // This process cannot read the log, so it could not apply batches.
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

  return { poll, recoverLater };
}
