/**
 * How the projector shares the cores with those who answer and write. Near the head of the log it
 * works at its thread's priority, so that what is written is soon found. When it is far behind and
 * writers want its core, they are too many: then it takes a tenth of it, and smaller batches, until
 * they pause or are made to wait (`projector-lag-max`).
 */
import type { Position } from "../core/position.ts";

export interface Sharing {
  /** A turn begins. */
  begin(): void;
  /** How many records of a batch the turn takes. */
  recordsOf(batchMax: number): number;
  /** There was more to do than a batch of the turn took. */
  full(): void;
  /** The turn has ended. Resolves when others have had their part of the core. */
  end(head: () => Promise<Position>): Promise<void>;
  /** Something else is asked for: ends a pause, should there be one. */
  goOn(): void;
}

export interface Clocks {
  readonly wallMs: () => number;
  /** That this thread has computed. */
  readonly computedMs: () => number;
}

/** A turn that took so many times as long as it computed had to wait for its core. */
const CONTENDED_TIMES = 1.5;
/** How many times as long as it computed, others have the core. */
const LEFT_TIMES = 8;
const LEFT_MS_MAX = 500;
/** Of a batch, so that what is left to others is left in time. */
const PART = 1 / 8;
/** Shorter turns tell nothing. */
const TOLD_MS_MIN = 5;

/** It has its core for itself. */
export const unshared: Sharing = {
  begin() {},
  recordsOf: (batchMax) => batchMax,
  full() {},
  end: async () => {},
  goOn() {},
};

const ownClocks: Clocks = {
  wallMs: () => performance.now(),
  computedMs() {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  },
};

export function createSharing({ wallMs, computedMs }: Clocks = ownClocks): Sharing {
  let wall = 0;
  let computed = 0;
  let behind = false;
  let contended = false;
  let last: Position | undefined;
  let goOn: () => void = () => {};

  /** Whether somebody has written since it was asked last. */
  async function grows(head: () => Promise<Position>): Promise<boolean> {
    try {
      const before = last;
      last = await head();
      return before !== undefined && last > before;
    } catch {
      // To read tells why.
      return false;
    }
  }

  return {
    begin() {
      wall = wallMs();
      computed = computedMs();
      behind = false;
    },
    recordsOf: (batchMax) => (contended ? Math.max(1, Math.floor(batchMax * PART)) : batchMax),
    full() {
      behind = true;
    },
    async end(head) {
      const took = wallMs() - wall;
      const own = computedMs() - computed;
      if (!behind || !(await grows(head))) contended = false;
      else if (took >= TOLD_MS_MIN) contended = took > own * CONTENDED_TIMES;
      if (!contended) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.min(own * LEFT_TIMES, LEFT_MS_MAX));
      goOn = resolve;
      await promise;
      clearTimeout(timer);
    },
    goOn: () => goOn(),
  };
}
