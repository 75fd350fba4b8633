/**
 * Opens views for verification: their stored rows (row-adapters.ts), and the projections that fold
 * the log into the expected rows.
 */
import { createAspectProjection } from "../../../projections/aspects.ts";
import { createGraphProjection } from "../../../projections/graph/graph.ts";
import { createSearchProjection } from "../../../projections/search/search.ts";
import { createTimeseriesProjection } from "../../../projections/timeseries.ts";
import type { Position } from "../../core/position.ts";
import { appendAll } from "../../lib/lists.ts";
import { ownValue } from "../../lib/own-value.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { copyByStream } from "../../log/sqlite/log-copy.ts";
import { createVerifier } from "../../projector/verify/entities/verify-entities.ts";
import { type VerificationResult, verifyViews } from "../../projector/verify/verification.ts";
import type { VerificationSummary } from "../../projector/verify/verified-state.ts";
import type { FoldedView, VerifiedView } from "../../projector/verify/view-rows.ts";
import { aspectRowShape, foldAspectRows } from "../../views/aspects/folded-rows.ts";
import { foldGraphRows, graphRowShape } from "../../views/graph/folded-rows.ts";
import { foldSearchRows, searchRowShape } from "../../views/search/folded-rows.ts";
import { foldTimeseriesRows, timeseriesRowShape } from "../../views/timeseries/folded-rows.ts";
import { openLogReader } from "../open-log.ts";
import { sharedLog, type ViewName } from "../store-locations.ts";
import type { StoresConfig } from "../stores.ts";
import { openViewRows, type StagingGenerations } from "./row-adapters.ts";
import { openVerifiedState } from "./verified-state.ts";

/** Throws `unavailable` for a view that cannot be read; a view in a server may be created later. */
export async function openVerifiedViews(
  config: StoresConfig,
  names: readonly ViewName[],
  beside: StagingGenerations = {},
): Promise<readonly VerifiedView[]> {
  const opened: VerifiedView[] = [];
  try {
    for (const name of names) {
      const rows = await openViewRows(config, name, beside);
      opened.push({ ...foldedView(config, name), rows });
    }
    return opened;
  } catch (error) {
    for (const { rows } of opened) await rows.close();
    throw error;
  }
}

function foldedView({ rules }: StoresConfig, name: ViewName): FoldedView {
  const { keyAspects, graph, search } = rules;
  const keyAspectOf = (type: string) => ownValue(keyAspects, type);
  switch (name) {
    case "aspects": {
      const fold = foldAspectRows(createAspectProjection(keyAspectOf));
      return { name, shape: aspectRowShape, fold };
    }
    case "timeseries": {
      const fold = foldTimeseriesRows(createTimeseriesProjection(keyAspectOf));
      return { name, shape: timeseriesRowShape, fold };
    }
    case "graph": {
      const project = createGraphProjection(graph, keyAspectOf);
      return {
        name,
        shape: graphRowShape,
        fold: foldGraphRows(project),
        mentions: (change) =>
          project(change).flatMap((write) =>
            write.op === "replace"
              ? write.edges.flatMap(({ source, destination }) => [source, destination])
              : [],
          ),
      };
    }
    case "search": {
      const fold = foldSearchRows({
        project: createSearchProjection(search),
        foldEvents: foldTimeseriesRows(createTimeseriesProjection(keyAspectOf)),
        eventsOf: (type) => ownValue(search.events, type) ?? [],
        keyAspectOf,
      });
      return { name, shape: searchRowShape, fold, foldedFrom: "aspects", eventsFrom: "timeseries" };
    }
  }
}

/** With `next`: the staging generations, whose results are not stored. */
interface VerifyOptions extends StagingGenerations {
  readonly views: readonly ViewName[];
  /** Compares only entities with a record after it. */
  readonly since?: Position | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Verifies views and stores the result. */
export async function verifyStoredViews(
  config: StoresConfig,
  options: VerifyOptions,
): Promise<VerificationResult> {
  const { views: names, since, next, staged, onProgress, signal } = options;
  const closing: (() => unknown)[] = [];
  try {
    // All entities are compared: a log in a server is read forward in pages, not stream by stream.
    const isCopied = sharedLog(config) && since === undefined;
    const opened = await openLogReader(config);
    const log = isCopied ? copyByStream(opened, config.data) : opened;
    closing.push(() => log.close());

    const views = await openVerifiedViews(config, names, { next, staged });
    appendAll(
      closing,
      views.map(
        ({ rows }) =>
          () =>
            rows.close(),
      ),
    );
    const state = next ? undefined : openVerifiedState(config);
    closing.push(() => state?.close());
    const verifier = createVerifier({ log, decode: decodeRecord, views });
    const around = { now: Date.now, onProgress, signal };
    const result = await verifyViews(
      { log, views, verifier, catchesUp: next, ...around },
      { since },
    );
    if (state !== undefined) state.save(resultsToStore(result, since, state.load()));
    return result;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/**
 * A partial verification (`since`) without differences does not replace a result with differences.
 */
function resultsToStore(
  { views }: VerificationResult,
  since: Position | undefined,
  before: Readonly<Record<string, VerificationSummary>>,
): VerificationResult["views"] {
  if (since === undefined) return views;
  return views
    .filter(({ view, count }) => count > 0 || (before[view]?.count ?? 0) === 0)
    .map((one) => ({ ...one, full: before[one.view]?.full, whole: before[one.view]?.whole }));
}
