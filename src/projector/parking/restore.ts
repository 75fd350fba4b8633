/**
 * Restore: replaces the rows of an entity in views by the fold of the log up to the view's
 * position. The projector applies no batch to the view during a restore, so no write is lost.
 */
import type { PlacedChange } from "../../core/change.ts";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { type Position, position } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Decode } from "../batch.ts";
import { type Histories, type HistoryLog, openHistories } from "../history.ts";
import type { View } from "../sink.ts";
import { isPoison, type Parking } from "./parking.ts";

/** An entity that could not be restored in a view, with the reason. */
export interface Unrestored {
  readonly urn: string;
  readonly view: string;
  readonly reason: string;
  /** True if the store is unavailable, so that the entity is not the cause. */
  readonly unavailable?: boolean | undefined;
  /** True if another process projects the view and can restore the entity. */
  readonly elsewhere?: boolean | undefined;
}

interface RestoredView {
  readonly view: View;
  readonly position: Position;
  /** Lists dropped records, and releases restored entities. */
  readonly parking?: Parking | undefined;
  /** Records to skip, if `parking` is absent. */
  readonly without?: ((at: Position) => boolean) | undefined;
}

/** `views`: source views before the views that are built from them. */
export async function restoreEntities(
  urns: readonly string[],
  parts: {
    readonly log: HistoryLog;
    readonly decode: Decode;
    readonly views: readonly RestoredView[];
  },
): Promise<readonly Unrestored[]> {
  const all = await openHistories(parts.log, parts.decode, urns);
  const short = urns.filter(all.isReadAhead);
  const unrestored: Unrestored[] = [];
  for (const one of parts.views) {
    const { view, parking, without = parking?.isDropped } = one;
    // A dropped record may be one that cannot be decoded.
    const histories = without === undefined ? all : all.without(without);
    const restored = await restoreTogether(short, one, histories);
    for (const urn of urns) {
      try {
        if (!restored.has(urn)) await view.sink.restore(urn, await writesOf(urn, one, histories));
        await parking?.release(urn);
      } catch (error) {
        const unavailable = !isPoison(error);
        unrestored.push({
          urn,
          view: view.name,
          reason: messageOf(error),
          ...(unavailable && { unavailable }),
        });
      }
    }
  }
  return unrestored;
}

export const unrestoredError = ({ reason, unavailable }: Unrestored): Error =>
  unavailable ? new CatalogError("unavailable", reason) : new Error(reason);

/** Restores an entity that stays parked as of the position before `before`. */
export async function restoreParked(
  urn: string,
  {
    view,
    parking,
    before,
  }: { readonly view: View; readonly parking: Parking; readonly before: Position },
  parts: { readonly log: HistoryLog; readonly decode: Decode },
): Promise<void> {
  const upTo = position(before - 1);
  const views = [{ view, position: upTo, without: parking.isDropped }];
  const [unrestored] = await restoreEntities([urn], { ...parts, views });
  if (unrestored !== undefined) throw unrestoredError(unrestored);
}

/**
 * Restores the entities in one transaction, all or none; after an error, the caller restores each
 * alone. Entities with long histories are always restored alone, to bound the transaction.
 */
async function restoreTogether(
  short: readonly string[],
  one: RestoredView,
  histories: Histories,
): Promise<ReadonlySet<string>> {
  const { sink } = one.view;
  if (sink.inTransaction === undefined || short.length < 2) return new Set();
  try {
    await sink.inTransaction(async () => {
      for (const urn of short) await sink.restore(urn, await writesOf(urn, one, histories));
    });
    return new Set(short);
  } catch {
    return new Set();
  }
}

async function writesOf(
  urn: string,
  { view, position }: RestoredView,
  histories: Histories,
): Promise<AsyncIterable<unknown>> {
  const others = await relatedStreamsOf(view, urn, histories, position);
  return projected(view, histories.changes(urn, position, others));
}

async function* projected(view: View, changes: AsyncIterable<PlacedChange>) {
  for await (const change of changes) yield* view.project(change);
}

/** Streams of other entities that affect the writes of this one. */
async function relatedStreamsOf(
  { relatedStreams, project }: View,
  urn: string,
  histories: Histories,
  upTo: Position,
): Promise<readonly StreamName[]> {
  if (relatedStreams === undefined) return [];
  const streams = new Set<StreamName>();
  for await (const change of histories.changes(urn, upTo)) {
    for (const write of project(change)) {
      for (const stream of histories.existing(relatedStreams(write))) streams.add(stream);
    }
  }
  return [...streams];
}
