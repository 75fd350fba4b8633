/** Finds entities of a view without a stream in the log, and rechecks entities that differ. */
import { setTimeout as pause } from "node:timers/promises";
import { entityStream, timeseriesStream } from "../../../core/stream.ts";
import { type HistoryLog, timeseriesAspects } from "../../history.ts";
import type { Findings } from "../findings.ts";
import type { VerifiedView } from "../view-rows.ts";
import { runBatches, type VerificationParts } from "./run-batches.ts";

/** Maximum urns in memory that are deduplicated. */
const SEEN_MAX = 200_000;
/** Pauses before the rechecks, and the maximum number of entities that are rechecked. */
const RECHECK = { entitiesMax: 1_000, pausesMs: [100, 250, 500] };

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
 * Rechecks entities that differ, after a pause. The first result may be wrong: rows and log are
 * read one after the other, and a server may expose a partly written batch. A real difference
 * persists.
 */
export async function recheckDifferences(
  parts: VerificationParts,
  findings: Findings,
): Promise<void> {
  for (const ms of RECHECK.pausesMs) {
    const differing = findings.urns();
    if (differing === undefined || differing.size === 0 || differing.size > RECHECK.entitiesMax)
      return;
    await pause(ms);
    for (const [views, urns] of byViews(differing)) {
      parts.signal?.throwIfAborted();
      const entities = urns.map((urn) => ({ urn }));
      const { differences } = await parts.verifier.verify(entities, {
        views: views.split(","),
        positions: {},
      });
      const byUrn = Map.groupBy(differences, ({ urn }) => urn);
      for (const urn of urns) findings.replace(urn, byUrn.get(urn) ?? []);
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
