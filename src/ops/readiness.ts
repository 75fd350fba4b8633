/**
 * Whether views make progress: a view is stalled when it has not come to where the log was some
 * seconds ago, and has not moved since. A view that is far behind and catches up is ready; one whose
 * thread stands still is not, however well the process answers. Nothing is said of views while the
 * log does not tell where it is.
 */
import type { Position } from "../core/position.ts";

export interface Stalled {
  readonly view: string;
  readonly position: Position;
  /** Where the log was then. */
  readonly head: Position;
}

export interface Readiness {
  /** Views that are stalled now; none: the service is ready. */
  stalled(): readonly Stalled[];
  close(): void;
}

type Positions = Readonly<Record<string, Position>>;

interface Sample {
  readonly time: number;
  readonly head: Position;
  readonly positions: Positions;
}

/** How long a view may stand still behind the log. */
const stalledMsMax = 15_000;
/** How often it is looked. */
const lookMs = 1_000;

/** `look` gives the head of the log and the positions of the views, as they are now. */
export function watchReadiness(parts: {
  readonly look: () => Promise<{ readonly head: Position; readonly positions: Positions }>;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly stalledMs?: number;
}): Readiness & { sample(): Promise<void> } {
  const { look, now, stalledMs = stalledMsMax } = parts;
  let samples: Sample[] = [];

  async function sample(): Promise<void> {
    try {
      const seen = await look();
      samples.push({ time: now(), ...seen });
    } catch {
      // A log that cannot be read is told by /health; positions go on to be compared.
    }
    // Of those that are old enough the newest is kept, to compare with.
    const since = now() - stalledMs;
    const first = samples.findLastIndex(({ time }) => time <= since);
    if (first > 0) samples = samples.slice(first);
  }

  const timer = setInterval(() => void sample(), lookMs).unref();
  return {
    sample,
    stalled() {
      const first = samples.findLastIndex(({ time }) => time <= now() - stalledMs);
      const [then, ...since] = first < 0 ? [] : samples.slice(first);
      // Nothing was seen since: then it is the log that stands still.
      if (then === undefined || since.length === 0) return [];
      return Object.entries(then.positions).flatMap(([view, before]) => {
        let position = before;
        let moved = false;
        // One that failed goes back to what it has kept, which is no progress.
        for (const { positions } of since) {
          const next = positions[view] ?? position;
          moved ||= next > position;
          position = next;
        }
        return moved || before >= then.head ? [] : [{ view, position, head: then.head }];
      });
    },
    close: () => clearInterval(timer),
  };
}
