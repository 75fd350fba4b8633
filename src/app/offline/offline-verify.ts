/**
 * `annals verify`: compares the views of a data directory with its log while no service runs, and
 * repairs them: single entities first, then whole views by a rebuild.
 */
import type { ProcessOperations, VerifiedStores } from "../../cli/operations.ts";
import type { Config } from "../../config/config.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { parseStream } from "../../core/stream.ts";
import { noSuchView } from "../../jobs/unknown-view.ts";
import { appendAll, slicesOf } from "../../lib/lists.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { openParkingOf, parkingIn } from "../../projector/parking/parking.ts";
import { restoreEntities } from "../../projector/parking/restore.ts";
import { verifyAndRepair } from "../../projector/verify/repair.ts";
import type { Verified } from "../../projector/verify/verified-state.ts";
import { configuredModel } from "../load-model.ts";
import { requireLog } from "../open-log.ts";
import { type ViewName, viewNames } from "../store-locations.ts";
import { openViews, requireViews, type StoresConfig, storesConfig } from "../stores.ts";
import { verifyStoredViews } from "../verification/verified-views.ts";
import { rebuild, withLockedLog } from "./offline-rebuild.ts";

/** Entities restored between two commits. */
const restoredMax = 500;

/** Operations.verify. */
export const verify: ProcessOperations["verify"] = async (config, options) => {
  requireLog(config);
  const names = viewsOf(options.views);
  const stores = await locked(config, async (log) => {
    // The comparison reads the log through its indexes.
    await log.checkIndexes?.();
    return storesConfig(config, configuredModel(config).rules, log);
  });
  requireViews(stores, names);
  const verified = (views: readonly string[]) =>
    locked(config, () =>
      verifyStoredViews(stores, {
        views: viewsOf(views),
        onProgress: options.onProgress,
      }),
    );
  let records: number | undefined;
  const verify = async (views: readonly string[]) => {
    const done = await verified(views);
    records ??= done.records;
    return done.views;
  };
  if (!options.repair) {
    const { found: before, unread } = await verifyEach(names, verify);
    const unknown = [...unread, ...(await locked(config, (log) => beyond(log, before)))];
    return { before, after: before, unknown, records: records ?? 0, restored: 0, rebuilt: [] };
  }
  const { rebuilt, ...repaired } = await verifyAndRepair(names, {
    verify,
    restore: (urns) => locked(config, (log) => restore(stores, log, urns)),
    async rebuild(views) {
      await rebuild(config, { views, logger: options.logger, onProgress: () => {} });
    },
  });
  const unknown = await locked(config, (log) => beyond(log, repaired.after));
  return { ...repaired, unknown, records: records ?? 0, rebuilt } satisfies VerifiedStores;
};

type Verify = (views: readonly string[]) => Promise<readonly Verified[]>;

/** Verifies all views together; if one of them cannot be read, each by itself. */
async function verifyEach(
  views: readonly ViewName[],
  verify: Verify,
): Promise<{ readonly found: readonly Verified[]; readonly unread: VerifiedStores["unknown"] }> {
  try {
    return { found: await verify(views), unread: [] };
  } catch (error) {
    if (!isUnavailable(error) || views.length === 1) throw error;
  }
  const found: Verified[] = [];
  const unread: VerifiedStores["unknown"][number][] = [];
  for (const view of views) {
    try {
      appendAll(found, await verify([view]));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      unread.push({ view, reason: error.text });
    }
  }
  return { found, unread };
}

const isUnavailable = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.code === "unavailable";

/** Views that lack changes of the log, because no projector runs. */
async function beyond(
  log: Pick<ChangeLog, "readAll" | "head">,
  found: readonly Verified[],
): Promise<VerifiedStores["unknown"]> {
  const head = await log.head();
  const unknown: VerifiedStores["unknown"][number][] = [];
  for (const { view, position } of found) {
    if (!(await hasChangesAfter(log, position))) continue;
    const reason = `the view is at position ${position} and the log ends at ${head}: start the service; if the view stays behind, rebuild it`;
    unknown.push({ view, reason });
  }
  return unknown;
}

const PAGE_MAX = 500;

async function hasChangesAfter(
  log: Pick<ChangeLog, "readAll">,
  position: Position,
): Promise<boolean> {
  for (let at = position; ; ) {
    const page = await log.readAll(at, { limit: PAGE_MAX });
    if (page.some(({ stream }) => parseStream(stream) !== undefined)) return true;
    const last = page.at(-1);
    if (last === undefined) return false;
    at = last.position;
  }
}

function viewsOf(asked: readonly string[]): readonly ViewName[] {
  const unknown = asked.find((name) => !viewNames.some((view) => view === name));
  if (unknown !== undefined) throw noSuchView(unknown, viewNames);
  return asked.length === 0 ? viewNames : viewNames.filter((view) => asked.includes(view));
}

/** The log is opened for writing: parked records are written to it. */
const locked = <T>(config: Config, work: (log: ChangeLog) => Promise<T>): Promise<T> =>
  withLockedLog(config, "verify", work);

/** Restores entities in every view. */
async function restore(
  stores: StoresConfig,
  log: ChangeLog,
  urns: readonly string[],
): Promise<true> {
  const opened = await openViews(stores);
  try {
    const notes = parkingIn(log);
    const views = await Promise.all(
      opened.map(async (view) => ({
        view,
        position: await view.sink.position(),
        parking: await openParkingOf(view, notes, Date.now),
      })),
    );
    for (const slice of slicesOf(urns, restoredMax)) {
      await restoreEntities(slice, { log, decode: decodeRecord, views });
    }
  } finally {
    for (const { sink } of opened) await sink.close();
  }
  return true;
}
