/**
 * `annals verify`: compares the views of a data directory with its log while no service runs, and
 * mends them. What cannot be mended entity by entity is grown anew.
 */
import type { Operations, VerifiedStores } from "./cli/operations.ts";
import type { Config } from "./config/config.ts";
import { configuredModel } from "./configured-model.ts";
import { START } from "./core/position.ts";
import type { ChangeLog } from "./log/change-log.ts";
import { decodeRecord } from "./log/record-codec.ts";
import { lockOrSay, rebuild } from "./offline-rebuild.ts";
import { noSuchView } from "./ops/no-such-view.ts";
import { noteParking, openParking, readParking } from "./projector/parking.ts";
import { restoreEntities } from "./projector/restore.ts";
import type { Grade } from "./projector/verify/verification.ts";
import type { Verified } from "./projector/verify/verified-state.ts";
import {
  openLog,
  openViews,
  requireLog,
  requireViews,
  type StoresConfig,
  storesConfig,
  type ViewName,
  viewNames,
} from "./stores.ts";
import { spareThreads, verifyStoredViews } from "./verified-views.ts";

/** Entities that are made anew between two looks at how the views are. */
const restoredMax = 500;
/** Rounds of mending: what differs behind what was kept comes with the next one. */
const roundsMax = 20;

/** Operations.verify. */
export const verify: Operations["verify"] = async (config, options) => {
  requireLog(config);
  const names = viewsOf(options.views);
  const stores = await locked(config, (log) => storesOf(config, log));
  requireViews(stores, names);
  const look = (grade: Grade) =>
    locked(config, () =>
      verifyStoredViews(stores, {
        views: names,
        grade,
        onProgress: options.onProgress,
        threads: spareThreads(),
      }),
    );
  const { grade = "full" } = options;
  const { views, records } = await look(grade === "quick" ? "touched" : grade);
  let now = views;
  let mended = 0;
  for (let round = 0; options.repair && countOf(now) > 0 && round < roundsMax; round++) {
    const before = countOf(now);
    mended += await locked(config, (log) => restore(stores, log, now));
    now = (await look("touched")).views;
    if (countOf(now) >= before) break;
  }
  const rebuilt: string[] = [];
  // What is not whole enough to be mended begins anew, and is behind then.
  const wasAt = new Map(views.map(({ view, position }) => [view, position]));
  const isSick = ({ view, count, position }: Verified) =>
    count > 0 || position < (wasAt.get(view) ?? START);
  if (options.repair && now.some(isSick)) {
    const sick = now.filter(isSick).map(({ view }) => view);
    await rebuild(config, { views: sick, logger: options.logger, onProgress: () => {} });
    rebuilt.push(...sick);
    now = (await look("full")).views;
  }
  return { found: views, left: now, records, mended, rebuilt } satisfies VerifiedStores;
};

const countOf = (views: readonly Verified[]): number =>
  views.reduce((sum, { count }) => sum + count, 0);

function viewsOf(asked: readonly string[]): readonly ViewName[] {
  const unknown = asked.find((name) => !viewNames.some((view) => view === name));
  if (unknown !== undefined) throw noSuchView(unknown, viewNames);
  return asked.length === 0 ? viewNames : viewNames.filter((view) => asked.includes(view));
}

async function storesOf(config: Config, log: ChangeLog): Promise<StoresConfig> {
  return storesConfig(config, configuredModel(config).rules, log);
}

/** One process at a time has the directory. */
async function locked<T>(config: Config, work: (log: ChangeLog) => Promise<T>): Promise<T> {
  const lock = lockOrSay(config, "verify");
  try {
    // For writing: what a view cannot take is noted in it.
    const log = await openLog(config);
    try {
      return await work(log);
    } finally {
      await log.close();
    }
  } finally {
    lock.release();
  }
}

/** Makes the entities anew that differ; how many there were. */
async function restore(
  stores: StoresConfig,
  log: ChangeLog,
  verified: readonly Verified[],
): Promise<number> {
  const urns = new Set(verified.flatMap(({ differences }) => differences.map(({ urn }) => urn)));
  urns.delete("");
  const all = [...urns];
  const opened = await openViews(stores);
  try {
    const notes = {
      load: (view: string) => readParking(log, view),
      write: (view: string, record: Parameters<typeof noteParking>[2]) =>
        noteParking(log, view, record),
    };
    const views = await Promise.all(
      opened.map(async (view) => ({
        view,
        position: await view.sink.position(),
        parking: await openParking(view.name, notes, Date.now),
      })),
    );
    for (let from = 0; from < all.length; from += restoredMax) {
      const slice = all.slice(from, from + restoredMax);
      await restoreEntities(slice, { log, decode: decodeRecord, views });
    }
  } finally {
    for (const { sink } of opened) await sink.close();
  }
  return all.length;
}
