/**
 * Repairs the differences that a verification found. Restores differing entities first, because
 * other views may be built from them. Then rebuilds views whose store has faults, unreadable views,
 * and views that still differ.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Verified } from "./verified-state.ts";

interface RepairParts {
  /** Verifies some views. */
  verify(views: readonly string[]): Promise<readonly Verified[]>;
  /** Restores entities in all views. Returns false if a view has no projector. */
  restore(urns: readonly string[]): Promise<boolean>;
  /** Rebuilds views from the log. */
  rebuild(views: readonly string[]): Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

interface Repaired {
  /** First results of the readable views. */
  readonly before: readonly Verified[];
  /** Last results. */
  readonly after: readonly Verified[];
  /** Number of restored entities. */
  readonly restored: number;
  readonly rebuilt: readonly string[];
}

/** Maximum number of rounds: each one repairs the differences that the last verification stored. */
const ROUNDS_MAX = 20;

export async function verifyAndRepair(
  views: readonly string[],
  { verify, restore, rebuild, signal }: RepairParts,
): Promise<Repaired> {
  const rebuilt = new Set<string>();
  let restored = 0;
  /** False if the last `restore` found a view without a projector. */
  let hasProjector = true;

  /** Rebuilds some views and returns the latest results of all. */
  async function rebuildAndVerify(
    damaged: readonly string[],
    known: readonly Verified[],
  ): Promise<readonly Verified[]> {
    await rebuild(damaged);
    for (const view of damaged) rebuilt.add(view);
    const now = await verify(damaged);
    const of = (view: string) => [...now, ...known].find((one) => one.view === view);
    return views.map(of).filter((one) => one !== undefined);
  }

  async function unreadableViews(): Promise<readonly string[]> {
    const unreadable: string[] = [];
    for (const view of views) {
      try {
        await verify([view]);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CatalogError && error.code === "unavailable")) throw error;
        unreadable.push(view);
      }
    }
    return unreadable;
  }

  /**
   * Restores entities that differ, but not in views whose store has faults (`without`): these are
   * rebuilt.
   */
  async function restoreDifferent(
    known: readonly Verified[],
    without: readonly string[],
  ): Promise<readonly Verified[]> {
    const some = views.filter((view) => !without.includes(view));
    let left: readonly Verified[] = known.filter(({ view }) => some.includes(view));
    for (let round = 0; countOf(left) > 0 && round < ROUNDS_MAX; round++) {
      const before = countOf(left);
      const urns = new Set(left.flatMap(({ differences }) => differences.map(({ urn }) => urn)));
      urns.delete("");
      hasProjector = await restore([...urns]);
      restored += urns.size;
      left = await verify(some);
      if (countOf(left) >= before) break;
    }
    return left;
  }

  async function verifyFirst() {
    try {
      return { found: await verify(views), unreadable: [] };
    } catch (error) {
      signal?.throwIfAborted();
      const unreadable = await unreadableViews();
      // All views are readable: a transient error.
      if (unreadable.length === 0) throw error;
      const others = views.filter((view) => !unreadable.includes(view));
      return { found: others.length === 0 ? [] : await verify(others), unreadable };
    }
  }

  const { found, unreadable } = await verifyFirst();
  const hasFault = ({ differences }: Verified) => differences.some(({ urn }) => urn === "");
  const damaged = [...unreadable, ...namesOf(found.filter(hasFault))];
  let after = await restoreDifferent(found, damaged);
  if (damaged.length > 0)
    after = await restoreDifferent(await rebuildAndVerify(damaged, after), []);
  const positionBefore = new Map(found.map(({ view, position }) => [view, position]));
  /** True if the projector has restarted the view from an earlier position. */
  const isBehind = ({ view, position }: Verified) => position < (positionBefore.get(view) ?? 0);
  const remaining = after.filter((one) => one.count > 0 || isBehind(one));
  if (hasProjector && remaining.length > 0)
    after = await rebuildAndVerify(namesOf(remaining), after);
  return { before: found, after, restored, rebuilt: [...rebuilt] };
}

const namesOf = (some: readonly Verified[]): readonly string[] => some.map(({ view }) => view);

/** Sum of the differences. */
export const countOf = (views: readonly Verified[]): number =>
  views.reduce((sum, { count }) => sum + count, 0);
