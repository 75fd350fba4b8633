/**
 * Applies a batch to a view. If the view has a parking, poison records are parked and all other
 * records are applied.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import { type Batch, type PoisonRecord, projectBatch } from "./batch.ts";
import { EntityRejected, isPoison, type Parking, WHOLE_DOCUMENT } from "./parking/parking.ts";
import type { Projection, View } from "./sink.ts";

interface AppliedBatch {
  /** The view has applied or skipped every record up to here. */
  readonly upTo: Position;
  /** True if the sink stored a checkpoint; a batch without writes need not store one. */
  readonly moved: boolean;
  /** Name of the record at the view's checkpoint. */
  readonly record?: string | undefined;
  /** The error of the record after `upTo`, which was not applied. */
  readonly failure?: Error | undefined;
}

/**
 * Applies a batch to `target`. `after`: position of the view. `always`: the checkpoint moves even
 * without a write. Rejects with errors of the store.
 */
export async function applyToView(
  target: View,
  changes: Batch<PlacedChange>,
  after: Position,
  options: { readonly parking?: Parking | undefined; readonly always: (upTo: Position) => boolean },
): Promise<AppliedBatch> {
  const { parking } = options;
  const view = withRecordNames(target, changes);
  if (view.onParking !== undefined) await releaseRejected(changes.items, parking);
  const project = skippingParked(view, parking);
  const { items, upTo, failure, poison } = projectBatch(changes, project, after);
  // Other views wait for the position of this one, so it also moves over skipped records.
  const skipped =
    parking !== undefined &&
    !parking.idle &&
    changes.items.some((change) => change.position <= upTo && parking.skips(change));
  let moved = false;
  if (upTo > after && (items.length > 0 || skipped || options.always(upTo))) {
    try {
      await view.sink.apply(items, upTo);
    } catch (error) {
      if (parking === undefined || !isPoison(error)) throw error;
      await isolatePoison(
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
  if (failure === undefined || poison === undefined || parking === undefined) {
    return { upTo, moved, failure, record: changes.nameAt?.(upTo) };
  }
  // The entity may already be parked, or the record already dropped.
  if (!parking.skips(poison)) await parking.park(recordOf(poison), failure);
  await view.sink.apply([], poison.position);
  const record = changes.nameAt?.(poison.position);
  return { upTo: poison.position, moved: true, record };
}

/** Wraps a view so that its checkpoints store the names of the batch's records. */
function withRecordNames(view: View, { nameAt }: Batch<PlacedChange>): View {
  const { sink } = view;
  if (nameAt === undefined) return view;
  return {
    ...view,
    sink: { ...sink, apply: (writes, upTo) => sink.apply(writes, upTo, nameAt(upTo)) },
  };
}

/**
 * Releases the changed entities whose documents the store rejected: each change is another attempt.
 * The release comes first, because a crash repeats the batch.
 */
async function releaseRejected(
  changes: readonly PlacedChange[],
  parking: Parking | undefined,
): Promise<void> {
  for (const { urn } of changes) {
    if (parking?.isRejected(urn)) await parking.release(urn, WHOLE_DOCUMENT.aspect);
  }
}

/**
 * Omits changes that the view skips. A view of documents skips none: it folds the entity's state.
 */
function skippingParked(
  { project, onParking }: View,
  parking: Parking | undefined,
): Projection<unknown> {
  if (parking === undefined || parking.idle || onParking !== undefined) return project;
  return (change) => (parking.skips(change) ? [] : project(change));
}

const recordOf = ({ urn, position }: PoisonRecord): PoisonRecord => ({ urn, position });

/** Finds the records that the view cannot apply by bisection, and parks them. */
async function isolatePoison(
  view: View,
  changes: readonly PlacedChange[],
  upTo: Position,
  { parking, error }: { readonly parking: Parking; readonly error: Error },
): Promise<void> {
  const writesOf = skippingParked(view, parking);
  const left = changes.filter((change) => writesOf(change).length > 0);
  const [only] = left;
  // Without a write, no record can be the cause.
  if (only === undefined) throw error;
  if (left.length === 1) {
    const urn = error instanceof EntityRejected ? error.urn : only.urn;
    // The record belongs to no entity.
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

/** Applies the changes; parks those that the view cannot apply. */
async function applied(
  view: View,
  changes: readonly PlacedChange[],
  upTo: Position,
  parking: Parking,
): Promise<void> {
  try {
    await view.sink.apply(changes.flatMap(skippingParked(view, parking)), upTo);
  } catch (error) {
    if (!isPoison(error)) throw error;
    await isolatePoison(view, changes, upTo, { parking, error });
  }
}

/**
 * Parks the entity of a poison record. In a view of documents, removes and parks the rejected
 * document. Afterwards the view has every other change up to `upTo`.
 */
async function park(
  view: View,
  poison: PoisonRecord,
  upTo: Position,
  { parking, error }: { readonly parking: Parking; readonly error: Error },
): Promise<void> {
  if (view.onParking === undefined) await parking.park(recordOf(poison), error);
  else {
    await view.sink.restore(poison.urn, []);
    await parking.park({ ...recordOf(poison), ...WHOLE_DOCUMENT }, error);
  }
  await view.sink.apply([], upTo);
}
