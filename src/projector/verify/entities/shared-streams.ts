/**
 * Records outside an entity's own streams that affect many entities: truncations, requests to
 * forget edges, parking. They are few, so all are read together, and read again before a difference
 * is reported.
 */
import type { PlacedChange } from "../../../core/change.ts";
import { parseStream, type StreamName, timeseriesStream } from "../../../core/stream.ts";
import { changesOf, streamNames } from "../../../log/whole-reads.ts";
import type { Decode } from "../../batch.ts";
import { entityStreams, type HistoryLog, timeseriesAspects } from "../../history.ts";
import { type ReadParking, readOnlyParking } from "../../parking/parking.ts";

export interface SharedStreams {
  /** Streams that an entity may have. */
  streamsOf(urn: string): readonly StreamName[];
  /** Truncations of timeseries of a type of entities, in the order of the log. */
  truncationsOf(entityType: string): readonly PlacedChange[];
  /** True if the log has requests to forget edges. */
  readonly forgets: boolean;
  forgetsOf(urn: string): readonly PlacedChange[];
  /** Records that a view skips. */
  parkingOf(view: string): ReadParking | undefined;
}

/** The aspect in the stream names of requests to forget (projections/graph/graph.ts). */
const FORGETS = "$relationships";

const nothing: readonly PlacedChange[] = [];

export async function readSharedStreams(
  log: HistoryLog,
  decode: Decode,
  views: readonly string[],
): Promise<SharedStreams> {
  const parkings = new Map<string, ReadParking>();
  for (const view of views) {
    parkings.set(view, await readOnlyParking(log, view));
  }
  const aspects = await timeseriesAspects(log);
  const truncations = new Map<string, PlacedChange[]>();
  for await (const name of streamNames(log, "truncation-")) {
    const of = parseStream(name);
    if (of?.kind !== "truncation") continue;
    const found = truncations.get(of.entityType) ?? [];
    for await (const change of changesOf(log, decode, name)) found.push(change);
    truncations.set(of.entityType, found);
  }
  for (const found of truncations.values()) found.sort((a, b) => a.position - b.position);
  const forgets = new Map<string, readonly PlacedChange[]>();
  if (aspects.includes(FORGETS)) {
    for await (const name of streamNames(log, timeseriesStream("", FORGETS))) {
      forgets.set(
        parseStream(name)?.urn ?? "",
        await Array.fromAsync(changesOf(log, decode, name)),
      );
    }
  }
  return {
    streamsOf: (urn) => entityStreams(urn, aspects),
    truncationsOf: (type) => truncations.get(type) ?? nothing,
    forgets: forgets.size > 0,
    forgetsOf: (urn) => forgets.get(urn) ?? nothing,
    parkingOf: (view) => parkings.get(view),
  };
}
