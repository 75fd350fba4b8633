/** Verifies entities in batches. Between two batches, yields and reports the progress. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChangeLog } from "../../../log/change-log.ts";
import type { HistoryLog } from "../../history.ts";
import type { Findings } from "../findings.ts";
import type { VerifiedView } from "../view-rows.ts";
import {
  batchMax,
  type EntityStreams,
  type Verifier,
  type ViewPositions,
} from "./verify-entities.ts";

export interface VerificationParts {
  readonly log: HistoryLog & Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly views: readonly VerifiedView[];
  readonly verifier: Verifier;
  /** True for staging generations, which catch up with the log later (pending-refolds.ts). */
  readonly catchesUp?: boolean | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Entities = AsyncIterable<readonly EntityStreams[]>;

export async function* batchesOf(urns: Iterable<string>): Entities {
  let batch: EntityStreams[] = [];
  for (const urn of urns) {
    if (batch.push({ urn }) < batchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns the number of rows that the log implies, by view, up to the position in `positions`. */
export async function runBatches(
  { verifier, onProgress, signal }: VerificationParts,
  entities: Entities,
  asked: {
    readonly views: readonly string[];
    readonly positions: ViewPositions;
    readonly findings: Findings;
    /** Records or entities, for the progress; 0: it is not reported. */
    readonly total: number;
  },
): Promise<{ readonly rows: ReadonlyMap<string, number>; readonly records: number }> {
  const { views, positions, findings, total } = asked;
  const rows = new Map<string, number>();
  let records = 0;
  for await (const batch of entities) {
    signal?.throwIfAborted();
    const done = await verifier.verify(batch, { views, positions });
    records += done.records;
    for (const one of done.differences) findings.add(one);
    for (const [view, more] of Object.entries(done.rows)) {
      rows.set(view, (rows.get(view) ?? 0) + more);
    }
    if (total > 0) onProgress?.(Math.min(records, total), total);
    // Reads may all be synchronous: yield, so that the thread receives its messages.
    await yieldToEventLoop();
  }
  return { rows, records };
}
