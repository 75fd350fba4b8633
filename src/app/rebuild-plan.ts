/** Plans a rebuild: the rounds, the threads and the stores. */
import { availableParallelism } from "node:os";
import { type ChangeLog, countRecords } from "../log/change-log.ts";
import type { RebuildingParts } from "../projector/rebuild/rebuilding.ts";
import { startStagingWorker } from "../projector/rebuild/staging-worker.ts";
import { verifyStaging } from "../projector/verify/verify-staging.ts";
import {
  foldedViews,
  type StoreLocations,
  sharedView,
  type ViewName,
  viewNames,
} from "./store-locations.ts";
import type { StoresConfig } from "./stores.ts";
import { clearStagingFiles } from "./swappable-readers.ts";
import { openVerifiedState, verifyModule } from "./verification/verified-state.ts";

/** Dependencies of a rebuild that come from the stores, with or without a service. */
export function rebuildingParts(
  config: StoreLocations,
  stores: StoresConfig,
  log: Pick<ChangeLog, "head" | "countBetween">,
): Omit<RebuildingParts, "generationSwap" | "readers"> {
  const verifier = { ...verifyModule, config: stores };
  return {
    isShared: (view) => sharedView(config, view as ViewName),
    workerGroups: async (views) => workerGroups(config, views, await countRecords(log)),
    startWorker: (views, options) => startStagingWorker({ stores, views, ...options }),
    verify: (staged, signal) => verifyStaging(verifier, staged, signal),
    storeResults(results) {
      const state = openVerifiedState(stores);
      try {
        state.save(results);
      } finally {
        state.close();
      }
    },
    removeStaging: (views) => clearStagingFiles(config, views),
  };
}

/** The rounds of a rebuild, in order. Views that are built from others come with or after these. */
export function rebuildRounds(
  config: Pick<StoreLocations, ViewName>,
  names: readonly string[] = viewNames,
): readonly (readonly ViewName[])[] {
  const views = viewNames.filter((name) => names.includes(name));
  const shared = (name: ViewName) => sharedView(config, name);
  const first = views.filter((name) => !foldedViews.has(name));
  // Embedded views share one round, so that threads build and verify them at the same time.
  const rounds = !viewNames.some(shared)
    ? [views]
    : [
        first.filter((name) => !shared(name)),
        first.filter(shared),
        views.filter((name) => foldedViews.has(name)),
      ];
  return rounds.filter((round) => round.length > 0);
}

/** Number of records from which a second thread saves more time than its start takes. */
const worthThread = 10_000;

/**
 * Groups of views with one thread each. With enough records, the graph has a thread of its own: it is
 * built from the log alone, search from the aspect and timeseries views.
 */
function workerGroups(
  config: Pick<StoreLocations, ViewName>,
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
