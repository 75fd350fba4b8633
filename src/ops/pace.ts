/**
 * How fast the log grows and views follow, and how long ago the log was where a view is: looked at
 * once a second, since positions alone know no time.
 *
 * What the log had before the first look is taken to have come then: a lag in seconds is never more
 * than the process is old.
 */
import { type Position, START } from "../core/position.ts";

type Positions = Readonly<Record<string, Position>>;

export interface Pace {
  /** How long a view at that position has lacked what the log has; 0 when it lacks nothing. */
  lagSeconds(position: Position, head: Position): number;
  /** Records a second over the last seconds, of a view, or of the log. */
  rate(view?: string): number;
  /** Records since the process began: that a view was brought, or that came to the log. */
  records(view?: string): number;
  close(): void;
}

interface Sample {
  /** Seconds. */
  readonly time: number;
  readonly head: Position;
  readonly records: ReadonlyMap<string | undefined, number>;
}

const lookMs = 1_000;
/** A rate is that of so many samples. */
const rateSamplesMax = 10;
/** Where the log was when: every second one goes when there are more, so that old ones are coarse. */
const headsMax = 1_024;

/** `look` gives the head of the log and the positions of the views, as they are now. */
export function watchPace(parts: {
  /** How many records lie after a position, up to another. */
  readonly between: (after: Position, upTo: Position) => number;
  readonly look: () => Promise<{ readonly head: Position; readonly positions: Positions }>;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}): Pace & { sample(): Promise<void> } {
  const seconds = (): number => parts.now() / 1_000;
  const records = new Map<string | undefined, number>();
  const latest = new Map<string | undefined, Position>();
  let recent: Sample[] = [];
  let heads: { readonly time: number; readonly head: Position }[] = [];

  /** A view that was emptied begins anew: what it has again counts again. */
  function moved(name: string | undefined, position: Position): void {
    const before = latest.get(name) ?? position;
    latest.set(name, position);
    const by = parts.between(position < before ? START : before, position);
    records.set(name, (records.get(name) ?? 0) + by);
  }

  async function sample(): Promise<void> {
    let seen: Awaited<ReturnType<typeof parts.look>>;
    try {
      seen = await parts.look();
    } catch {
      // A log that cannot be read is told by /health; what was seen before goes on to count.
      return;
    }
    const time = seconds();
    moved(undefined, seen.head);
    for (const [view, position] of Object.entries(seen.positions)) moved(view, position);
    recent = [...recent, { time, head: seen.head, records: new Map(records) }];
    recent = recent.slice(-rateSamplesMax - 1);
    noteHead(time, seen.head, Math.min(seen.head, ...Object.values(seen.positions)));
  }

  /** Of what every view has passed only the newest is needed. */
  function noteHead(time: number, head: Position, slowest: number): void {
    // The last look at a head is the one that counts: until then nothing was lacking.
    if (heads.at(-1)?.head === head) heads.pop();
    heads.push({ time, head });
    const passed = heads.findLastIndex((one) => one.head <= slowest);
    if (passed > 0) heads = heads.slice(passed);
    if (heads.length > headsMax) heads = heads.filter((_, i) => i % 2 === 0);
  }

  void sample();
  const timer = setInterval(() => void sample(), lookMs).unref();
  return {
    sample,
    lagSeconds(position, head) {
      if (position >= head) return 0;
      const now = seconds();
      const points = [...heads, { time: now, head }];
      const at = points.findLastIndex((one) => one.head <= position);
      const [had, then] = [points[Math.max(at, 0)], points[at + 1]];
      if (had === undefined || then === undefined) return 0;
      // Between two looks the log is taken to have grown evenly.
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
    close: () => clearInterval(timer),
  };
}
