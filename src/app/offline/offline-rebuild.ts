/**
 * `annals rebuild`: rebuilds views of a data directory while no service runs. The path is that of a
 * service (projector/rebuild/rebuilding.ts), except that no projector and no readers use the live generations.
 */
import type { ProcessOperations, Rebuilt } from "../../cli/operations.ts";
import type { Config } from "../../config/config.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { noSuchView } from "../../jobs/unknown-view.ts";
import { ownCommand } from "../../lib/command-hint.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { checkNamespace } from "../../log/written-namespace.ts";
import { openParkingOf, parkingIn } from "../../projector/parking/parking.ts";
import { createRebuilding } from "../../projector/rebuild/rebuilding.ts";
import { closeAll } from "../../projector/rebuild/staging.ts";
import {
  createGenerationSwap,
  type SwappableView,
} from "../../projector/rebuild/swap-generations.ts";
import type { View } from "../../projector/sink.ts";
import type { GenerationSwap } from "../../projector/thread/progress.ts";
import { openReader } from "../adapters.ts";
import { configuredModel } from "../load-model.ts";
import { lockData, openLog, requireLog } from "../open-log.ts";
import { rebuildingParts, rebuildRounds } from "../rebuild-plan.ts";
import { dataFlag, foldedViews, sharedView, type ViewName, viewNames } from "../store-locations.ts";
import { openViews, type StoresConfig, storesConfig, swapFilesOffline } from "../stores.ts";

/** Operations.rebuild. */
export const rebuild: ProcessOperations["rebuild"] = async (
  config,
  { views, onProgress, signal },
) => {
  requireLog(config);
  // For writing: records that a view cannot apply are parked in it.
  return withLockedLog(config, "rebuild", async (log) => {
    await checkNamespace(log, config.urnNamespace, config.data);
    const stores = await storesConfig(config, configuredModel(config).rules, log);
    const rebuilding = createRebuilding({
      ...rebuildingParts(config, stores, log),
      generationSwap: await createOfflineSwap(stores, log),
      readers: NO_READERS,
    });
    const rebuilt: Rebuilt[] = [];
    for (const round of await rounds(config, log, views)) {
      let records = 0;
      await rebuilding.rebuild(round, {
        signal: signal ?? new AbortController().signal,
        onProgress(progress) {
          records = progress.records;
          onProgress(progress.position, progress.head);
        },
        onSwap() {},
      });
      for (const view of round) rebuilt.push({ view, records });
    }
    return rebuilt;
  });
};

const NO_READERS = {
  prepare: async () => ({ swap: async () => {}, close: async () => {} }),
  reopen: async () => {},
};

const CLOSED: View["sink"] = {
  apply: async () => {},
  restore: async () => {},
  position: async () => START,
  reset: async () => {},
  close: async () => {},
};

/** Swaps staging generations in while no view is open; the live ones count as being at the head. */
async function createOfflineSwap(stores: StoresConfig, log: ChangeLog) {
  let opened: readonly View[] = [];
  const notes = parkingIn(log);
  const swapFiles = (names: readonly string[]) =>
    swapFilesOffline(
      stores,
      viewNames.filter((name) => names.includes(name) && !sharedView(stores, name)),
    );
  const head = await log.head();
  const generationSwap = createGenerationSwap({
    ...{ log, decode: decodeRecord },
    viewStates: viewNames.map((name) => closedView(name, head)),
    parkingOf: (view) => openParkingOf(view, notes, Date.now),
    betweenTurns: (work) => work(),
    generations: {
      async openStaging(names) {
        const known = viewNames.filter((name) => names.includes(name));
        opened = await openViews(stores, { names: known, next: true });
        return opened;
      },
      async makeLive(names) {
        await closeAll(opened, "keep");
        swapFiles(names);
        return async () => {};
      },
    },
  });
  let hasParked = false;
  return {
    pause: generationSwap.pause,
    async prepare(names, parked) {
      // Without parked records there is nothing to write to the log or to a staging generation.
      hasParked = parked.length > 0;
      if (hasParked) await generationSwap.prepare(names, parked);
    },
    async resume(names, take) {
      if (hasParked || !take) await generationSwap.resume(names, take);
      else swapFiles(names);
    },
  } satisfies GenerationSwap;
}

const closedView = (name: string, position: Position): SwappableView => ({
  view: { name, project: () => [], sink: CLOSED },
  ...{ position, checkpoint: position, record: undefined, failure: undefined },
  ...{ parking: undefined, busy: undefined, movedAt: undefined, pause: undefined },
});

/**
 * Locks the data directory and opens its log for appending. Throws `unavailable` with the command
 * for the service that has the lock.
 */
export async function withLockedLog<T>(
  config: Config,
  command: string,
  work: (log: ChangeLog) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  try {
    const lock = lockData(config);
    opened.defer(() => lock.release());
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== "unavailable") throw error;
    throw new CatalogError("unavailable", error.message, {
      hint: `Stop that one first, or let it do the work: ${ownCommand(`${command}${dataFlag(config)} --server <its address>`)}`,
      cause: error,
    });
  }
  const log = opened.adopt(await openLog(config), (one) => one.close());
  return await work(log);
}

/**
 * The rounds of a rebuild. Includes the source views that are not at the head of the log: no projector
 * runs that would apply the rest.
 */
async function rounds(
  config: Config,
  log: Pick<ChangeLog, "head">,
  views: readonly string[],
): Promise<readonly (readonly ViewName[])[]> {
  const wanted = new Set(views.length === 0 ? viewNames : views.map(viewName));
  const folded = [...wanted].some((name) => foldedViews.has(name));
  for (const source of folded ? (["aspects", "timeseries"] as const) : []) {
    if ((await positionOf(config, source)) !== (await log.head())) wanted.add(source);
  }
  return rebuildRounds(config, [...wanted]);
}

/** Position of a view; undefined when it cannot be read. */
async function positionOf(
  config: Config,
  view: "aspects" | "timeseries",
): Promise<Position | undefined> {
  try {
    const reader = await openReader(config, view);
    return await reader.position().finally(() => reader.close());
  } catch {
    return undefined;
  }
}

function viewName(name: string): ViewName {
  const known = viewNames.find((view) => view === name);
  if (known !== undefined) return known;
  throw noSuchView(name, viewNames);
}
