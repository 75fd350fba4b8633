/** Finds entities of a view that have no stream in the log, and compares seeming differences again. */
import { setTimeout as pause } from "node:timers/promises";
import { entityStream, timeseriesStream } from "../../../core/stream.ts";
import { type HistoryLog, timeseriesAspects } from "../../history.ts";
import type { Findings } from "../findings.ts";
import type { VerifiedView } from "../view-rows.ts";
import { runBatches, type VerificationParts } from "./run-batches.ts";

/** Urns that are kept in memory, so that none is reported twice. */
const SEEN_MAX = 200_000;
/** Entities that differ are compared again after these pauses, if there are at most so many. */
const AGAIN = { entitiesMax: 1_000, pausesMs: [100, 250, 500] };

/** Reads all urns of the view and reports those without a stream. */
export async function findOrphans(
  parts: VerificationParts,
  view: VerifiedView,
  findings: Findings,
): Promise<void> {
  const { log, signal } = parts;
  const aspects = await timeseriesAspects(log);
  const seen = new Set<string>();
  async function* unknown() {
    for await (const page of view.rows.urns()) {
      signal?.throwIfAborted();
      const found: { readonly urn: string }[] = [];
      for (const urn of page) {
        if (seen.has(urn) || (await hasStream(log, urn, aspects))) continue;
        if (seen.size < SEEN_MAX) seen.add(urn);
        found.push({ urn });
      }
      if (found.length > 0) yield found;
    }
  }
  await runBatches(parts, unknown(), { views: [view.name], positions: {}, findings, total: 0 });
}

async function hasStream(
  log: HistoryLog,
  urn: string,
  aspects: readonly string[],
): Promise<boolean> {
  const name = entityStream(urn);
  const [first] = await log.listStreams(name, { limit: 1 });
  if (first === name) return true;
  for (const aspect of aspects) {
    const series = timeseriesStream(urn, aspect);
    const [found] = await log.listStreams(series, { limit: 1 });
    if (found === series) return true;
  }
  return false;
}

/**
 * Compares entities that differ again, after a pause: rows and log are read one after the other, and a server shows
 * batches that are only partly written. A difference that is real differs each time.
 */
export async function lookAgain(parts: VerificationParts, findings: Findings): Promise<void> {
  for (const ms of AGAIN.pausesMs) {
    const again = findings.urns();
    if (again === undefined || again.size === 0 || again.size > AGAIN.entitiesMax) return;
    await pause(ms);
    for (const [views, urns] of byViews(again)) {
      parts.signal?.throwIfAborted();
      const entities = urns.map((urn) => ({ urn }));
      const { differences } = await parts.verifier.verify(entities, {
        views: views.split(","),
        positions: {},
      });
      const of = Map.groupBy(differences, ({ urn }) => urn);
      for (const urn of urns) findings.replace(urn, of.get(urn) ?? []);
    }
  }
}

/** Urns by the names of the views in which they differ. */
function byViews(urns: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, string[]> {
  const grouped = new Map<string, string[]>();
  for (const [urn, views] of urns) {
    const key = [...views].join();
    const group = grouped.get(key);
    if (group === undefined) grouped.set(key, [urn]);
    else group.push(urn);
  }
  return grouped;
}
