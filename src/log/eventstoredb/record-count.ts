/**
 * How many records lie between two places of a log whose positions are bytes. Known of its last
 * records, of which a few are looked at now and then; reckoned beyond them from what these take,
 * with all that others keep between them.
 */
import { type Position, START } from "../../core/position.ts";

export interface RecordCount {
  /** The last records, the newest first; `all`: there are no others. */
  note(positions: readonly Position[], all: boolean): void;
  between(after: Position, upTo: Position): number;
  /** Nothing is known of records up to there, and too little of others to reckon with. */
  isBlind(upTo: Position): boolean;
}

/** What so few records take tells nothing of others. */
const RECKONED_MIN = 10;

export function createRecordCount(): RecordCount {
  /** The oldest first. */
  let last: readonly Position[] = [];
  let all = true;

  function bytesEach(): number {
    const [oldest = START, newest = START] = [all ? START : last[0], last.at(-1)];
    const steps = last.length - (all ? 0 : 1);
    return steps <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, (newest - oldest) / steps);
  }

  return {
    note(positions, whole) {
      last = positions.toReversed();
      all = whole;
    },
    isBlind: (upTo) => upTo > (last.at(-1) ?? START) && last.length < RECKONED_MIN,
    between(after, upTo) {
      if (upTo <= after) return 0;
      const known = last.filter((one) => one > after && one <= upTo).length;
      const [oldest, newest] = [last[0] ?? START, last.at(-1) ?? START];
      const before = all ? 0 : Math.max(0, Math.min(upTo, oldest - 1) - after);
      const since = Math.max(0, upTo - Math.max(after, newest));
      return Math.max(1, known + Math.round((before + since) / bytesEach()));
    },
  };
}
