/**
 * Which record it is that a view of what entities are cannot take: it is found by trying, which leaves
 * nothing behind where the store has transactions.
 */
import type { EntityState } from "../core/entity-state.ts";
import type { Position } from "../core/position.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { EntityWithout } from "./entity-without.ts";
import type { FoldedInputs, LatestEvents } from "./folded-inputs.ts";
import { isPoison } from "./parking.ts";
import type { Sink } from "./sink.ts";

/** What of an entity makes its write: an aspect, or the latest event of a timeseries. */
interface Input {
  readonly position: Position;
  readonly aspect?: string;
  readonly series?: string;
  /** Whether the entity begins with it. */
  readonly key?: boolean;
}

const NONE: LatestEvents = new Map();

/**
 * Of what makes the entity now, the first that it cannot be made with. Undefined where it can be made
 * with all of it, or not even with what it begins with.
 */
export async function findCulprit<W>(
  urn: string,
  parts: {
    readonly sink: Sink<W>;
    readonly without: EntityWithout;
    readonly inputs: FoldedInputs;
    readonly fold: (state: EntityState, latest: LatestEvents) => W;
  },
): Promise<Position | undefined> {
  const { sink, without, inputs, fold } = parts;
  const entities = [{ urn, entityType: entityTypeOf(urn) }];
  const [state, aspects, latest] = await Promise.all([
    without.state(urn, inputs.isDropped),
    without.aspects(urn, inputs.isDropped),
    inputs.latest(entities, true),
  ]);
  const events = latest.get(urn) ?? NONE;
  const all: readonly Input[] = [
    ...aspects,
    ...Array.from(events, ([series, { position }]) => ({ series, position })),
  ].sort((a, b) => a.position - b.position);

  /** The entity as the first ones of them make it. */
  function made(count: number): W {
    const some = all.slice(0, count);
    const names = new Set(some.map(({ aspect }) => aspect));
    const series = new Set(some.map((one) => one.series));
    const ofState = [...state.aspects].filter(([name, { removed }]) => removed || names.has(name));
    const ofSeries = [...events].filter(([one]) => series.has(one));
    return fold({ ...state, aspects: new Map(ofState) }, new Map(ofSeries));
  }

  if (await isTaken(sink, urn, () => made(all.length))) return undefined;
  for (const [n, { position, key }] of all.entries()) {
    if (!(await isTaken(sink, urn, () => made(n + 1)))) return key ? undefined : position;
  }
  return undefined;
}

/** Returns true if the write can be made and the view accepts it. */
async function isTaken<W>(sink: Sink<W>, urn: string, make: () => W): Promise<boolean> {
  let taken = false;
  const put = async () => {
    await sink.restore(urn, [make()]);
    taken = true;
    throw new Error("tried");
  };
  try {
    await (sink.together?.(put) ?? put());
  } catch (error) {
    if (!taken && !isPoison(error)) throw error;
  }
  return taken;
}
