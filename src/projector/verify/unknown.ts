/** Entities in a view that the log never told of, and what only seemed to differ. */
import { setTimeout as pause } from "node:timers/promises";
import { entityStream, timeseriesStream } from "../../core/stream.ts";
import { type HistoryLog, timeseriesAspects } from "../history.ts";
import type { Findings } from "./findings.ts";
import { runOver, type VerificationParts } from "./running.ts";
import type { VerifiedView } from "./view-rows.ts";

/** Urns that are remembered, so that none is told twice. */
const SEEN_MAX = 200_000;
/** Entities that differ are looked at once more in the end, after so long, when they are so few. */
const AGAIN = { entitiesMax: 1_000, afterMs: 250 };

/** Looks for them among the urns of the view that `asked` says. */
export async function findUnknown(
  parts: VerificationParts,
  view: VerifiedView,
  findings: Findings,
  asked: (urn: string) => boolean,
): Promise<void> {
  const { log, signal } = parts;
  const aspects = await timeseriesAspects(log);
  const seen = new Set<string>();
  async function* unknown() {
    for await (const page of view.rows.urns()) {
      signal?.throwIfAborted();
      const found: { readonly urn: string }[] = [];
      for (const urn of page) {
        if (!asked(urn) || seen.has(urn) || (await isTold(log, urn, aspects))) continue;
        if (seen.size < SEEN_MAX) seen.add(urn);
        found.push({ urn });
      }
      if (found.length > 0) yield found;
    }
  }
  await runOver(parts, unknown(), { views: [view.name], places: {}, findings, total: 0 });
}

/** Others have at least one stream, and are compared with it. */
async function isTold(log: HistoryLog, urn: string, aspects: readonly string[]): Promise<boolean> {
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

/** What only seemed to differ, since something was read before something else, is left out. */
export async function lookAgain({ hands }: VerificationParts, findings: Findings): Promise<void> {
  const again = findings.urns();
  if (again === undefined || again.size === 0 || again.size > AGAIN.entitiesMax) return;
  await pause(AGAIN.afterMs);
  for (const [urn, views] of again) {
    const asked = { views: [...views], entities: [{ urn }], places: {}, compare: true };
    const done = await hands.verify(asked);
    findings.replace(urn, done.differences);
  }
}
