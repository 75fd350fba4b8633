/**
 * What commands do to a data directory without a service: printing its log, regrowing its views.
 */
import { resolve } from "node:path";
import type { LoggedRecord, LogQuery, Operations, Rebuilt } from "./cli/operations.ts";
import type { Config } from "./config/config.ts";
import { embedded } from "./config/kinds.ts";
import { configuredModel } from "./configured-model.ts";
import { CatalogError } from "./core/errors.ts";
import { ownCommand } from "./core/own-command.ts";
import { type Position, type Revision, START } from "./core/position.ts";
import { clearEditions } from "./edition-readers.ts";
import type { ChangeLog } from "./log/change-log.ts";
import { copyLog } from "./log/copy-log.ts";
import type { ParkingRecord } from "./log/parking-codec.ts";
import { decodeRecord } from "./log/record-codec.ts";
import { checkNamespace, writtenNamespace } from "./log/written-namespace.ts";
import { noteParking, type Parked, readParking } from "./projector/parking.ts";
import { regrow } from "./projector/regrow.ts";
import { requireEqual, verifyGrowing } from "./projector/verify/verify-editions.ts";
import {
  foldedViews,
  lockData,
  openLog,
  openLogReader,
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
import {
  spareThreads,
  type VerifyOptions,
  verifyModule,
  verifyStoredViews,
} from "./verified-views.ts";

/** Records a page of `annals log` holds. */
const logPageMax = 500;

/** Operations.readLog. */
export async function* readLog(
  config: Config,
  query: LogQuery,
): AsyncIterable<readonly LoggedRecord[]> {
  requireLog(config);
  const log = await openLogReader(config);
  try {
    let left = query.limit;
    let place: number | "end" = startOf(query);
    while (left > 0) {
      const options = { limit: Math.min(left, logPageMax), backward: query.backward };
      const page =
        query.stream === undefined
          ? await log.readAll(place as Position | "end", options)
          : await log.readStream(query.stream, place as Revision | "end", options);
      const last = page.at(-1);
      if (last === undefined) return;
      yield page.flatMap((record) => {
        const change = decodeRecord(record);
        return change === undefined ? [] : [{ ...record, change }];
      });
      left -= page.length;
      if (query.stream === undefined) place = last.position;
      else place = last.revision + (query.backward ? -1 : 1);
      if (place < 0) return;
    }
  } finally {
    await log.close();
  }
}

function startOf({ from, stream, backward }: LogQuery): number | "end" {
  if (from !== undefined) return from;
  if (backward) return "end";
  return stream === undefined ? START : 0;
}

/** Operations.rebuild. */
export const rebuild: Operations["rebuild"] = async (config, { views, onProgress }) => {
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
      const comparison = startComparison(
        stores,
        all.flat().filter((name) => !sharedView(config, name)),
      );
      try {
        for (const names of all) {
          const beside = { beside: grown, next: true, bulk: true };
          const opened = await openViews(stores, { names, ...beside });
          const records = await regrow({
            ...{ log, views: opened, decode: decodeRecord, notes, onProgress },
            // Those in servers take the places of others as they are closed.
            onGrown: (places) =>
              requireGrown(
                stores,
                names.filter((name) => name in places),
                places,
              ),
          });
          rebuilt.push(...names.map((view) => ({ view, records })));
          grown.push(...names.filter((name) => !sharedView(config, name)));
        }
        await comparison.end();
        putInPlaceAtRest(config, grown);
      } finally {
        await comparison.giveUp();
        clearEditions(config, grown);
      }
      return rebuilt;
    } finally {
      await log.close();
    }
  } finally {
    lock.release();
  }
};

/** Compares views of the directory with the log, which is folded while they are grown. */
function startComparison(stores: StoresConfig, views: readonly ViewName[]) {
  const closed = Promise.withResolvers<readonly Parked[]>();
  closed.promise.catch(() => {});
  const beside = { niceness: 0, threads: spareThreads() };
  const { signal } = new AbortController();
  const growing = { views, parked: closed.promise };
  const compared =
    views.length === 0
      ? Promise.resolve()
      : verifyGrowing({ ...verifyModule, config: stores }, growing, signal, beside);
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

/** They stand still in servers, and take the places of others when they are what the log says. */
async function requireGrown(
  stores: StoresConfig,
  views: readonly ViewName[],
  grown: VerifyOptions["grown"],
): Promise<void> {
  if (views.length === 0) return;
  const asked = { views, grown, grade: "full", next: true, threads: spareThreads() } as const;
  // What they pass over is noted in the log by now.
  requireEqual(await verifyStoredViews(stores, asked), []);
}

/** What this command does to a directory, a service that has it does itself. */
function lockOrSay(config: Config, command: string): ReturnType<typeof lockData> {
  try {
    return lockData(config);
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== "unavailable") throw error;
    throw new CatalogError("unavailable", error.message, {
      hint: `Stop that one first, or let it do the work: ${ownCommand(`${command} --server <its address>`)}`,
      cause: error,
    });
  }
}

/** Operations.copyLog. */
export const copyLogTo: Operations["copyLog"] = async (config, { to, onProgress }) => {
  requireLog(config);
  const isUrl = /^[a-z+]+:\/\//.test(to);
  // A log in a server keeps what it knows of the names of streams in the directory of its node.
  const target = isUrl ? { data: config.data, log: to } : { data: resolve(to), log: embedded };
  if (target.data === config.data && target.log === config.log) {
    throw new CatalogError("invalid", `"${to}" is where the log is`, {
      hint: "Name another place with --to",
    });
  }
  const locks = [...new Set([config.data, target.data])].map((data) => lockData({ data }));
  try {
    const from = await openLogReader(config);
    try {
      const other = await openLog(target);
      try {
        await checkNamespace(other, (await writtenNamespace(from)) ?? config.urnNamespace, to);
        return await copyLog(from, other, ({ position, head }) => onProgress(position, head));
      } finally {
        await other.close();
      }
    } finally {
      await from.close();
    }
  } finally {
    for (const lock of locks) lock.release();
  }
};

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
  throw new CatalogError("invalid", `there is no view "${name}"`, {
    hint: `There are ${viewNames.join(", ")}`,
  });
}
