/**
 * The timeseries view in Elasticsearch: a document for every event, in an index for each entity
 * type and aspect. The value is kept as its text, and found by nothing.
 */
import { hash } from "node:crypto";
import type { estypes } from "@elastic/elasticsearch";
import { entityTypeOf } from "../../core/urn.ts";
import type { Asker } from "../../projector/elasticsearch/client.ts";
import { placeOf } from "../../projector/elasticsearch/names.ts";
import type { ViewShape } from "../../projector/elasticsearch/view-metadata.ts";
import type { TimeseriesIndex, TimeseriesRow, TimeseriesWrite } from "../timeseries-table.ts";

export type Event = Extract<TimeseriesWrite, { readonly op: "event" }>;

/** What a document holds. */
export interface StoredEvent extends TimeseriesRow {
  /** Where the key is longer than what can be sorted by, which `key` then is made of. */
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

/** What is kept beside the position. */
export interface Kept {
  readonly truncations: readonly NotedTruncation[];
}

type Query = estypes.QueryDslQueryContainer;

export const timeseriesAsker: Asker = { view: "timeseries", setting: "ANNALS_TIMESERIES" };

/**
 * How long the server remembers what was deleted, so that a write that was long on its way does not
 * bring it back.
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
        // Holds every number that an event can tell, exactly.
        time: { type: "double" },
        key: { type: "keyword", index: false },
        position: { type: "long" },
      },
    },
    settings: { "index.gc_deletes": DELETED_REMEMBERED },
  },
  visible(place, { truncations }) {
    const cuts = truncations.filter((one) => !one.done && placeOfIndex(one) === place);
    if (cuts.length === 0) return undefined;
    return { bool: { must_not: widest(cuts).map(takenBy) } };
  },
};

export const placeOfIndex = ({ entityType, aspect }: TimeseriesIndex): string =>
  placeOf(entityType, aspect);

export const placeOfEvent = ({ urn, aspect }: Pick<Event, "urn" | "aspect">): string =>
  placeOf(entityTypeOf(urn), aspect);

/** Events that a truncation takes: told before it, and older than its time. */
export const takenBy = ({
  before,
  position,
}: Pick<NotedTruncation, "before" | "position">): Query => ({
  bool: {
    filter: [{ range: { time: { lt: before } } }, { range: { position: { lt: position } } }],
  },
});

/** What truncations that are not done yet take, in the indices of places. */
export const takenYet = (
  { truncations }: Kept,
  indexOf: (place: string) => string,
): readonly Query[] =>
  truncations
    .filter(({ done }) => !done)
    .map((cut) => ({
      bool: { filter: [{ term: { _index: indexOf(placeOfIndex(cut)) } }, takenBy(cut)] },
    }));

/** Without those that take nothing that another one does not. */
const widest = (cuts: readonly NotedTruncation[]): readonly NotedTruncation[] =>
  cuts.filter(
    (cut) =>
      !cuts.some(
        (other) => other !== cut && other.before >= cut.before && other.position > cut.position,
      ),
  );

/** One per event, however often it is told. */
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

export const rowOf = (stored: StoredEvent): TimeseriesRow => {
  const { urn, aspect, time, wholeKey, key, position, value, system } = stored;
  return { urn, aspect, time, key: wholeKey ?? key, position, value, system };
};

/** What the engine sorts by has 32,766 bytes at most; a character has up to three, or two have four. */
const KEY_MAX = 10_000;

/** The key; a very long one: its beginning, and a hash that tells it from others. */
const sortedKey = (key: string): string =>
  key.length <= KEY_MAX
    ? key
    : key.slice(0, KEY_MAX).toWellFormed() + hash("sha256", key, "base64url");
