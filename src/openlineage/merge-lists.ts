/** Combines list items of an aspect that have the same key. */
import type { JsonObject } from "../lib/json.ts";
import type { ColumnEdge, Edge, Stamp } from "./contribution.ts";

/** Of two edges with the same key, the one with the earlier stamp. */
export function earlierEdge(current: JsonObject, { stampField, item }: Edge): JsonObject {
  const before = current[stampField] as Stamp | undefined;
  const added = item[stampField] as Stamp;
  // Another source states the edge with its own actor, or without a stamp.
  if (before === undefined || before.actor !== added.actor) return current;
  if (added.time !== before.time) return added.time < before.time ? item : current;
  return JSON.stringify(item) < JSON.stringify(current) ? item : current;
}

interface FineGrained {
  readonly upstreamType?: string;
  readonly upstreams?: readonly string[];
  readonly downstreams?: readonly string[];
  readonly transformOperation?: string;
  readonly confidenceScore?: number;
}

/** DataHub's score for column lineage of OpenLineage. */
const CONFIDENCE = 0.5;
const SEPARATOR = ",";

/** The downstream column of an entry of OpenLineage; entries of other sources have other keys. */
export function columnKey(entry: unknown): string {
  const { upstreamType, downstreams = [], confidenceScore } = entry as FineGrained;
  const [downstream = ""] = downstreams;
  const own = upstreamType === "FIELD_SET" && confidenceScore === CONFIDENCE;
  return own && downstreams.length === 1 ? downstream : `other ${JSON.stringify(entry)}`;
}

/** The entry of a downstream column: the union of all events. */
export function withColumn(
  entry: unknown,
  { downstream, upstreams, transformations }: ColumnEdge,
): JsonObject {
  const found = (entry ?? {}) as FineGrained;
  const operations = union(found.transformOperation?.split(SEPARATOR) ?? [], transformations);
  return {
    ...found,
    upstreamType: "FIELD_SET",
    upstreams: union(found.upstreams ?? [], upstreams),
    downstreamType: "FIELD_SET",
    downstreams: [downstream],
    ...(operations.length > 0 && { transformOperation: operations.join(SEPARATOR) }),
    confidenceScore: CONFIDENCE,
  };
}

const union = (some: readonly string[], more: readonly string[]): readonly string[] =>
  [...new Set([...some, ...more])].sort();
