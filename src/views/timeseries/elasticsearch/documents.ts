/**
 * The timeseries view in Elasticsearch: one document per event, in an index per entity type and aspect.
 * The value is stored as text and not indexed.
 */
import { hash } from "node:crypto";
import type { estypes } from "@elastic/elasticsearch";
import { entityTypeOf } from "../../../core/urn.ts";
import type { ViewSetting } from "../../../storage/elasticsearch/client.ts";
import { partitionOf } from "../../../storage/elasticsearch/names.ts";
import type { ViewShape } from "../../../storage/elasticsearch/view-metadata.ts";
import type { PlacedEvent, TimeseriesIndex, TimeseriesWrite } from "../timeseries-table.ts";

export type Event = Extract<TimeseriesWrite, { readonly op: "event" }>;

/** An event as verification compares it. */
export interface EventRow extends PlacedEvent {
  readonly urn: string;
  readonly aspect: string;
  readonly key: string;
}

/** The stored document of an event. */
export interface StoredEvent extends EventRow {
  /** The whole key, if it is too long for sorting; `key` then has a shortened form. */
  readonly wholeKey?: string;
}

/** A truncation by the position of its record: see truncations.ts. */
export interface NotedTruncation extends TimeseriesIndex {
  readonly position: number;
  readonly before: number;
  readonly batchSize: number;
  readonly deleted: number;
  readonly done: boolean;
  /** The server's own task that does it. */
  readonly task?: string | undefined;
}

/** Metadata that is stored with the position. */
export interface Kept {
  readonly truncations: readonly NotedTruncation[];
}

type Query = estypes.QueryDslQueryContainer;

export const timeseriesAsker: ViewSetting = { view: "timeseries", setting: "ANNALS_TIMESERIES" };

/**
 * Time that the server remembers deletions, so that a delayed write does not restore a deleted event.
 */
const DELETED_REMEMBERED = "10m";

export const timeseriesShape: ViewShape<Kept> = {
  view: "timeseries",
  version: 1,
  empty: { truncations: [] },
  index: {
    mappings: {
      dynamic: false,
      properties: {
        urn: { type: "keyword" },
        aspect: { type: "keyword" },
        // Stores every possible time of an event exactly.
        time: { type: "double" },
        key: { type: "keyword", index: false },
        position: { type: "long" },
      },
    },
    settings: { "index.gc_deletes": DELETED_REMEMBERED },
  },
  visible(partition, { truncations }) {
    const cuts = truncations.filter((one) => !one.done && placeOfIndex(one) === partition);
    if (cuts.length === 0) return undefined;
    return { bool: { must_not: widest(cuts).map(takenBy) } };
  },
};

export const placeOfIndex = ({ entityType, aspect }: TimeseriesIndex): string =>
  partitionOf(entityType, aspect);

export const partitionOfEvent = ({ urn, aspect }: Pick<Event, "urn" | "aspect">): string =>
  partitionOf(entityTypeOf(urn), aspect);

/** Events that a truncation removes: written before it, and older than its time. */
export const takenBy = ({
  before,
  position,
}: Pick<NotedTruncation, "before" | "position">): Query => ({
  bool: {
    filter: [{ range: { time: { lt: before } } }, { range: { position: { lt: position } } }],
  },
});

/** Events that pending truncations will remove, by index. */
export const takenYet = (
  { truncations }: Kept,
  indexOf: (partition: string) => string,
): readonly Query[] =>
  truncations
    .filter(({ done }) => !done)
    .map((cut) => ({
      bool: { filter: [{ term: { _index: indexOf(placeOfIndex(cut)) } }, takenBy(cut)] },
    }));

/** Omits truncations that others cover. */
const widest = (cuts: readonly NotedTruncation[]): readonly NotedTruncation[] =>
  cuts.filter(
    (cut) =>
      !cuts.some(
        (other) => other !== cut && other.before >= cut.before && other.position > cut.position,
      ),
  );

/** One id per event, however often it is written. */
export const idOf = ({ urn, aspect, time, key }: Pick<Event, "urn" | "aspect" | "time" | "key">) =>
  hash("sha256", JSON.stringify([urn, aspect, time, key]), "base64url");

/** As JSON text. */
export function documentOf({ urn, aspect, time, key, position, value, system }: Event): string {
  const sorted = sortedKey(key);
  const whole = sorted === key ? undefined : key;
  return JSON.stringify({
    urn,
    aspect,
    time,
    key: sorted,
    position,
    value,
    system,
    wholeKey: whole,
  });
}

export const rowOf = (stored: StoredEvent): EventRow => {
  const { urn, aspect, time, wholeKey, key, position, value, system } = stored;
  return { urn, aspect, time, key: wholeKey ?? key, position, value, system };
};

/** Sort values have at most 32,766 bytes; a UTF-16 unit needs up to three. */
const KEY_MAX = 10_000;

/** The key; for a very long one its beginning and a hash. */
const sortedKey = (key: string): string =>
  key.length <= KEY_MAX
    ? key
    : key.slice(0, KEY_MAX).toWellFormed() + hash("sha256", key, "base64url");
