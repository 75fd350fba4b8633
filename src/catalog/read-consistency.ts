/**
 * Read consistency: the minimum log position that reads include, and waiting for a later one.
 * Entity reads include writes of this process at once; reads of the graph and of timeseries wait
 * for them. If other processes write to the log, too, only the view's own position counts.
 */
import { type Position, START } from "../core/position.ts";
import type { ReadView } from "./catalog.ts";

interface Dependencies {
  /** True if other processes write to the log. */
  readonly sharedLog: boolean;
  /** Last known position of the view that serves the reads. */
  readonly positionOf: (view: ReadView) => Position;
  /** Waits, with a timeout, until the view has a position. */
  readonly reached: (view: ReadView, position: Position) => Promise<void>;
  /** The last position written by this process, or the head of the log at its start. */
  readonly answered: () => Position;
}

export function createShownPositions(dependencies: Dependencies) {
  const { sharedLog, positionOf, reached, answered } = dependencies;
  const usesViewPosition = (view: ReadView): boolean => sharedLog || view === "search";

  return {
    positionOf: (view: ReadView): Position =>
      usesViewPosition(view) ? positionOf(view) : answered(),

    /** Rejects `unavailable` if the view does not reach the position in time. */
    async reach(view: ReadView, position: Position): Promise<void> {
      if (position <= START) return;
      if (!usesViewPosition(view) && position <= answered()) return;
      await reached(view, position);
    },
  };
}
