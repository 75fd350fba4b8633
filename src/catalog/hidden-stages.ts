/**
 * Lifecycle stages whose entities searches leave out: each says so in its settings, for entities of all
 * types or of some. There are few, and they change seldom: they are looked up when something was written
 * since, not for every search.
 */
import type { AspectReader } from "../aspects/aspect-table.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import type { EntityStates } from "./entity-states.ts";

const TYPE = "lifecycleStageType";
/** More are not looked at. */
const stagesMax = 1_000;
/** After they could not be looked up, those that are known are believed for so long. */
const patienceMs = 10_000;

/** Urns of the stages that hide entities of one of the types. */
export type HiddenStages = (entityTypes: readonly string[]) => Promise<readonly string[]>;

interface Stage {
  readonly urn: string;
  /** Undefined: of all. */
  readonly entityTypes: readonly string[] | undefined;
}

interface Dependencies {
  readonly aspects: Pick<AspectReader, "listUrns">;
  readonly states: Pick<EntityStates, "read">;
  /** Another one when they may be others; undefined: at any time. */
  readonly edition: () => number | undefined;
  readonly now: () => number;
}

export function createHiddenStages({ aspects, states, edition, now }: Dependencies): HiddenStages {
  let known: Promise<readonly Stage[]> = Promise.resolve([]);
  let at: number | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function look(before: Promise<readonly Stage[]>): Promise<readonly Stage[]> {
    try {
      const { urns } = await aspects.listUrns(TYPE, { start: 0, count: stagesMax });
      return (await states.read(urns)).flatMap(hidingOf);
    } catch {
      // What is hidden from searches is no secret: better all is found than nothing.
      failedAt = now();
      return before;
    }
  }

  return async (entityTypes) => {
    const asked = edition();
    if ((asked === undefined || asked !== at) && now() >= failedAt + patienceMs) {
      at = asked;
      known = look(known);
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
  const status = currentAspect(state, "status")?.value;
  if (text === undefined || (status && JSON.parse(status).removed === true)) return [];
  const { settings, entityTypes }: Info = JSON.parse(text);
  return settings.hideInSearch === true ? [{ urn: state.urn, entityTypes }] : [];
}
