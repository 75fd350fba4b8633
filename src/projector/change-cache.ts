/**
 * Changes that were read for the views that go ahead, kept for those that come to them a moment later
 * in turns of their own: they need neither read nor decode them again.
 */
import type { PlacedChange } from "../core/change.ts";
import { type Position, START } from "../core/position.ts";
import type { Batch } from "./batch.ts";

export interface ChangeCache {
  /** A batch that followed on `after`; what lies at or before `needed` is forgotten. */
  add(after: Position, batch: Batch<PlacedChange>, needed: Position): void;
  /**
   * The first changes after a position, so many at most and none past `end`; undefined where they are
   * not kept.
   */
  from(
    after: Position,
    options: { readonly limit: number; readonly end?: Position | undefined },
  ): Batch<PlacedChange> | undefined;
}

/** Of the values that are kept, in UTF-16 code units, and of the changes: a few batches. */
const CHARS_MAX = 4_000_000;
const CHANGES_MAX = 8_000;

interface Kept {
  readonly after: Position;
  readonly upTo: Position;
  readonly changes: readonly PlacedChange[];
  readonly nameAt: Batch<PlacedChange>["nameAt"];
  readonly chars: number;
}

export function createChangeCache(): ChangeCache {
  /** Each follows on the one before it. */
  let kept: Kept[] = [];
  let chars = 0;
  let changes = 0;

  function forgetFirst(): void {
    const [first, ...rest] = kept;
    kept = rest;
    chars -= first?.chars ?? 0;
    changes -= first?.changes.length ?? 0;
  }

  return {
    add(after, { items, upTo, nameAt }, needed) {
      if (kept.at(-1)?.upTo !== after) [kept, chars, changes] = [[], 0, 0];
      if (upTo <= after) return;
      const size = items.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
      kept.push({ after, upTo, changes: items, nameAt, chars: size });
      chars += size;
      changes += items.length;
      while (chars > CHARS_MAX || changes > CHANGES_MAX || (kept[0]?.upTo ?? Infinity) <= needed) {
        forgetFirst();
      }
    },
    from(after, { limit, end }) {
      if (after < (kept[0]?.after ?? Infinity) || after >= (kept.at(-1)?.upTo ?? START)) return;
      const items: PlacedChange[] = [];
      const parts = kept;
      const nameAt = (at: Position) =>
        parts.find((one) => one.after < at && at <= one.upTo)?.nameAt?.(at);
      let upTo = after;
      for (const one of kept) {
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
