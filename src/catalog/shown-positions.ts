/**
 * Which position of the log the answers of reads show at least, and waiting until they show another.
 * What this process wrote, reads of entities show at once, and reads of the graph and of timeseries
 * wait for it. Where other processes write to the log, too, that says nothing of what they wrote
 * before: then it is the view that tells.
 */
import { type Position, START } from "../core/position.ts";
import type { ReadView } from "./catalog.ts";

interface Dependencies {
  /** Whether other processes write to the log. */
  readonly sharedLog: boolean;
  /** Where the view that a kind of reads asks is known to be. */
  readonly positionOf: (view: ReadView) => Position;
  /** Waits, bounded, until that view has a position. */
  readonly reached: (view: ReadView, position: Position) => Promise<void>;
  /** The last position that this process wrote, or that there was when it began. */
  readonly answered: () => Position;
}

export function createShownPositions(dependencies: Dependencies) {
  const { sharedLog, positionOf, reached, answered } = dependencies;
  const tellsItself = (view: ReadView): boolean => sharedLog || view === "search";

  return {
    positionOf: (view: ReadView): Position => (tellsItself(view) ? positionOf(view) : answered()),

    /** Rejects `unavailable` when the view does not come so far in time. */
    async reach(view: ReadView, position: Position): Promise<void> {
      if (position <= START) return;
      if (!tellsItself(view) && position <= answered()) return;
      await reached(view, position);
    },
  };
}
