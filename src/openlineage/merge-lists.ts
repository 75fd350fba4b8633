/** Adds members to the lists of aspects. Lists that begin sorted stay sorted, so that order does not count. */
import type { JsonObject } from "../lib/json.ts";
import type { ColumnEdge, Edge, Stamp } from "./contribution.ts";

/** The list with the item, unless it has one with that key. */
export function withSorted<T>(
  list: readonly T[],
  item: T,
  keyOf: (item: T) => string,
): readonly T[] {
  const key = keyOf(item);
  let after = list.length;
  for (const [index, other] of list.entries()) {
    const otherKey = keyOf(other);
    if (otherKey === key) return list;
    if (otherKey > key && after === list.length) after = index;
  }
  return list.toSpliced(after, 0, item);
}

/** The list with the edge. Of two with its key, the one with the earlier stamp stays. */
export function withEdge(
  list: readonly unknown[],
  { keyField, stampField, item }: Edge,
): readonly unknown[] {
  const keyOf = (edge: unknown) => String((edge as JsonObject)[keyField]);
  const stampOf = (edge: JsonObject) => edge[stampField] as Stamp | undefined;
  const index = list.findIndex((edge) => keyOf(edge) === keyOf(item));
  if (index < 0) return withSorted(list, item, keyOf);
  const current = stampOf(list[index] as JsonObject);
  const added = stampOf(item);
  // Another source states the edge with its own actor, or without a stamp.
  if (current === undefined || added === undefined || current.actor !== added.actor) return list;
  const earlier =
    added.time < current.time ||
    (added.time === current.time && JSON.stringify(item) < JSON.stringify(list[index]));
  return earlier ? list.with(index, item) : list;
}

interface FineGrained {
  readonly upstreamType?: string;
  readonly upstreams?: readonly string[];
  readonly downstreamType?: string;
  readonly downstreams?: readonly string[];
  readonly transformOperation?: string;
  readonly confidenceScore?: number;
}

/** DataHub's score for column lineage of OpenLineage. */
const CONFIDENCE = 0.5;
const SEPARATOR = ",";

/** The list with the column lineage: one entry for each downstream column, the union of all events. */
export function withColumn(
  list: readonly unknown[],
  { downstream, upstreams, transformations }: ColumnEdge,
): readonly unknown[] {
  const isOwn = ({ upstreamType, downstreams, confidenceScore }: FineGrained) =>
    upstreamType === "FIELD_SET" &&
    confidenceScore === CONFIDENCE &&
    downstreams?.length === 1 &&
    downstreams[0] === downstream;
  const index = list.findIndex((entry) => isOwn(entry as FineGrained));
  const found = index < 0 ? {} : (list[index] as FineGrained);
  const operations = union(found.transformOperation?.split(SEPARATOR) ?? [], transformations);
  const entry = {
    ...found,
    upstreamType: "FIELD_SET",
    upstreams: union(found.upstreams ?? [], upstreams),
    downstreamType: "FIELD_SET",
    downstreams: [downstream],
    ...(operations.length > 0 && { transformOperation: operations.join(SEPARATOR) }),
    confidenceScore: CONFIDENCE,
  };
  if (index >= 0) return list.with(index, entry);
  return withSorted(list, entry, (one) => JSON.stringify([(one as FineGrained).downstreams]));
}

const union = (some: readonly string[], more: readonly string[]): readonly string[] =>
  [...new Set([...some, ...more])].sort();
