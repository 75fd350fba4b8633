/**
 * Opens the stores that a configuration names. With service.ts this is the only file that knows
 * adapters. The projector's thread comes here for its views; it gets what it needs of the model as
 * plain data, so that the model is loaded once in a process.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createAspectProjection } from "../projections/aspects.ts";
import { createGraphProjection, forgettingOf } from "../projections/graph.ts";
import { compileGraphRules, type GraphRules } from "../projections/graph-rules.ts";
import { createSearchProjection } from "../projections/search.ts";
import { compileSearchRules, type SearchRules } from "../projections/search-rules.ts";
import { createTimeseriesProjection } from "../projections/timeseries.ts";
import type { AspectReader } from "./aspects/aspect-table.ts";
import { openSqliteAspectReader } from "./aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteAspectSink } from "./aspects/sqlite/sqlite-aspect-sink.ts";
import type { Config } from "./config/config.ts";
import { CatalogError } from "./core/errors.ts";
import type { Position } from "./core/position.ts";
import type { GraphReader } from "./graph/graph.ts";
import { openSqliteGraphReader } from "./graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteGraphSink } from "./graph/sqlite/sqlite-graph-sink.ts";
import type { ChangeLog } from "./log/change-log.ts";
import { type DirectoryLock, lockDirectory } from "./log/sqlite/lock.ts";
import { openSqliteChangeLog } from "./log/sqlite/sqlite-change-log.ts";
import type { Model } from "./model/model.ts";
import { createFoldingView } from "./projector/folding.ts";
import type { View } from "./projector/sink.ts";
import type { ViewFile } from "./projector/sqlite/sqlite-view.ts";
import type { Emptied } from "./projector/view-origin.ts";
import type { SearchReader, SearchWrite } from "./search/search.ts";
import { openSqliteSearchReader } from "./search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "./search/sqlite/sqlite-search-sink.ts";
import type { Logger } from "./telemetry/logger.ts";
import { openSqliteTimeseriesReader } from "./timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesSink } from "./timeseries/sqlite/sqlite-timeseries-sink.ts";
import type { TimeseriesReader } from "./timeseries/timeseries-table.ts";

/** What it takes to open the stores; plain data, so that a thread can be given it. */
export interface StoresConfig extends Pick<Config, "data"> {
  readonly rules: ViewRules;
  /** What feeds the views; undefined where that is not known, as in a log that has no id. */
  readonly log?: { readonly id: string; readonly head: Position } | undefined;
}

/** The log as views remember it. */
export async function originOf(log: ChangeLog): Promise<StoresConfig["log"]> {
  return log.id === undefined ? undefined : { id: log.id, head: await log.head() };
}

/** All that the projections know of the model. */
export interface ViewRules {
  /** Of the model and of what the projections read in it; views carry it. */
  readonly fingerprint: string;
  /** By entity type. */
  readonly keyAspects: Readonly<Record<string, string>>;
  readonly graph: GraphRules;
  readonly search: SearchRules;
}

export function viewRules(model: Model): ViewRules {
  const graph = compileGraphRules(model);
  const search = compileSearchRules(model);
  const rules = JSON.stringify([model.fingerprint, [...graph], search]);
  return {
    fingerprint: createHash("sha256").update(rules).digest("hex").slice(0, 32),
    keyAspects: Object.fromEntries(
      [...model.entities.values()].map(({ name, keyAspect }) => [name, keyAspect]),
    ),
    graph,
    search,
  };
}

/** What is up- and downstream of what, for the catalog. */
export { lineageSteps } from "../projections/graph-lineage.ts";
/** How texts become words, for the catalog: questions are split as documents were. */
export { foldText, tokensOf } from "../projections/search-words.ts";

/** The projector feeds them in this order. */
export const viewNames = ["aspects", "timeseries", "graph", "search"] as const;
export type ViewName = (typeof viewNames)[number];

/** Some 100 MB. */
const FOLDED_WHEN_GROWN_MAX = 1_000_000;

