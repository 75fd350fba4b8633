/**
 * Reads batches of the log for groups of views. Costly views lag shortly behind the others and read
 * the same batches from the cache (change-cache.ts).
 */
import type { PlacedChange } from "../core/change.ts";
import { type Position, position } from "../core/position.ts";
import { collectGarbage, GARBAGE_BYTES } from "../lib/collect-garbage.ts";
import { minOf } from "../lib/lists.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { isLastPage } from "../log/merged-streams.ts";
import { type Batch, type Decode, decodeBatch } from "./batch.ts";
import { limitBatch } from "./batch-groups.ts";
import { createChangeCache } from "./change-cache.ts";
import type { ViewState } from "./view-state.ts";

interface ReadBatch {
  readonly batch: Batch<PlacedChange>;
  /** The log may have more: the batch has the maximum size, or ends before a poison record. */
  readonly full: boolean;
  /** The log has no record after the position. */
  readonly atHead: boolean;
}

/** Reads at most `limit` records after a position, none after `end`. Rejects as the log does. */
type ReadAfter = (
  after: Position,
  options: {
    readonly limit: number;
    readonly end: Position | undefined;
    readonly costly: boolean;
  },
) => Promise<ReadBatch>;

export function createBatchReader({
  log,
  decode,
  viewStates,
}: {
  readonly log: Pick<ChangeLog, "readAll">;
  readonly decode: Decode;
  readonly viewStates: readonly ViewState[];
}): ReadAfter {
  const recent = createChangeCache();
  /** Size of the last page. */
  let bytes = 0;
  return async (after, { limit, end, costly }) => {
    if (bytes > GARBAGE_BYTES) collectGarbage();
    bytes = 0;
    const known = costly ? recent.from(after, { limit, end }) : undefined;
    if (known !== undefined) {
      return { batch: known, full: known.items.length === limit, atHead: false };
    }
    const page = await log.readAll(after, { limit });
    bytes = page.reduce((sum, { data }) => sum + data.length, 0);
    const batch = decodeBatch(limitBatch(page, end), decode, after);
    if (!costly) {
      const later = viewStates.filter(({ view }) => view.costly === true);
      const needed = position(minOf(later.map((viewState) => viewState.position)));
      if (later.length > 0) recent.add(after, batch, needed);
    }
    const full = !isLastPage(page, limit) || batch.failure !== undefined;
    return { batch, full, atHead: page.length === 0 };
  };
}
