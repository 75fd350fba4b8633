/**
 * The log of a service, the projector that applies it to the views, and the readers of the views. The caller
 * closes what `opened` lists, the last first.
 */
import { randomUUID } from "node:crypto";
import type { Worker } from "node:worker_threads";
import type { Config } from "../config/config.ts";
import { CatalogError, messageOf } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { type ChangeLog, recordsBetween } from "../log/change-log.ts";
import { checkNamespace } from "../log/written-namespace.ts";
import type { Model } from "../model/model.ts";
import { writeParking } from "../projector/parking/parking.ts";
import { subscribeToBatches } from "../projector/thread/batch-telemetry.ts";
import { catchUp } from "../projector/thread/catch-up.ts";
import type { Progress } from "../projector/thread/progress.ts";
import { startProjectorThread } from "../projector/thread/projector-client.ts";
import { hasSpace } from "../storage/sqlite/sqlite-errors.ts";
import type { Logger } from "../telemetry/logger.ts";
import { traceChangeLog } from "../telemetry/traced-change-log.ts";
import type { Traces } from "../telemetry/traces.ts";
import type { AspectReader } from "../views/aspects/aspect-table.ts";
import { openReaders } from "./adapters.ts";
import { configuredModel } from "./load-model.ts";
import { openLog } from "./open-log.ts";
import { sharedLog, sharedView, type ViewName, viewNames } from "./store-locations.ts";
import { storesConfig } from "./stores.ts";
import { clearStagingFiles, openSwappableReaders } from "./swappable-readers.ts";
import { checkViews, uncleanViews } from "./verification/unclean-views.ts";

const ASPECTS: ViewName = "aspects";

/** Limits of the wait of a start for the views to catch up after a crash. */
const catchUpLimits = {
  waitMsMax: Number.POSITIVE_INFINITY,
  stalledMsMax: 600_000,
  failingMsMax: 5_000,
  pollMs: 500,
};
/** A view that lacks more records is being built; a crash leaves fewer. */
const FAR_BEHIND = 20_000;
/** Time that a start waits for a view that is built again, and limit of its build. */
const BUILD_WAIT_MS = 5_000;
const BUILD_MS_MAX = 2 ** 31 - 1;

export interface Opening {
  readonly logger: Logger;
  /** Functions that close what was opened so far. */
  readonly opened: (() => unknown)[];
  /** Absent where no collector is configured. */
  readonly traces: Traces | undefined;
  /** ProjectorThreadOptions.worker */
  readonly projectorWorker?: Worker | undefined;
}

interface Meanwhile {
  /** Called while the projector's thread opens the views. */
  readonly meanwhile?: () => Promise<unknown>;
}

export type LogAndViews = Awaited<ReturnType<typeof openLogAndViews>>;

/** Returns when views in this process have all of the log. Throws CatalogError. */
export async function openLogAndViews(
  config: Config,
  { logger, opened, traces, projectorWorker, meanwhile }: Opening & Meanwhile,
) {
  const { model, rules } = configuredModel(config);
  let replacedLog = (): string | undefined => undefined;
  const openedLog = reportsFullDisk(await openLog(config, { logger }), config);
  const plainLog = rejectingAppends(openedLog, () => replacedLog());
  const log = traces === undefined ? plainLog : traceChangeLog(plainLog, traces);
  opened.push(() => log.close());
  await checkNamespace(log, config.urnNamespace, config.data);

  const batchChannel = traces && `batches of ${randomUUID()}`;
  const stores = { ...(await storesConfig(config, rules, log)), batchChannel };
  if (traces !== undefined && batchChannel !== undefined) {
    const heard = traceBatches(traces, batchChannel);
    opened.push(() => heard.close());
  }

  // Unfinished staging generations of the last process.
  clearStagingFiles(config);
  const unclean = uncleanViews(config);
  const starting = startProjectorThread({
    stores,
    writeParking: (view, record) => writeParking(log, view, record),
    worker: projectorWorker,
    logger,
  });
  const [projector] = await Promise.all([starting, meanwhile?.()]);
  opened.push(() => projector.close());
  replacedLog = projector.replacedLog;
  const head = await log.head();
  for (const [view, position] of Object.entries(projector.positions())) {
    if (position < head) logger.info({ view, position, head }, "view catches up with the log");
  }
  // Another process may project a shared view: until it has caught up, reads use the log.
  let isFull = !sharedLog(config) && !hasSpace(config.data);
  if (!sharedView(config, ASPECTS)) {
    await catchUp(projector, ASPECTS, head, catchUpLimits).catch((error: unknown) => {
      if (!isDiskFull(error)) throw error;
      isFull = true;
    });
  }
  if (isFull) logger.error({ data: config.data }, startsReadOnly);

  const begun = projector.positions();
  const rebuilt = viewNames.filter(
    (view) =>
      !sharedView(config, view) &&
      (projector.emptied()[view] !== undefined ||
        recordsBetween(log, begun[view] ?? START, head) > FAR_BEHIND),
  );
  const building = await stillBuilding(projector, rebuilt, head);
  const generations = openSwappableReaders(config, await openReaders(config));
  for (const { view, built } of building) {
    generations.rejectReads(view, "building", isRebuilt(view));
    void built.then((isBuilt) => isBuilt && generations.admit(view, "building"));
  }
  const { readers, readErrors } = generations;
  opened.push(
    () => readers.aspects.close(),
    () => readers.timeseries.close(),
    () => readers.graph.close(),
    () => readers.search.close(),
  );
  if (!sharedView(config, ASPECTS)) await warnOfUnknownTypes(readers.aspects, model, logger);
  const rejectDamaged = (view: string) =>
    generations.rejectReads(view, "damaged", isDamagedFile(view));
  for (const view of projector.damaged()) rejectDamaged(view);
  projector.onDamaged((view, isDamaged) => {
    if (isDamaged) return rejectDamaged(view);
    generations.admit(view, "damaged");
    generations.clearFailure(view);
  });
  const check = checkViews(config, unclean, { onDamaged: projector.markDamaged, logger });
  opened.push(() => check.close());
  /** Called after a rebuild, when the generations were swapped. */
  function onRebuilt(views: readonly string[]): void {
    for (const view of views) {
      generations.admit(view, "of another model");
      generations.clearFailure(view);
    }
  }
  return { model, rules, log, stores, projector, generations, readers, readErrors, onRebuilt };
}

