/**
 * Gives a view the writes of a batch. What the view cannot take of it is parked, where there is
 * somewhere to park it; the rest goes on.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import { type Batch, type Culprit, projectBatch } from "./batch.ts";
import { EntityRefused, isPoison, type Parking, WHOLE } from "./parking.ts";
import type { Projection, View } from "./sink.ts";

export interface Fed {
  /** The view has, or has passed over, everything up to here. */
  readonly upTo: Position;
  /** Whether its checkpoint is there, too: not where there was nothing to write. */
  readonly moved: boolean;
  /** Name of the record at the view's checkpoint. */
  readonly record?: string | undefined;
  /** Why it is not further; nothing of the record that is to blame was applied. */
  readonly failure?: Error | undefined;
}

/**
 * `after`: where the view is. `always`: the checkpoint is to move even when there is no write.
 * Throws what the sink throws, where that says something of the store.
 */
export async function feedView(
  fed: View,
  changes: Batch<PlacedChange>,
  after: Position,
  options: { readonly parking?: Parking | undefined; readonly always: (upTo: Position) => boolean },
): Promise<Fed> {
  const { parking } = options;
  const view = naming(fed, changes);
  if (view.useParking !== undefined) await releaseRejected(changes.items, parking);
  const project = passingOver(view, parking);
  const { items, upTo, failure, culprit } = projectBatch(changes, project, after);
  // Other views wait until this one is past the records that it skips.
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
    return { upTo, moved, failure, record: changes.nameAt?.(upTo) };
  }
  // The entity may be parked already, or the record dropped.
  if (!parking.skips(culprit)) await parking.park(placeOf(culprit), failure);
  await view.sink.apply([], culprit.position);
  const record = changes.nameAt?.(culprit.position);
  return { upTo: culprit.position, moved: true, record };
}

/** The view, whose checkpoints get the names of the batch's records. */
function naming(view: View, { nameAt }: Batch<PlacedChange>): View {
  const { sink } = view;
  if (nameAt === undefined) return view;
  return {
    ...view,
    sink: { ...sink, apply: (writes, upTo) => sink.apply(writes, upTo, nameAt(upTo)) },
  };
}

/**
 * Each change of an entity whose document the store rejected is another attempt. The entity is released
 * first: after a kill, the batch is applied again.
 */
async function releaseRejected(
  changes: readonly PlacedChange[],
  parking: Parking | undefined,
): Promise<void> {
  for (const { urn } of changes) {
    if (parking?.isRejected(urn)) await parking.release(urn, WHOLE.aspect);
  }
}

/** A view of documents skips no changes: its documents depend on the state of the entity alone. */
function passingOver(
  { project, useParking }: View,
  parking: Parking | undefined,
): Projection<unknown> {
  if (parking === undefined || parking.idle || useParking !== undefined) return project;
  return (change) => (parking.skips(change) ? [] : project(change));
}

const placeOf = ({ urn, position }: Culprit): Culprit => ({ urn, position });

/** Finds what the view cannot take by halves, and parks it. */
async function isolate(
  view: View,
  changes: readonly PlacedChange[],
  upTo: Position,
  { parking, error }: { readonly parking: Parking; readonly error: Error },
): Promise<void> {
  const writesOf = passingOver(view, parking);
  const left = changes.filter((change) => writesOf(change).length > 0);
  const [only] = left;
  // Nothing of it can be to blame.
  if (only === undefined) throw error;
  if (left.length === 1) {
    const urn = error instanceof EntityRefused ? error.urn : only.urn;
    // It is of no entity.
    if (urn === "") throw error;
    await park(view, { urn, position: only.position }, upTo, { parking, error });
    if (urn !== only.urn) await applied(view, left, upTo, parking);
    return;
  }
  const middle = left.length >> 1;
  const halves = [
    { half: left.slice(0, middle), to: left[middle - 1]?.position ?? upTo },
    { half: left.slice(middle), to: upTo },
  ];
  for (const { half, to } of halves) await applied(view, half, to, parking);
}

/** What the view cannot take of it is parked. */
async function applied(
  view: View,
  changes: readonly PlacedChange[],
  upTo: Position,
  parking: Parking,
): Promise<void> {
  try {
    await view.sink.apply(changes.flatMap(passingOver(view, parking)), upTo);
  } catch (error) {
    if (!isPoison(error)) throw error;
    await isolate(view, changes, upTo, { parking, error });
  }
}

/**
 * Parks an entity with a record, and a rejected document, which is removed. Every other change up to
 * `upTo` is in the view then.
 */
async function park(
  view: View,
  culprit: Culprit,
  upTo: Position,
  { parking, error }: { readonly parking: Parking; readonly error: Error },
): Promise<void> {
  if (view.useParking === undefined) await parking.park(placeOf(culprit), error);
  else {
    await view.sink.restore(culprit.urn, []);
    await parking.park({ ...placeOf(culprit), ...WHOLE }, error);
  }
  await view.sink.apply([], upTo);
}
