/**
 * Estimates the number of records between two positions of a log whose positions are bytes. The
 * number is exact for the last records, which are sampled at intervals. For older records it follows
 * from the average distance of the sampled ones.
 */
import { type Position, START } from "../../core/position.ts";

export interface RecordCount {
  /** Sets the sample: the last records, newest first. `all`: the log has no others. */
  note(positions: readonly Position[], all: boolean): void;
  between(after: Position, upTo: Position): number;
  /** True if the sample is too small for an estimate up to this position. */
  isBlind(upTo: Position): boolean;
}

/** A smaller sample gives no estimate. */
const RECKONED_MIN = 10;

export function createRecordCount(): RecordCount {
  /** Oldest first. */
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
