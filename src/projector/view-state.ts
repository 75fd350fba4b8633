/** The state of a view in the projector, and its failures and recovery (states: projector.ts). */
import type { CatalogError } from "../core/errors.ts";
import type { Parking } from "./parking/parking.ts";
import { asError } from "./projector-errors.ts";
import type { SwappableView } from "./rebuild/swap-generations.ts";
import type { View } from "./sink.ts";
import { startCheckpoint, startsAsStandby } from "./start-checkpoints.ts";

export interface ViewState extends SwappableView {
  /**
   * Time of the last progress of a view that another process projects. Undefined for a view that
   * this process projects.
   */
  movedAt: number | undefined;
  /** True if the checkpoint was read again after a failure, so the next batch can be applied. */
  recovered: boolean;
  /** Earliest time of the next maintenance step; undefined if none is due. */
  maintainAt: number | undefined;
  /** See Compared (log-comparison.ts). */
  mismatch: CatalogError | undefined;
  unchecked: boolean;
}

/** First and maximum pause before the retry of a failed batch, in milliseconds. */
export interface RetryMs {
  readonly first: number;
  readonly max: number;
}

/** Rejects when the checkpoint of an unshared view cannot be read. */
export async function openViewState(
  view: View,
  parkingOf: (view: View) => Promise<Parking | undefined>,
  retryMs: RetryMs,
): Promise<ViewState> {
  const placed = await startCheckpoint(view, retryMs.first);
  const { position } = placed;
  const movedAt = startsAsStandby(view) ? Date.now() : undefined;
  const parking = await parkingOf(view);
  const { failure } = placed;
  return {
    ...{ view, position, checkpoint: position, failure, parking, movedAt },
    ...{ busy: undefined, recovered: false, pause: undefined, maintainAt: undefined },
    ...{ record: undefined, mismatch: undefined, unchecked: false },
  };
}

export interface Failing {
  /** The pause before the next attempt doubles with each failure. */
  fail(viewState: ViewState, error: unknown): void;
  /** Ends the failure: the view is at the head and its store responds. */
  clearFailure(viewState: ViewState): void;
  /** Reads the checkpoint again; false if that fails. */
  recover(viewState: ViewState): Promise<boolean>;
}

/** `onChange`: called when `clearFailure` or `recover` changed the state of a view. */
export function createFailing(retryMs: RetryMs, onChange: () => void): Failing {
  function fail(viewState: ViewState, error: unknown): void {
    const attempts = (viewState.failure?.attempts ?? 0) + 1;
    const pauseMs = Math.min(retryMs.first * 2 ** (attempts - 1), retryMs.max);
    viewState.failure = { error: asError(error), attempts, retryAt: Date.now() + pauseMs };
  }

  function clearFailure(viewState: ViewState): void {
    if (viewState.failure === undefined) return;
    viewState.failure = undefined;
    onChange();
  }

  async function recover(viewState: ViewState): Promise<boolean> {
    try {
      viewState.position = await viewState.view.sink.position();
      viewState.checkpoint = viewState.position;
      viewState.record = undefined;
      return true;
    } catch (error) {
      fail(viewState, error);
      onChange();
      return false;
    }
  }

  return { fail, clearFailure, recover };
}
