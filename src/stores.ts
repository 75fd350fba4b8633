/**
 * Opens the stores that a configuration names. With service.ts this is the only file that knows
 * adapters; the projector's thread comes here for its views, and the commands that work on a data
 * directory without a service.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAspectProjection } from "../projections/aspects.ts";
import { createTimeseriesProjection } from "../projections/timeseries.ts";
import type { AspectReader } from "./aspects/aspect-table.ts";
import { openSqliteAspectReader } from "./aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteAspectSink } from "./aspects/sqlite/sqlite-aspect-sink.ts";
import type { LoggedRecord, LogQuery, Operations, Rebuilt } from "./cli/operations.ts";
import type { Config } from "./config/config.ts";
import { CatalogError } from "./core/errors.ts";
import { type Position, type Revision, START } from "./core/position.ts";
import type { ChangeLog } from "./log/change-log.ts";
import { decodeRecord } from "./log/record-codec.ts";
import { lockDirectory } from "./log/sqlite/lock.ts";
import { openSqliteChangeLog } from "./log/sqlite/sqlite-change-log.ts";
import { loadModel } from "./model/load-model.ts";
import type { Model } from "./model/model.ts";
import { regrow } from "./projector/regrow.ts";
import type { View } from "./projector/sink.ts";
import { openSqliteTimeseriesReader } from "./timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesSink } from "./timeseries/sqlite/sqlite-timeseries-sink.ts";
import type { TimeseriesReader } from "./timeseries/timeseries-table.ts";

/** What a thread needs to open the same stores; plain data. */
export type StoresConfig = Pick<
  Config,
  "data" | "model" | "modelExtension" | "recordPrefix" | "urnNamespace"
>;

export const viewNames = ["aspects", "timeseries"] as const;
type ViewName = (typeof viewNames)[number];

const fileOf = (config: StoresConfig, name: "log" | ViewName): string =>
  join(config.data, `${name}.sqlite`);

export const openModel = (config: StoresConfig): Model =>
  loadModel({
    directories: [config.model, ...config.modelExtension],
    prefix: config.recordPrefix,
    namespace: config.urnNamespace,
  });

export function openLog(config: StoresConfig): Promise<ChangeLog> {
  mkdirSync(config.data, { recursive: true, mode: 0o700 });
  return openSqliteChangeLog({ file: fileOf(config, "log") });
}

/** The log for reading only, beside a writer in another thread or process. */
export const openLogReader = (config: StoresConfig): Promise<ChangeLog> =>
  openSqliteChangeLog({ file: fileOf(config, "log"), readOnly: true });

/** The views for writing; with `bulk` grown from nothing and put in place when closed. */
export async function openViews(
  config: StoresConfig,
  options: { readonly names?: readonly ViewName[]; readonly bulk?: boolean } = {},
): Promise<readonly View[]> {
  const { names = viewNames, bulk } = options;
  const model = openModel(config);
  const keyAspectOf = (type: string) => model.entities.get(type)?.keyAspect;
  const file = (name: ViewName) => ({
    path: fileOf(config, name),
    model: model.fingerprint,
    bulk,
  });
  const open: Record<ViewName, () => View> = {
    aspects: () =>
      ({
        name: "aspects",
        project: createAspectProjection(keyAspectOf),
        sink: openSqliteAspectSink(file("aspects")),
      }) as View,
    timeseries: () =>
      ({
        name: "timeseries",
        project: createTimeseriesProjection(keyAspectOf),
        sink: openSqliteTimeseriesSink(file("timeseries")),
      }) as View,
  };
  return names.map((name) => open[name]());
}

/** The read sides; the views must have been opened for writing once before. */
export function openReaders(config: StoresConfig): {
  readonly aspects: AspectReader;
  readonly timeseries: TimeseriesReader;
} {
  return {
    aspects: openSqliteAspectReader(fileOf(config, "aspects")),
    timeseries: openSqliteTimeseriesReader(fileOf(config, "timeseries")),
  };
}

/** Records a page of `annals log` holds. */
const logPageMax = 500;

/** Operations.readLog. */
export async function* readLog(
  config: Config,
  query: LogQuery,
): AsyncIterable<readonly LoggedRecord[]> {
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
  const names = views.length === 0 ? viewNames : views.map(viewName);
  const lock = lockDirectory(config.data);
  try {
    const log = await openLogReader(config);
    try {
      const opened = await openViews(config, { names, bulk: true });
      const head = await regrow({ log, views: opened, decode: decodeRecord, onProgress });
      return names.map((view): Rebuilt => ({ view, records: head }));
    } finally {
      await log.close();
    }
  } finally {
    lock.release();
  }
};

function viewName(name: string): ViewName {
  const known = viewNames.find((view) => view === name);
  if (known !== undefined) return known;
  throw new CatalogError("invalid", `there is no view "${name}"`, {
    hint: `There are ${viewNames.join(" and ")}`,
  });
}
