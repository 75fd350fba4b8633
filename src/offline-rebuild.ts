/**
 * `annals rebuild`: regrows views of a data directory while no service runs. The graph and what views
 * are compared with come from threads beside this one, as far as there are cores.
 */
import type { Operations, Rebuilt } from "./cli/operations.ts";
import type { Config } from "./config/config.ts";
import { configuredModel } from "./configured-model.ts";
import { CatalogError } from "./core/errors.ts";
import { ownCommand } from "./core/own-command.ts";
import { type Position, START } from "./core/position.ts";
import { clearEditions } from "./edition-readers.ts";
import { foldedViews, growthLanes, worthThread } from "./growth-plan.ts";
import { type ChangeLog, countRecords } from "./log/change-log.ts";
import type { ParkingRecord } from "./log/parking-codec.ts";
import { decodeRecord } from "./log/record-codec.ts";
import { checkNamespace } from "./log/written-namespace.ts";
import { noSuchView } from "./ops/no-such-view.ts";
import { dataFlag } from "./places.ts";
import { noteParking, openParking, type Parked, readParking } from "./projector/parking.ts";
import { regrow } from "./projector/regrow.ts";
import { startRegrower } from "./projector/regrower.ts";
import { requireEqual, verifyGrowing } from "./projector/verify/verify-editions.ts";
import {
  lockData,
  openLog,
  openViews,
  putInPlaceAtRest,
  requireLog,
  type StoresConfig,
  sharedView,
  sourcePosition,
  storesConfig,
  type ViewName,
  viewNames,
} from "./stores.ts";
import { verifyModule } from "./verified-state.ts";
import { spareThreads, type VerifyOptions, verifyStoredViews } from "./verified-views.ts";

/** What is grown in this thread takes longest: it comes first where there are fewer cores than threads. */
const NICENESS = 10;

/** Operations.rebuild. */
export const rebuild: Operations["rebuild"] = async (config, { views, onProgress, signal }) => {
  requireLog(config);
  const lock = lockOrSay(config, "rebuild");
  try {
    // For writing: what a view cannot take is noted in it.
    const log = await openLog(config);
    const notes = {
      load: (view: string) => readParking(log, view),
      write: (view: string, record: ParkingRecord) => noteParking(log, view, record),
    };
    try {
      await checkNamespace(log, config.urnNamespace, config.data);
      const stores = await storesConfig(config, configuredModel(config).rules, log);
      const rebuilt: Rebuilt[] = [];
      const grown: ViewName[] = [];
      const all = await rounds(config, log, views);
      const size = await countRecords(log);
      const lanes = growthLanes(config, all.flat(), size);
      const [, beside = []] = lanes;
      const own = all.flat().filter((name) => !sharedView(config, name));
      const comparison =
        size < worthThread
          ? compareLater(stores, own, signal)
          : startComparison(stores, { views: own, growers: lanes.length }, signal);
      const others = startBeside(stores, beside, signal);
      try {
        for (const round of all) {
          const names = round.filter((name) => !beside.includes(name));
          const next = { beside: grown, next: true, bulk: true };
          const opened = await openViews(stores, { names, ...next });
          const records = await regrow({
            log,
            views: opened,
            decode: decodeRecord,
            notes,
            onProgress,
            signal,
            // Those in servers take the places of others as they are closed.
            onGrown: (places) =>
              requireGrown(
                stores,
                names.filter((name) => name in places),
                { grown: places, signal },
              ),
          });
          rebuilt.push(...names.map((view) => ({ view, records })));
          grown.push(...names.filter((name) => !sharedView(config, name)));
        }
        for (const { view, urn, position, reason } of await others.grown()) {
          const parking = await openParking(view, notes, Date.now);
          if (parking.find(urn) === undefined)
            await parking.park({ urn, position }, new Error(reason));
        }
        const [records = 0] = rebuilt.map((one) => one.records);
        rebuilt.push(...beside.map((view) => ({ view, records })));
        await comparison.end();
        signal?.throwIfAborted();
        putInPlaceAtRest(config, own);
      } catch (error) {
        // Threads that were told to end have reasons of their own.
        signal?.throwIfAborted();
        throw error;
      } finally {
        await others.end();
        await comparison.giveUp();
        clearEditions(config, own);
      }
      return rebuilt;
    } finally {
      await log.close();
    }
  } finally {
    lock.release();
  }
};

