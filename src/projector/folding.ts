/**
 * Views of what entities are, rather than of what happened to them: each write is the whole fold of
 * one entity, and depends on no write before it.
 *
 * A batch tells which entities it touches. Their states are then read from the aspect view, which
 * the projector brings forward first; a state may be newer than the batch, never older. So a batch
 * that is told again, or late, writes what is true now, and an entity that is touched a hundred
 * times in a batch is folded once.
 */
import { LRUCache } from "lru-cache";
import type { EntityState } from "../core/entity-state.ts";
import { type Position, position } from "../core/position.ts";
import { awaitPosition } from "./awaited.ts";
import type { Sink, View } from "./sink.ts";

export interface Touch {
  readonly urn: string;
  readonly entityType: string;
  readonly position: Position;
}

/** Where states come from: the aspect view. */
export interface States {
  /** Every record up to here is in what getEntities gives. */
  position(): Promise<Position>;
  getEntities(urns: readonly string[]): Promise<readonly EntityState[]>;
  /** Called when the view is closed. */
  close(): Promise<void>;
}

export interface FoldingParts<W> {
  readonly name: string;
  readonly sink: Sink<W>;
  readonly states: States;
  /** The write of an entity; `position`: every record of the entity up to there is told by it. */
  readonly fold: (state: EntityState, entityType: string, position: Position) => W;
  /** Entities of which it is remembered how far they are folded; 20,000 when absent. */
  readonly foldedMax?: number | undefined;
  /** How long a batch waits for the states to come as far, where others do not wait for it; in ms. */
  readonly statesMsMax?: number | undefined;
}

const ASPECTS = "aspects";

/** States held at once: a few megabytes, some of them of thousands of columns. */
const STATES_MAX = 200;
const FOLDED_MAX = 20_000;

export function createFoldingView<W>(parts: FoldingParts<W>): View<Touch> {
  const { name, sink, states, fold, foldedMax = FOLDED_MAX, statesMsMax = 0 } = parts;
  const folded = new LRUCache<string, Position>({ max: foldedMax });

  /** Where the sink was when it was last heard of. */
  let left = position(0);

  const statesAt = (upTo: Position): Promise<Position> =>
    awaitPosition(states, upTo, { waiter: `the view "${name}"`, msMax: statesMsMax });

  async function apply(touches: readonly Touch[], upTo: Position): Promise<void> {
    const stale = new Map<string, Touch>();
    for (const touch of touches) {
      if (touch.position > (folded.get(touch.urn) ?? position(0))) stale.set(touch.urn, touch);
    }
    const all = [...stale.values()];
    // Its checkpoint stays behind over records that it ignores, which touch nothing.
    const last = Math.max(0, ...all.map((touch) => touch.position));
    const at = await statesAt(position(last));
    const writes: W[] = [];
    for (let from = 0; from < all.length; from += STATES_MAX) {
      const slice = all.slice(from, from + STATES_MAX);
      const found = await states.getEntities(slice.map(({ urn }) => urn));
      for (const [i, { entityType }] of slice.entries()) {
        writes.push(fold(found[i] as EntityState, entityType, upTo));
      }
    }
    await sink.apply(writes, upTo);
    for (const { urn } of all) folded.set(urn, at);
    left = upTo;
  }

  async function foldNow({ urn, entityType, position: at }: Touch): Promise<W> {
    await statesAt(at);
    const [state] = await states.getEntities([urn]);
    return fold(state as EntityState, entityType, at);
  }

  return {
    name,
    costly: true,
    madeOf: ASPECTS,
    project: ({ timeseries, urn, entityType, position: at }) =>
      timeseries ? [] : [{ urn, entityType, position: at }],
    sink: {
      apply,
      /**
       * The aspect view is restored first: what it then says of the entity is folded. One that the
       * log never told of has no touch, and no write.
       */
      async restore(urn, touches) {
        let last: Touch | undefined;
        for await (const touch of touches) last = touch;
        await sink.restore(urn, last === undefined ? [] : [await foldNow(last)]);
        folded.delete(urn);
      },
      ...(sink.tidy !== undefined && { tidy: () => sink.tidy?.() ?? Promise.resolve(false) }),
      async position() {
        const at = await sink.position();
        // Behind where it was left: it lost something, and what is known of it is not true any more.
        if (at < left) folded.clear();
        left = at;
        return at;
      },
      async reset() {
        folded.clear();
        await sink.reset();
      },
      async close(outcome) {
        await sink.close(outcome);
        await states.close();
      },
    },
  };
}
