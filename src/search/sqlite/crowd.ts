/**
 * How many who search share the cores with those who write. One question after another would take a
 * core for as long as the crowd asks; so while it does, and something is written, the thread that
 * answers leaves the core for three quarters of the time. A few questions never wait for that.
 */
import { threadMs } from "../../projector/thread-ms.ts";

export interface Crowd {
  /** An answer tells a position of the view: whether somebody writes shows in that it moves. */
  told(position: number): void;
  /** Milliseconds for which nothing is to be answered, with so many questions waiting. */
  pauseMs(waiting: number): number;
}

export interface CrowdClocks {
  readonly wallMs: () => number;
  /** That this thread has computed. */
  readonly computedMs: () => number;
}

/** So many questions are a crowd. */
const CROWD_MIN = 8;
/** What it computes at once, and how long it leaves the core then. */
const AT_ONCE_MS = 10;
const LEFT_MS = 30;
/** Who wrote so long ago has ended. */
const WRITTEN_MS = 1_000;

const ownClocks: CrowdClocks = { wallMs: () => performance.now(), computedMs: threadMs };

export function createCrowd({ wallMs, computedMs }: CrowdClocks = ownClocks): Crowd {
  let position: number | undefined;
  let movedAt = Number.NEGATIVE_INFINITY;
  let leftAt = 0;
  return {
    told(now) {
      if (position !== undefined && now !== position) movedAt = wallMs();
      position = now;
    },
    pauseMs(waiting) {
      if (waiting < CROWD_MIN || wallMs() - movedAt > WRITTEN_MS) return 0;
      const computed = computedMs();
      if (computed - leftAt < AT_ONCE_MS) return 0;
      leftAt = computed;
      return LEFT_MS;
    },
  };
}
