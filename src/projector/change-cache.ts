/**
 * Cache of decoded changes. Costly views lag shortly behind the others, in turns of their own, and
 * need not read and decode these changes again. The size of the values and the number of changes
 * are bounded. Entries that no view needs are evicted.
 */
import type { PlacedChange } from "../core/change.ts";
import { type Position, START } from "../core/position.ts";
import type { Batch } from "./batch.ts";

interface ChangeCache {
  /** Adds the batch after `after`; evicts changes at or before `needed`. */
  add(after: Position, batch: Batch<PlacedChange>, needed: Position): void;
  /**
   * The first changes after a position, at most `limit` and none past `end`; undefined if they are
   * not cached.
   */
  from(
    after: Position,
    options: { readonly limit: number; readonly end?: Position | undefined },
  ): Batch<PlacedChange> | undefined;
}

/** Size of the cached values in UTF-16 code units, and number of changes: a few batches. */
const CHARS_MAX = 4_000_000;
const CHANGES_MAX = 8_000;

interface CachedBatch {
  readonly after: Position;
  readonly upTo: Position;
  readonly changes: readonly PlacedChange[];
  readonly nameAt: Batch<PlacedChange>["nameAt"];
  readonly chars: number;
}

export function createChangeCache(): ChangeCache {
  /** Consecutive batches. */
  let cached: CachedBatch[] = [];
  let chars = 0;
  let changes = 0;

  function evictFirst(): void {
    const [first, ...rest] = cached;
    cached = rest;
    chars -= first?.chars ?? 0;
    changes -= first?.changes.length ?? 0;
  }

  return {
    add(after, { items, upTo, nameAt }, needed) {
      if (cached.at(-1)?.upTo !== after) [cached, chars, changes] = [[], 0, 0];
      if (upTo <= after) return;
      const size = items.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
      cached.push({ after, upTo, changes: items, nameAt, chars: size });
      chars += size;
      changes += items.length;
      while (
        chars > CHARS_MAX ||
        changes > CHANGES_MAX ||
        (cached[0]?.upTo ?? Infinity) <= needed
      ) {
        evictFirst();
      }
    },
    from(after, { limit, end }) {
      if (after < (cached[0]?.after ?? Infinity) || after >= (cached.at(-1)?.upTo ?? START)) return;
      const items: PlacedChange[] = [];
      const parts = cached;
      const nameAt = (at: Position) =>
        parts.find((one) => one.after < at && at <= one.upTo)?.nameAt?.(at);
      let upTo = after;
      for (const one of cached) {
        if (one.upTo <= after) continue;
        for (const change of one.changes) {
          if (change.position <= after) continue;
          if (end !== undefined && change.position > end) return { items, upTo: end, nameAt };
          if (items.length === limit) return { items, upTo, nameAt };
          items.push(change);
          upTo = change.position;
        }
        upTo = one.upTo;
      }
      return { items, upTo: end !== undefined && end < upTo ? end : upTo, nameAt };
    },
  };
}
