/**
 * How the projector shares the cores with those who answer and write. Near the head of the log it
 * works at its thread's priority, so that what is written is soon found. When it is far behind and
 * others want its core, it is writers that are too many: then it takes a tenth of it, and smaller
 * batches, until they pause or are made to wait (`projector-lag-max`).
 */
export interface Sharing {
  /** A turn begins. */
  begin(): void;
  /**
   * It has ended; `behind`: there was more to do than it took, and still more is written. Milliseconds
   * to leave to others.
   */
  end(behind: boolean): number;
  /** How much of a batch a turn takes. */
  readonly part: number;
}

/** It has its core for itself. */
export const unshared: Sharing = { begin() {}, end: () => 0, part: 1 };

/** A turn that took so many times as long as it computed had to wait for its core. */
const CONTENDED_TIMES = 1.5;
/** How many times as long as it computed, others have the core. */
const LEFT_TIMES = 8;
const LEFT_MS_MAX = 500;
/** Of a batch, so that what is left to others is left in time. */
const PART = 1 / 8;
/** Shorter turns tell nothing. */
const TOLD_MS_MIN = 5;

export interface Clocks {
  readonly wallMs: () => number;
  /** That this thread has computed. */
  readonly computedMs: () => number;
}

export const clocks: Clocks = {
  wallMs: () => performance.now(),
  computedMs() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  },
};

export function createSharing({ wallMs, computedMs }: Clocks = clocks): Sharing {
  let wall = 0;
  let computed = 0;
  let contended = false;
  return {
    begin() {
      wall = wallMs();
      computed = computedMs();
    },
    end(behind) {
      const took = wallMs() - wall;
      const own = computedMs() - computed;
      if (!behind) contended = false;
      else if (took >= TOLD_MS_MIN) contended = took > own * CONTENDED_TIMES;
      return contended ? Math.min(own * LEFT_TIMES, LEFT_MS_MAX) : 0;
    },
    get part() {
      return contended ? PART : 1;
    },
  };
}
