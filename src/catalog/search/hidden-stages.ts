/**
 * Lifecycle stages whose settings hide entities, of all types or of some, from searches. They are
 * few and change seldom, so the list is cached until entities change.
 */

import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import type { AspectReader } from "../../views/aspects/aspect-table.ts";
import { isSoftDeleted } from "../read/soft-deleted.ts";
import type { EntityCache } from "../write/entity-cache.ts";

const TYPE = "lifecycleStageType";
/** Maximum number of stages that are read. */
const stagesMax = 1_000;
/** Milliseconds for which the cached stages are used after a failed read. */
const retryAfterMs = 10_000;

/** Urns of the stages that hide entities of one of the types. */
export type HiddenStages = (entityTypes: readonly string[]) => Promise<readonly string[]>;

interface Stage {
  readonly urn: string;
  /** Undefined: all types. */
  readonly entityTypes: readonly string[] | undefined;
}

interface Dependencies {
  readonly aspects: Pick<AspectReader, "listUrns">;
  readonly states: Pick<EntityCache, "read">;
  /** Changes when the stages may have changed; undefined: read them at every search. */
  readonly version: () => number | undefined;
  readonly now: () => number;
}

export function createHiddenStages({ aspects, states, version, now }: Dependencies): HiddenStages {
  let known: Promise<readonly Stage[]> = Promise.resolve([]);
  let at: number | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function loadStages(before: Promise<readonly Stage[]>): Promise<readonly Stage[]> {
    try {
      const { urns } = await aspects.listUrns(TYPE, { start: 0, count: stagesMax });
      return (await states.read(urns)).flatMap(hidingOf);
    } catch {
      // Hiding is not access control: showing everything is better than failing.
      failedAt = now();
      return before;
    }
  }

  return async (entityTypes) => {
    const current = version();
    if ((current === undefined || current !== at) && now() >= failedAt + retryAfterMs) {
      at = current;
      known = loadStages(known);
    }
    const stages = await known;
    return stages
      .filter((stage) => stage.entityTypes?.some((one) => entityTypes.includes(one)) ?? true)
      .map(({ urn }) => urn);
  };
}

interface Info {
  readonly settings: { readonly hideInSearch?: boolean };
  readonly entityTypes?: readonly string[];
}

function hidingOf(state: EntityState): readonly Stage[] {
  const text = currentAspect(state, "lifecycleStageTypeInfo")?.value;
  if (text === undefined || isSoftDeleted(state)) return [];
  const { settings, entityTypes }: Info = JSON.parse(text);
  return settings.hideInSearch === true ? [{ urn: state.urn, entityTypes }] : [];
}
