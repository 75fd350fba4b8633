/**
 * How a view of what entities are goes on without one that it cannot take (Aside): what of the entity it
 * is that it cannot take is found by trying, which leaves nothing behind where the store has transactions.
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

export function createAside<W>(parts: {
  readonly sink: Sink<W>;
  readonly without: EntityWithout;
  readonly inputs: FoldedInputs;
  readonly fold: (state: EntityState, latest: LatestEvents) => W;
}) {
  const { sink, without, inputs, fold } = parts;

  async function tries(urn: string, write: W): Promise<boolean> {
    let taken = false;
    const put = async () => {
      await sink.restore(urn, [write]);
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

  return {
    /** Aside.culprit: of what makes the entity now, the first that it cannot be made with. */
    async culprit(urn: string): Promise<Position | undefined> {
      const entityType = entityTypeOf(urn);
      const [state, aspects, latest] = await Promise.all([
        without.state(urn, inputs.isDropped),
        without.aspects(urn, inputs.isDropped),
        inputs.latest([{ urn, entityType }], true),
      ]);
      const events = latest.get(urn) ?? NONE;
      const all: readonly Input[] = [
        ...aspects,
        ...Array.from(events, ([series, { position }]) => ({ series, position })),
      ].sort((a, b) => a.position - b.position);

      /** The entity as the first ones of them make it. */
      const made = (count: number): W => {
        const some = all.slice(0, count);
        const names = new Set(some.map(({ aspect }) => aspect));
        const series = new Set(some.map((one) => one.series));
        const has = (name: string, removed: boolean) => removed || names.has(name);
        return fold(
          {
            ...state,
            aspects: new Map(
              [...state.aspects].filter(([name, { removed }]) => has(name, removed)),
            ),
          },
          new Map([...events].filter(([one]) => series.has(one))),
        );
      };

      if (await tries(urn, made(all.length))) return undefined;
      for (const [n, { position, key }] of all.entries()) {
        if (!(await tries(urn, made(n + 1)))) return key ? undefined : position;
      }
      return undefined;
    },
  };
}
