/**
 * Readiness: a view is stalled when it has not reached the head that the log had some seconds ago,
 * and has not moved since. A view that is far behind and catches up is ready. Without new samples of
 * the log no view counts as stalled.
 */
import type { Position } from "../../core/position.ts";
import type { PositionSample } from "./throughput.ts";

export interface Stalled {
  readonly view: string;
  readonly position: Position;
  /** Head of the log at that time. */
  readonly head: Position;
}

interface Readiness {
  note(sample: PositionSample): void;
  /** Stalled views; the service is ready when there are none. */
  stalled(): readonly Stalled[];
}

/** Time without progress after which a view that lags is stalled. */
const stalledMsMax = 15_000;

export function createReadiness({
  now,
  stalledMs = stalledMsMax,
}: {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly stalledMs?: number;
}): Readiness {
  let samples: (PositionSample & { readonly time: number })[] = [];

  return {
    note(sample) {
      samples.push({ time: now(), ...sample });
      // Of the samples that are old enough the newest is kept for the comparison.
      const since = now() - stalledMs;
      const first = samples.findLastIndex(({ time }) => time <= since);
      if (first > 0) samples = samples.slice(first);
    },
    stalled() {
      const first = samples.findLastIndex(({ time }) => time <= now() - stalledMs);
      const [then, ...since] = first < 0 ? [] : samples.slice(first);
      // Without a newer sample it is the log that does not answer.
      if (then === undefined || since.length === 0) return [];
      return Object.entries(then.positions).flatMap(([view, before]) => {
        let position = before;
        let moved = false;
        // A view that failed returns to its checkpoint, which is no progress.
        for (const { positions } of since) {
          const next = positions[view] ?? position;
          moved ||= next > position;
          position = next;
        }
        return moved || before >= then.head ? [] : [{ view, position, head: then.head }];
      });
    },
  };
}