/** Views that have not reached the end of the log in time; `built` resolves to true when they do. */
async function stillBuilding(
  projector: Pick<Progress, "reached">,
  views: readonly ViewName[],
  head: Position,
) {
  const reaches = (view: ViewName, timeoutMs: number): Promise<boolean> =>
    projector.reached(view, head, { timeoutMs, patient: true }).then(
      () => true,
      () => false,
    );
  const building = views.map(async (view) => {
    const isThere = await reaches(view, BUILD_WAIT_MS);
    return isThere ? [] : [{ view, built: reaches(view, BUILD_MS_MAX) }];
  });
  return (await Promise.all(building)).flat();
}

async function warnOfUnknownTypes(
  aspects: Pick<AspectReader, "countEntities">,
  model: Pick<Model, "entities">,
  logger: Logger,
): Promise<void> {
  const types = [...(await aspects.countEntities()).keys()];
  const unknown = types.filter((type) => !model.entities.has(type));
  if (unknown.length > 0) logger.warn({ types: unknown }, unknownTypes);
}

/** A log in the data directory names a full disk before the first append fails. */
function reportsFullDisk(log: ChangeLog, config: Config): ChangeLog {
  if (sharedLog(config)) return log;
  return { ...log, trouble: () => log.trouble?.() ?? diskTrouble(config.data) };
}

/**
 * Rejects appends while the log is not the one that the views were built from. The newer log may be
 * restored, which would lose them.
 */
function rejectingAppends(log: ChangeLog, replaced: () => string | undefined): ChangeLog {
  return {
    ...log,
    append(appends) {
      const why = replaced();
      if (why === undefined) return log.append(appends);
      return Promise.reject(new CatalogError("unavailable", `writes are rejected: ${why}`));
    },
  };
}

function diskTrouble(data: string): string | undefined {
  try {
    return hasSpace(data) ? undefined : `the disk of "${data}" is full: writes are rejected`;
  } catch (error) {
    return `the data directory cannot be read: ${messageOf(error)}`;
  }
}

/** Matches the messages of SQLite and of the operating system. */
const isDiskFull = (error: unknown): boolean => /disk is full|ENOSPC/.test(messageOf(error));

const startsReadOnly =
  "the disk is full: the service starts read-only and accepts writes again when there is space";

const isRebuilt = (view: ViewName): CatalogError =>
  new CatalogError("unavailable", `the view "${view}" is being rebuilt from the log`, {
    hint: "Try again; /status shows the progress of each view",
  });

const isDamagedFile = (view: string): CatalogError =>
  new CatalogError(
    "unavailable",
    `the file of the view "${view}", or of a view that it is built from, is damaged; it is rebuilt from the log`,
    { hint: "Try again; /status shows the progress. Check the disk of the data directory" },
  );

/** Turns the batch events of the projector's thread into spans. */
function traceBatches(traces: Traces, channel: string) {
  return subscribeToBatches(channel, ({ view, writes, upTo, start, end, error }) => {
    const attributes = { "annals.view": view, "annals.writes": writes, "annals.position": upTo };
    traces.note(`project ${view}`, attributes, { start, end, error });
  });
}

const unknownTypes =
  "the log holds entities of types that the model lacks; they are not shown. Name the model that has them with --model-extension";
