/**
 * How the projector shares the cores with those who answer and write. What is written is followed
 * at their priority, so that it is soon found, as long as following it takes nine tenths of a core, or less.
 * Writers who bring more than that, and want the core, come first: then it is left to them but for a
 * sixth, in smaller batches, until they pause, bring no more for it, or are made to wait
 * (`projector-lag-max`).
 */
import type { Position } from "../core/position.ts";
import { type ChangeLog, recordsBetween } from "../log/change-log.ts";
import { threadMs } from "./thread-ms.ts";

export interface Sharing {
  /** A turn begins. */
  begin(): void;
  /**
   * How many records of a batch the turn takes. `costlyBehind`: it is for views that have turns of
   * their own, and they are so many records behind.
   */
  recordsOf(batchMax: number, costlyBehind?: number): number;
  /**
   * Some views of the turn took so many records, or none and did what they had put off; `costly`:
   * those that have turns of their own.
   */
  took(records: number, costly: boolean): void;
  /** There was more to do than a batch of the turn took. */
  full(): void;
  /**
   * The turn has ended, with the views that have no turns of their own at a position. Resolves when
   * others have had their part of the core.
   */
  end(log: SharedLog, at: Position): Promise<void>;
  /** Something else is asked for: ends a pause, should there be one. */
  goOn(): void;
}

type SharedLog = Pick<ChangeLog, "head" | "countBetween">;

export interface Clocks {
  readonly wallMs: () => number;
  /** That this thread has computed. */
  readonly computedMs: () => number;
}

/**
 * A turn that took so many times as long as it computed had to wait for its core. What others are left
 * makes the next turns quick: only after so many that did not wait is it taken to be free.
 */
const CONTENDED_TIMES = 1.15;
const FREE_TURNS = 4;
/**
 * Of cores: to follow what writers bring is no more than that, or they are too many. Where they have
 * two cores, half of what they can bring at most takes 0.6 to 0.9: there it must not give way, and all
 * that they can bring takes 0.95 while it does not.
 */
const FOLLOWED_MAX = 0.9;
/**
 * What was measured before counts so much of itself beside what is measured now. Costs are those of
 * some turns: a store puts work off and does it at once now and then.
 */
const EARLIER = { costly: 0.9, others: 0.98, written: 0.7, beside: 0.6 };
/**
 * Writers who do not bring so many times as much while the core is left to them do not want it: after so
 * long it is taken from them again. They may have been held up by something else, though: the first time
 * it is taken for a second, and each further time for twice as long. From those who do want it, it is
 * taken for a moment now and then: what they bring beside the views may have become another.
 */
const WANTED = {
  ...{ times: 1.15, triedMs: 400, usedMs: 5_000, askedMs: 300 },
  refusedMs: { first: 1_000, most: 8_000 },
};
/**
 * Writers are looked at no sooner than that after the last look. What was written over a longer time than
 * the other tells nothing of writers at work: they paused.
 */
const LOOK_MS = { min: 50, max: 1_000 };
/** How many times as long as it computed, others have the core. */
const LEFT_TIMES = 5;
const LEFT_MS_MAX = 500;
/** Farther behind, nothing is left to writers: they would only wait for it (`projector-lag-max`). */
const LEFT_RECORDS_MAX = 50_000;
/** Of a batch, so that what is left to others is left in time. */
const PART = 1 / 8;
/** Turns that were shorter in all tell nothing yet. */
const TOLD_MS_MIN = 5;
/**
 * What was just written waits for the batch in hand and for its own. So costly views that are no more
 * than some batches behind take what they can in so many milliseconds. Small batches cost more, though:
 * of what takes longer to follow half is taken at once, within bounds; and farther behind, whole batches.
 */
const COSTLY_MS = { usual: 80, most: 500 };
const COSTLY_RECORDS_MIN = 50;
const NEAR_BATCHES = 4;

/** It has its core for itself. */
export const unshared: Sharing = {
  begin() {},
  recordsOf: (batchMax) => batchMax,
  took() {},
  full() {},
  end: async () => {},
  goOn() {},
};

const ownClocks: Clocks = { wallMs: () => performance.now(), computedMs: threadMs };

