/**
 * Making anew what a verification found: entities one by one, beside all else; and views as a whole where
 * what is wrong is of no entity, where they cannot be read, and where something is left. Entities come
 * first, since a view may be grown from another.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Verified } from "./verified-state.ts";

export interface RepairParts {
  /** Verifies some views. */
  look(views: readonly string[]): Promise<readonly Verified[]>;
  /** Makes entities anew in all views; whether anybody was there to do so for each of them. */
  restore(urns: readonly string[]): Promise<boolean>;
  /** Grows views anew from the log. */
  regrow(views: readonly string[]): Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface Repaired {
  /** What was found first of views that could be read. */
  readonly found: readonly Verified[];
  /** What still differs. */
  readonly left: readonly Verified[];
  /** Entities that were made anew. */
  readonly mended: number;
  /** Views that were grown anew. */
  readonly regrown: readonly string[];
}

/** Rounds of mending: what differs behind what was kept comes with the next one. */
const ROUNDS_MAX = 20;

export async function verifyAndRepair(
  views: readonly string[],
  { look, restore, regrow, signal }: RepairParts,
): Promise<Repaired> {
  const regrown = new Set<string>();
  let mended = 0;
  /** Whether the last entities that were to be made anew met those who feed the views. */
  let fed = true;

  /** What is known of all views when some have been grown anew. */
  async function anew(
    sick: readonly string[],
    known: readonly Verified[],
  ): Promise<readonly Verified[]> {
    await regrow(sick);
    for (const view of sick) regrown.add(view);
    const now = await look(sick);
    const of = (view: string) => [...now, ...known].find((one) => one.view === view);
    return views.map(of).filter((one) => one !== undefined);
  }

  /** Views that are looked at in vain, each by itself. */
  async function unreadable(): Promise<readonly string[]> {
    const sick: string[] = [];
    for (const view of views) {
      try {
        await look([view]);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CatalogError && error.code === "unavailable")) throw error;
        sick.push(view);
      }
    }
    return sick;
  }

  /** Views of which something is wrong that is of no entity have no part in it: others may be made of them. */
  async function mend(
    known: readonly Verified[],
    without: readonly string[],
  ): Promise<readonly Verified[]> {
    const some = views.filter((view) => !without.includes(view));
    let left: readonly Verified[] = known.filter(({ view }) => some.includes(view));
    for (let round = 0; countOf(left) > 0 && round < ROUNDS_MAX; round++) {
      const before = countOf(left);
      const urns = new Set(left.flatMap(({ differences }) => differences.map(({ urn }) => urn)));
      urns.delete("");
      fed = await restore([...urns]);
      mended += urns.size;
      left = await look(some);
      if (countOf(left) >= before) break;
    }
    return left;
  }

  async function firstLook(): Promise<{ found: readonly Verified[]; sick: readonly string[] }> {
    try {
      return { found: await look(views), sick: [] };
    } catch (error) {
      signal?.throwIfAborted();
      const sick = await unreadable();
      // It was another trouble, which is over.
      if (sick.length === 0) throw error;
      const others = views.filter((view) => !sick.includes(view));
      return { found: others.length === 0 ? [] : await look(others), sick };
    }
  }

  const { found, sick } = await firstLook();
  const hasFault = ({ differences }: Verified) => differences.some(({ urn }) => urn === "");
  const anyway = [...sick, ...namesOf(found.filter(hasFault))];
  let left = await mend(found, anyway);
  if (anyway.length > 0) left = await mend(await anew(anyway, left), []);
  const wasAt = new Map(found.map(({ view, position }) => [view, position]));
  /** Behind where it was: what could not be mended has begun anew. */
  const isBehind = ({ view, position }: Verified) => position < (wasAt.get(view) ?? 0);
  const unmended = left.filter((one) => one.count > 0 || isBehind(one));
  if (fed && unmended.length > 0) left = await anew(namesOf(unmended), left);
  return { found, left, mended, regrown: [...regrown] };
}

const namesOf = (some: readonly Verified[]): readonly string[] => some.map(({ view }) => view);

/** How many differences there are in all. */
export const countOf = (views: readonly Verified[]): number =>
  views.reduce((sum, { count }) => sum + count, 0);