/** Views that are folded from the aspect view, which has to be there first. */
export const foldedViews: ReadonlySet<ViewName> = new Set(["search"]);

const fileOf = (config: Pick<Config, "data">, name: "log" | ViewName): string =>
  join(config.data, `${name}.sqlite`);

/** One process per data directory: throws `unavailable` when another has it. Makes the directory. */
export const lockData = (config: Pick<Config, "data">): DirectoryLock => lockDirectory(config.data);

/** Throws `invalid` where no service has written yet. */
export function requireLog(config: Pick<Config, "data">): void {
  if (existsSync(fileOf(config, "log"))) return;
  throw new CatalogError("invalid", `there is no log in "${config.data}"`, {
    hint: "Name the data directory of a service with --data",
  });
}

/** The log for appending; the directory must be there. */
export const openLog = (
  config: Pick<Config, "data">,
  options: { readonly logger?: Pick<Logger, "info" | "error"> } = {},
): Promise<ChangeLog> => openSqliteChangeLog({ file: fileOf(config, "log"), ...options });

/** The log for reading only, beside a writer in another thread or process. */
export const openLogReader = (config: Pick<Config, "data">): Promise<ChangeLog> =>
  openSqliteChangeLog({ file: fileOf(config, "log"), readOnly: true });

/**
 * The views for writing; with `bulk` grown from nothing and put in place when closed. Folded ones
 * read the aspect view that is in place then.
 */
export async function openViews(
  config: StoresConfig,
  options: {
    readonly names?: readonly ViewName[];
    readonly bulk?: boolean;
    /** Called for a view that was made of something else, and is empty now. */
    readonly onEmptied?: (view: ViewName, why: Emptied) => void;
  } = {},
): Promise<readonly View[]> {
  const { names = viewNames, bulk } = options;
  const { keyAspects, fingerprint, graph, search } = config.rules;
  const keyAspectOf = (type: string) => keyAspects[type];
  const file = (name: ViewName) => ({
    path: fileOf(config, name),
    model: fingerprint,
    log: config.log,
    onEmptied: (why: Emptied) => options.onEmptied?.(name, why),
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
    graph: () =>
      ({
        name: "graph",
        project: createGraphProjection(graph, keyAspectOf),
        sink: openSqliteGraphSink(file("graph")),
        bearing: forgettingOf,
      }) as View,
    search: () => openSearchView(search, file("search"), fileOf(config, "aspects")),
  };
  return names.map((name) => open[name]());
}

function openSearchView(rules: SearchRules, file: ViewFile, aspects: string): View {
  const project = createSearchProjection(rules);
  return createFoldingView<SearchWrite>({
    name: "search",
    sink: openSqliteSearchSink(file),
    states: openSqliteAspectReader(aspects),
    // Grown anew, the aspect view is at its end: each entity is folded once.
    foldedMax: file.bulk ? FOLDED_WHEN_GROWN_MAX : undefined,
    fold(state, entityType, position) {
      const document = project(state, entityType);
      return document === undefined
        ? { op: "remove", position, urn: state.urn }
        : { op: "put", position, document };
    },
  }) as View;
}

/** How far the aspect view is. Throws `unavailable` when it is not there or cannot be read. */
export async function aspectPosition(config: Pick<Config, "data">): Promise<Position> {
  const reader = openSqliteAspectReader(fileOf(config, "aspects"));
  try {
    return await reader.position();
  } finally {
    await reader.close();
  }
}

/** The read sides; the views must have been opened for writing once before. */
export function openReaders(config: Pick<Config, "data">): {
  readonly aspects: AspectReader;
  readonly timeseries: TimeseriesReader;
  readonly graph: GraphReader;
  readonly search: SearchReader;
} {
  return {
    aspects: openSqliteAspectReader(fileOf(config, "aspects")),
    timeseries: openSqliteTimeseriesReader(fileOf(config, "timeseries")),
    graph: openSqliteGraphReader(fileOf(config, "graph")),
    search: openSqliteSearchReader(fileOf(config, "search")),
  };
}
