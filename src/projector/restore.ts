/**
 * Restoring: what views have of an entity is made anew from the log, whatever they have of it now.
 * Each view is given what the log says up to where the view is; what comes after that comes by the
 * ordinary way. So nothing that is written meanwhile is lost, as long as the view takes no batch at
 * the same time, which is the projector's to see to.
 */
import type { PlacedChange } from "../core/change.ts";
import { CatalogError, saidBy } from "../core/errors.ts";
import { type Position, position } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { Decode } from "./batch.ts";
import { type Histories, type HistoryLog, openHistories } from "./history.ts";
import { isPoison, type Parking } from "./parking.ts";
import type { View } from "./sink.ts";

/** An entity that a view could not be restored with, and why. */
export interface Unrestored {
  readonly urn: string;
  readonly view: string;
  readonly reason: string;
  /** It is the store that cannot be written to now, and not the entity. */
  readonly away?: boolean | undefined;
  /** Another process can, which feeds the view. */
  readonly elsewhere?: boolean | undefined;
}

export interface RestoredView {
  readonly view: View;
  readonly position: Position;
  /** What it passes over, and is told of entities that it has again. */
  readonly parking?: Parking | undefined;
  /** Records to leave out, where no parking is told. */
  readonly without?: ((at: Position) => boolean) | undefined;
}

/** Views in the order in which they follow on each other; each with its position. */
export async function restoreEntities(
  urns: readonly string[],
  parts: {
    readonly log: HistoryLog;
    readonly decode: Decode;
    readonly views: readonly RestoredView[];
  },
): Promise<readonly Unrestored[]> {
  const all = await openHistories(parts.log, parts.decode, urns);
  const short = urns.filter(all.isAtHand);
  const unrestored: Unrestored[] = [];
  for (const one of parts.views) {
    const { view, parking, without = parking?.isDropped } = one;
    // A record that was dropped may be one that cannot be decoded.
    const histories = without === undefined ? all : all.without(without);
    const restored = await restoreTogether(short, one, histories);
    for (const urn of urns) {
      try {
        if (!restored.has(urn)) await view.sink.restore(urn, await writesOf(urn, one, histories));
        await parking?.release(urn);
      } catch (error) {
        const away = !isPoison(error);
        unrestored.push({ urn, view: view.name, reason: saidBy(error), ...(away && { away }) });
      }
    }
  }
  return unrestored;
}

export const unrestoredError = ({ reason, away }: Unrestored): Error =>
  away ? new CatalogError("unavailable", reason) : new Error(reason);

/** Of an entity that stays parked, the view has what it had before the position again. */
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
 * All of them, or none: which it is that a view cannot take shows when each is on its own. Long ones
 * always are, so that no transaction grows without end.
 */
async function restoreTogether(
  short: readonly string[],
  one: RestoredView,
  histories: Histories,
): Promise<ReadonlySet<string>> {
  const { sink } = one.view;
  if (sink.together === undefined || short.length < 2) return new Set();
  try {
    await sink.together(async () => {
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
  const others = await bearingOn(view, urn, histories, position);
  return projected(view, histories.changes(urn, position, others));
}

async function* projected(view: View, changes: AsyncIterable<PlacedChange>) {
  for await (const change of changes) yield* view.project(change);
}

/** Streams of others that bear on what the entity's own changes make. */
async function bearingOn(
  { bearing, project }: View,
  urn: string,
  histories: Histories,
  upTo: Position,
): Promise<readonly StreamName[]> {
  if (bearing === undefined) return [];
  const streams = new Set<StreamName>();
  for await (const change of histories.changes(urn, upTo)) {
    for (const write of project(change)) {
      for (const stream of histories.existing(bearing(write))) streams.add(stream);
    }
  }
  return [...streams];
}
