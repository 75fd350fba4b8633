/**
 * Throughput of the log and its views, and the lag of views in seconds. Positions carry no time, so
 * the positions are sampled once a second.
 *
 * Records older than the first sample count as written then: a lag in seconds is at most the age of
 * the process.
 */
import { type Position, START } from "../../core/position.ts";
import { minOf } from "../../lib/lists.ts";

/** The head of the log and the positions of the views, sampled once a second. */
export interface PositionSample {
  readonly head: Position;
  readonly positions: Readonly<Record<string, Position>>;
}

export interface Throughput {
  note(sample: PositionSample): void;
  /** Age of the oldest record that a view at this position lacks; 0 at the head of the log. */
  lagSeconds(position: Position, head: Position): number;
  /** Records per second over the last samples, of a view or of the log. */
  rate(view?: string): number;
  /** Records since the start of the process: applied to a view, or appended to the log. */
  records(view?: string): number;
}

interface Sample {
  /** Seconds. */
  readonly time: number;
  readonly records: ReadonlyMap<string | undefined, number>;
}

/** Samples of a rate. */
const rateSamplesMax = 10;
/** Maximum sampled heads; above it, every second one is dropped, so old samples are sparse. */
const headsMax = 1_024;

export function createThroughput(parts: {
  /** Number of records after a position, up to another. */
  readonly between: (after: Position, upTo: Position) => number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}): Throughput {
  const seconds = (): number => parts.now() / 1_000;
  const records = new Map<string | undefined, number>();
  const latest = new Map<string | undefined, Position>();
  let recent: Sample[] = [];
  let heads: { readonly time: number; readonly head: Position }[] = [];

  /** An emptied view starts again, and its records count again. */
  function moved(name: string | undefined, position: Position): void {
    const before = latest.get(name) ?? position;
    latest.set(name, position);
    const by = parts.between(position < before ? START : before, position);
    records.set(name, (records.get(name) ?? 0) + by);
  }

  /** Of heads that every view has passed only the newest is needed. */
  function noteHead(time: number, head: Position, slowest: number): void {
    // Only the last sample of a head counts: until then no record was missing.
    if (heads.at(-1)?.head === head) heads.pop();
    heads.push({ time, head });
    const passed = heads.findLastIndex((one) => one.head <= slowest);
    if (passed > 0) heads = heads.slice(passed);
    if (heads.length > headsMax) heads = heads.filter((_, i) => i % 2 === 0);
  }

  return {
    note({ head, positions }) {
      const time = seconds();
      moved(undefined, head);
      for (const [view, position] of Object.entries(positions)) moved(view, position);
      recent = [...recent, { time, records: new Map(records) }].slice(-rateSamplesMax - 1);
      noteHead(time, head, minOf([head, ...Object.values(positions)]));
    },
    lagSeconds(position, head) {
      if (position >= head) return 0;
      const now = seconds();
      const points = [...heads, { time: now, head }];
      const at = points.findLastIndex((one) => one.head <= position);
      const [had, then] = [points[Math.max(at, 0)], points[at + 1]];
      if (had === undefined || then === undefined) return 0;
      // Linear interpolation between two samples.
      const part = at < 0 ? 0 : (position - had.head) / (then.head - had.head);
      return Math.max(0, now - had.time - part * (then.time - had.time));
    },
    rate(view) {
      const [first, last] = [recent[0], recent.at(-1)];
      if (first === undefined || last === undefined || first.time === last.time) return 0;
      const by = (last.records.get(view) ?? 0) - (first.records.get(view) ?? 0);
      return by / (last.time - first.time);
    },
    records: (view) => records.get(view) ?? 0,
  };
}
