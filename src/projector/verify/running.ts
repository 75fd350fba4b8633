/** Runs over entities in batches, which the hands of a verification work at side by side. */
import type { ChangeLog } from "../../log/change-log.ts";
import type { HistoryLog } from "../history.ts";
import { workedMs } from "../thread-ms.ts";
import type { Findings } from "./findings.ts";
import type { Hands } from "./hands.ts";
import { addSums, noSums } from "./row-sums.ts";
import type { Remembered } from "./verified-state.ts";
import type { Entity, Places, Told } from "./verify-entities.ts";
import type { VerifiedView } from "./view-rows.ts";

export interface VerificationParts {
  readonly log: HistoryLog & Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly views: readonly VerifiedView[];
  /** What was verified before, by view. */
  readonly before: Readonly<Record<string, Remembered>>;
  readonly hands: Hands;
  /** They are brought on from where they are before anybody sees them (told-again.ts). */
  readonly broughtOn?: boolean | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called between batches with the milliseconds that each hand worked (thread-ms.ts). */
  readonly rest?: ((ms: number, hands: number) => Promise<void>) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Entities = AsyncIterable<readonly Entity[]>;

export interface Run {
  /** By view, at each of the places. */
  readonly told: Readonly<Record<string, readonly Told[]>>;
  readonly unfolded: readonly (readonly [view: string, urn: string])[];
  readonly records: number;
}

/** Entities that are compared, and entities that are only folded. */
export const batchMax = { compared: 200, folded: 500 };

export async function* batchesOf(urns: Iterable<string>): Entities {
  let batch: Entity[] = [];
  for (const urn of urns) {
    if (batch.push({ urn }) < batchMax.compared) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Folds entities for the views, up to the last place of each or, to compare, as far as those are. */
export async function runOver(
  { hands, rest, onProgress, signal }: VerificationParts,
  entities: Entities,
  asked: {
    readonly views: readonly string[];
    readonly places: Places;
    /** Undefined: nothing is compared. */
    readonly findings: Findings | undefined;
    /** Records or entities, for the progress; 0: it is not told. */
    readonly total: number;
  },
): Promise<Run> {
  const { views, places, findings, total } = asked;
  const compare = findings !== undefined;
  const told = Object.fromEntries(
    Object.entries(places).map(([view, at]) => [view, at.map(() => ({ rows: 0, sums: noSums() }))]),
  );
  const unfolded: (readonly [string, string])[] = [];
  let records = 0;
  async function take(batch: readonly Entity[]): Promise<void> {
    const done = await hands.verify({ views, entities: batch, places, compare });
    records += done.records;
    for (const one of done.differences) findings?.add(one);
    unfolded.push(...done.unfolded);
    for (const [view, all] of Object.entries(told)) {
      for (const [n, sum] of all.entries()) {
        const more = done.told[view]?.[n];
        if (more === undefined) continue;
        sum.rows += more.rows;
        addSums(sum.sums, more.sums);
      }
    }
    if (total > 0) onProgress?.(Math.min(records, total), total);
  }
  const under = new Set<Promise<void>>();
  let before = workedMs();
  try {
    for await (const batch of entities) {
      signal?.throwIfAborted();
      const taken = take(batch);
      under.add(taken);
      taken.then(
        () => under.delete(taken),
        () => {},
      );
      // Each hand has one batch in work and one in waiting.
      if (under.size >= 2 * hands.count) await Promise.race(under);
      await rest?.(workedMs() - before, hands.count);
      before = workedMs();
    }
  } finally {
    await Promise.allSettled(under);
  }
  await Promise.all(under);
  return { told, unfolded, records };
}
