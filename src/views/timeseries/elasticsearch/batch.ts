/**
 * Folds a batch of writes in memory: the last write of each event, without those that were removed
 * later in the batch. Removals also apply to events in the store.
 */
import type { TimeseriesWrite } from "../timeseries-table.ts";
import { type Event, idOf } from "./documents.ts";

export type Remove = Extract<TimeseriesWrite, { readonly op: "remove" }>;
export type Truncate = Extract<TimeseriesWrite, { readonly op: "truncate" }>;

interface Batch {
  /** By their ids. */
  readonly events: ReadonlyMap<string, Event>;
  readonly removes: readonly Remove[];
  readonly truncates: readonly Truncate[];
}

interface Fold {
  add(write: TimeseriesWrite): void;
  /** Removes events of an entity. */
  drop(urn: string, gone: (event: Event) => boolean): void;
  readonly batch: Batch;
}

export function createFold(): Fold {
  const events = new Map<string, Event>();
  /** Ids of the events of each entity. */
  const byUrn = new Map<string, Set<string>>();
  const removes: Remove[] = [];
  const truncates: Truncate[] = [];

  function drop(urn: string, gone: (event: Event) => boolean): void {
    const ids = byUrn.get(urn);
    for (const id of ids ?? []) {
      const event = events.get(id);
      if (event === undefined || !gone(event)) continue;
      events.delete(id);
      ids?.delete(id);
    }
  }

  return {
    batch: { events, removes, truncates },
    drop,
    add(write) {
      if (write.op === "remove") {
        removes.push(write);
        drop(write.urn, (event) => isRemovedBy(write, event));
      } else if (write.op === "truncate") {
        truncates.push(write);
      } else {
        const id = idOf(write);
        const ids = byUrn.get(write.urn);
        if (ids === undefined) byUrn.set(write.urn, new Set([id]));
        else ids.add(id);
        events.set(id, write);
      }
    },
  };
}

/** Does not compare positions; the caller does. */
export const isRemovedBy = (
  { urn, aspect, from, to }: Remove,
  event: Pick<Event, "urn" | "aspect" | "time">,
): boolean =>
  event.urn === urn &&
  (aspect === undefined || event.aspect === aspect) &&
  event.time >= (from ?? Number.NEGATIVE_INFINITY) &&
  event.time <= (to ?? Number.POSITIVE_INFINITY);
