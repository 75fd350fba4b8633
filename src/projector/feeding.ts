/**
 * Gives a view the writes of a batch. What the view cannot take of it is parked, where there is
 * somewhere to park it; the rest goes on.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import { type Batch, projectBatch } from "./batch.ts";
import { isPoison, type Parking } from "./parking.ts";
import type { Projection, View } from "./sink.ts";

export interface Fed {
  /** The view has, or has passed over, everything up to here. */
  readonly upTo: Position;
  /** Whether its checkpoint is there, too: not where there was nothing to write. */
  readonly moved: boolean;
  /** Why it is not further; nothing of the record that is to blame was applied. */
  readonly failure?: Error | undefined;
}

/**
 * `after`: where the view is. `always`: the checkpoint is to move even when there is no write.
 * Throws what the sink throws, where that says something of the store.
 */
export async function feedView(
  view: View,
  changes: Batch<PlacedChange>,
  after: Position,
  options: { readonly parking?: Parking | undefined; readonly always: (upTo: Position) => boolean },
): Promise<Fed> {
  const { parking } = options;
  const project = passingOver(view.project, parking);
  const { items, upTo, failure, culprit } = projectBatch(changes, project, after);
  // What is passed over of an entity, others heed: they wait until this view is as far.
  const passedOver =
    parking !== undefined &&
    !parking.idle &&
    changes.items.some((change) => change.position <= upTo && parking.skips(change));
  let moved = false;
  if (upTo > after && (items.length > 0 || passedOver || options.always(upTo))) {
    try {
      await view.sink.apply(items, upTo);
    } catch (error) {
      if (parking === undefined || !isPoison(error)) throw error;
      await isolate(
        view,
        changes.items.filter(({ position }) => position <= upTo),
        upTo,
        {
          parking,
          error,
        },
      );
    }
    moved = true;
  }
  if (failure === undefined || culprit === undefined || parking === undefined) {
    return { upTo, moved, failure };
  }
  // It may be of an entity that is passed over anyway, or have been dropped.
  if (!parking.skips(culprit)) await parking.park(culprit, failure);
  await view.sink.apply([], culprit.position);
  return { upTo: culprit.position, moved: true };
}

function passingOver<W>(project: Projection<W>, parking: Parking | undefined): Projection<W> {
  if (parking === undefined || parking.idle) return project;
  return (change) => (parking.skips(change) ? [] : project(change));
}

/** Finds what the view cannot take by halves, and parks it. */
async function isolate(
  view: View,
  changes: readonly PlacedChange[],
  upTo: Position,
  { parking, error }: { readonly parking: Parking; readonly error: Error },
): Promise<void> {
  const left = changes.filter(
    (change) => !parking.skips(change) && view.project(change).length > 0,
  );
  const [only] = left;
  // Nothing of it can be to blame, or it is of no entity.
  if (only === undefined || (left.length === 1 && only.urn === "")) throw error;
  if (left.length === 1) {
    await parking.park(only, error);
    await view.sink.apply([], upTo);
    return;
  }
  const middle = left.length >> 1;
  const halves = [
    { half: left.slice(0, middle), to: left[middle - 1]?.position ?? upTo },
    { half: left.slice(middle), to: upTo },
  ];
  for (const { half, to } of halves) {
    const rest = half.filter((change) => !parking.skips(change));
    try {
      await view.sink.apply(
        rest.flatMap((change) => view.project(change)),
        to,
      );
    } catch (failure) {
      if (!isPoison(failure)) throw failure;
      await isolate(view, rest, to, { parking, error: failure });
    }
  }
}
