/** How views are rebuilt: in which rounds, by which threads, with which stores. */
import { availableParallelism } from "node:os";
import { type ChangeLog, countRecords } from "../log/change-log.ts";
import type { RebuildingParts } from "../projector/rebuild/rebuilding.ts";
import { startStagingWorkers } from "../projector/rebuild/staging-worker.ts";
import { verifyStaging } from "../projector/verify/verify-staging.ts";
import {
  foldedViews,
  type Places,
  type StoresConfig,
  sharedView,
  type ViewName,
  viewNames,
} from "./stores.ts";
import { clearStagingFiles } from "./swappable-readers.ts";
import { verifyModule } from "./verification/verified-state.ts";

/** Dependencies of a rebuild that come from the stores, with or without a service. */
export function rebuildingParts(
  config: Places,
  stores: StoresConfig,
  log: Pick<ChangeLog, "head" | "countBetween">,
): Omit<RebuildingParts, "replacement" | "readers"> {
  const verifier = { ...verifyModule, config: stores };
  return {
    isShared: (view) => sharedView(config, view as ViewName),
    lanes: async (views) => buildLanes(config, views, await countRecords(log)),
    startWorkers: (lanes, options) => startStagingWorkers({ stores, lanes, ...options }),
    verify: (staged, signal) => verifyStaging(verifier, staged, signal),

    clear: (views) => clearStagingFiles(config, views),
  };
}

/** Some views, those of a round together. Views that are made of others come with or after them. */
export function rebuildRounds(
  config: Pick<Places, ViewName>,
  names: readonly string[] = viewNames,
): readonly (readonly ViewName[])[] {
  const views = viewNames.filter((name) => names.includes(name));
  const shared = (name: ViewName) => sharedView(config, name);
  const first = views.filter((name) => !foldedViews.has(name));
  // Together, one pass over the log builds and one verifies them.
  const rounds = !viewNames.some(shared)
    ? [views]
    : [
        first.filter((name) => !shared(name)),
        first.filter(shared),
        views.filter((name) => foldedViews.has(name)),
      ];
  return rounds.filter((round) => round.length > 0);
}

/** Records of a log from which a second thread saves more time than its start takes. */
const worthThread = 10_000;

/**
 * Views by the thread that builds them from so many records. The graph depends on the log alone and has a
 * thread of its own beside the views that search is made of.
 */
function buildLanes(
  config: Pick<Places, ViewName>,
  names: readonly string[],
  records: number,
): readonly (readonly ViewName[])[] {
  const views = viewNames.filter((name) => names.includes(name));
  const others = views.filter((view) => view !== "graph");
  const apart =
    records >= worthThread &&
    availableParallelism() > 1 &&
    others.length < views.length &&
    others.some((view) => foldedViews.has(view)) &&
    !views.some((view) => sharedView(config, view));
  return apart ? [others, ["graph"]] : [views];
}