/** Grows views by a thread of its own, which ends when the signal aborts. */
function startBeside(
  stores: StoresConfig,
  views: readonly string[],
  signal: AbortSignal | undefined,
) {
  const regrower =
    views.length === 0
      ? undefined
      : startRegrower({ stores, views, onProgress: () => {}, compare: async () => {} });
  const end = async () => regrower?.end();
  signal?.addEventListener("abort", end);
  return {
    /** Resolves, when they are grown and closed, with what they pass over. */
    async grown(): Promise<readonly Parked[]> {
      await regrower?.near;
      return (await regrower?.finish(START)) ?? [];
    },
    end,
  };
}

/** Compares views of the directory with the log, which is folded while they are grown. */
function startComparison(
  stores: StoresConfig,
  { views, growers }: { readonly views: readonly ViewName[]; readonly growers: number },
  signal: AbortSignal | undefined,
) {
  const closed = Promise.withResolvers<readonly Parked[]>();
  closed.promise.catch(() => {});
  const where = { niceness: NICENESS, threads: spareThreads(), atRest: true };
  const growing = { views, growers, parked: closed.promise };
  const compared =
    views.length === 0
      ? Promise.resolve()
      : verifyGrowing({ ...verifyModule, config: stores }, growing, signal, where);
  compared.catch(() => {});
  return {
    /** They are closed; rejects when they are not what the log says. */
    async end(): Promise<void> {
      // What they pass over is noted in the log by now.
      closed.resolve([]);
      await compared;
    },
    async giveUp(): Promise<void> {
      closed.reject(new CatalogError("unavailable", "the rebuild was given up"));
      await Promise.allSettled([compared]);
    },
  };
}

/** The same in this thread, when they are there. */
const compareLater = (
  stores: StoresConfig,
  views: readonly ViewName[],
  signal: AbortSignal | undefined,
) => ({
  end: () => requireGrown(stores, views, { signal }),
  giveUp: async () => {},
});

/** They are closed, or stand still in servers, and take the places of others when they are what the log says. */
async function requireGrown(
  stores: StoresConfig,
  views: readonly ViewName[],
  { grown, signal }: Pick<VerifyOptions, "grown" | "signal">,
): Promise<void> {
  if (views.length === 0) return;
  const how = { grade: "full", next: true, threads: spareThreads() } as const;
  // What they pass over is noted in the log by now.
  requireEqual(await verifyStoredViews(stores, { ...how, views, grown, signal }), []);
}

/** What this command does to a directory, a service that has it does itself. */
export function lockOrSay(config: Config, command: string): ReturnType<typeof lockData> {
  try {
    return lockData(config);
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== "unavailable") throw error;
    throw new CatalogError("unavailable", error.message, {
      hint: `Stop that one first, or let it do the work: ${ownCommand(`${command}${dataFlag(config)} --server <its address>`)}`,
      cause: error,
    });
  }
}

/** Folded views come last; what they are made of comes with them where it is not as far as the log. */
async function rounds(
  config: Config,
  log: Pick<ChangeLog, "head">,
  views: readonly string[],
): Promise<readonly (readonly ViewName[])[]> {
  const wanted = new Set(views.length === 0 ? viewNames : views.map(viewName));
  const folded = [...wanted].filter((name) => foldedViews.has(name));
  for (const source of folded.length > 0 ? (["aspects", "timeseries"] as const) : []) {
    if ((await positionOf(config, source)) !== (await log.head())) wanted.add(source);
  }
  const first = viewNames.filter((name) => wanted.has(name) && !foldedViews.has(name));
  return [first, folded].filter((names) => names.length > 0);
}

/** How far a view is; undefined when it cannot say. */
async function positionOf(
  config: Config,
  view: "aspects" | "timeseries",
): Promise<Position | undefined> {
  try {
    return await sourcePosition(config, view);
  } catch {
    return undefined;
  }
}

function viewName(name: string): ViewName {
  const known = viewNames.find((view) => view === name);
  if (known !== undefined) return known;
  throw noSuchView(name, viewNames);
}