export function createSharing({ wallMs, computedMs }: Clocks = ownClocks): Sharing {
  let wall = 0;
  let computed = 0;
  /** What was computed when costs were last counted. */
  let counted = 0;
  let behind = false;
  let contended = false;
  /** Whether the costly batch in hand is of views that are near. */
  let near = false;
  /** Of turns that told nothing yet, in milliseconds. */
  let untold = { took: 0, own: 0 };
  let freeTurns = FREE_TURNS;
  /** Milliseconds that a record costs the views of either kind. */
  const costs = { costly: createRatio(EARLIER.costly), others: createRatio(EARLIER.others) };
  /** Records that are written in a millisecond. */
  const written = createRatio(EARLIER.written);
  /** The same while the core is not left to them. */
  const beside = createRatio(EARLIER.beside);
  /** Since when it is left to them, and when that was last seen to be of use. */
  let leftSince: number | undefined;
  let seen: Look | undefined;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let refusedMs = WANTED.refusedMs.first;
  let last: Look | undefined;
  let goOn: () => void = () => {};

  /** Whether writers are too many, and need not wait soon for what is left to them now. */
  async function areTooMany(log: SharedLog, position: Position): Promise<boolean> {
    const at = wallMs();
    if (last === undefined || at - last.at >= LOOK_MS.min) {
      try {
        const before = last;
        const head = await log.head();
        const records = before === undefined ? 0 : recordsBetween(log, before.head, head);
        last = { head, records: (before?.records ?? 0) + records, at };
        if (before !== undefined) {
          const ms = at - before.at;
          written.add(records, ms);
          if (!contended && records > 0 && ms <= LOOK_MS.max) beside.add(records, ms);
        }
      } catch {
        // To read tells why.
        return false;
      }
    }
    if (recordsBetween(log, position, last.head) > LEFT_RECORDS_MAX) return false;
    return written.value() * (costs.costly.value() + costs.others.value()) > FOLLOWED_MAX;
  }

  /** Whether writers bring more since the core is left to them; asked now and then. */
  function isOfUse(): boolean {
    if (last === undefined || last.at < refusedUntil) return false;
    leftSince ??= last.at;
    seen ??= last;
    if (last.at - seen.at < WANTED.triedMs) return true;
    const rate = (last.records - seen.records) / (last.at - seen.at);
    seen = last;
    const wanted = rate >= beside.value() * WANTED.times;
    if (wanted) refusedMs = WANTED.refusedMs.first;
    if (wanted && last.at - leftSince < WANTED.usedMs) return true;
    refusedUntil = last.at + (wanted ? WANTED.askedMs : refusedMs);
    if (!wanted) refusedMs = Math.min(2 * refusedMs, WANTED.refusedMs.most);
    return false;
  }

  return {
    begin() {
      wall = wallMs();
      computed = computedMs();
      counted = computed;
      behind = false;
    },
    recordsOf(batchMax, costlyBehind) {
      const most = contended ? Math.max(1, Math.floor(batchMax * PART)) : batchMax;
      const cost = costs.costly.value();
      if (costlyBehind === undefined) return most;
      near = costlyBehind <= batchMax * NEAR_BATCHES;
      if (!near || cost === 0) return most;
      const half = Math.min(costlyBehind / 2, COSTLY_MS.most / cost);
      const records = Math.floor(Math.max(half, COSTLY_MS.usual / cost));
      return Math.min(most, Math.max(COSTLY_RECORDS_MIN, records));
    },
    took(records, costly) {
      const now = computedMs();
      // Small batches cost more than those that are taken where nothing is left to others, and views
      // that are far behind pass over much that was written again since.
      if (!contended && (!costly || near)) {
        costs[costly ? "costly" : "others"].add(now - counted, records);
      }
      counted = now;
    },
    full() {
      behind = true;
    },
    async end(log, at) {
      const own = computedMs() - computed;
      const told = { took: untold.took + wallMs() - wall, own: untold.own + own };
      untold = told.took >= TOLD_MS_MIN ? { took: 0, own: 0 } : told;
      const tooMany = await areTooMany(log, at);
      if (!behind || !tooMany) contended = false;
      else if (told.took >= TOLD_MS_MIN) {
        freeTurns = told.took > told.own * CONTENDED_TIMES ? 0 : freeTurns + 1;
        contended = freeTurns < FREE_TURNS;
      }
      contended &&= isOfUse();
      if (!contended) {
        leftSince = undefined;
        seen = undefined;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.min(own * LEFT_TIMES, LEFT_MS_MAX));
      goOn = resolve;
      await promise;
      clearTimeout(timer);
    },
    goOn: () => goOn(),
  };
}

/** Where the log ended at a point in time. */
interface Look {
  readonly head: Position;
  /** Written since the first look. */
  readonly records: number;
  readonly at: number;
}

/** Of sums in which the latest count most: a large batch tells more of its cost than a small one. */
function createRatio(earlier: number) {
  let above = 0;
  let below = 0;
  return {
    add(more: number, of: number): void {
      above = above * earlier + more;
      below = below * earlier + of;
    },
    value: () => (below === 0 ? 0 : above / below),
  };
}
