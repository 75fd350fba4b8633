/**
 * Opens views for verification: their rows as their stores have them, and what folds the log into
 * such rows. row-adapters.ts says with what.
 */
import { availableParallelism } from "node:os";
import { createAspectProjection } from "../projections/aspects.ts";
import { createGraphProjection } from "../projections/graph.ts";
import { createSearchProjection } from "../projections/search.ts";
import { createTimeseriesProjection } from "../projections/timeseries.ts";
import { aspectRowShape, foldAspectRows } from "./aspects/folded-rows.ts";
import { ownValue } from "./core/own-value.ts";
import { foldGraphRows, graphRowShape } from "./graph/folded-rows.ts";
import { countRecords } from "./log/change-log.ts";
import { copyByStream } from "./log/sqlite/log-copy.ts";
import { createVerifying } from "./projector/verify/batches.ts";
import { foldAhead } from "./projector/verify/fold-ahead.ts";
import { createHands } from "./projector/verify/hands.ts";
import { patientHands } from "./projector/verify/patient-hands.ts";
import {
  type Grade,
  type VerificationResult,
  verifyViews,
} from "./projector/verify/verification.ts";
import type { FoldedView, VerifiedView } from "./projector/verify/view-rows.ts";
import { type Beside, openViewRows, readInParts } from "./row-adapters.ts";
import { foldSearchRows, searchRowShape } from "./search/folded-rows.ts";
import { openLogReader, type StoresConfig, sharedLog, type ViewName } from "./stores.ts";
import { foldTimeseriesRows, timeseriesRowShape } from "./timeseries/folded-rows.ts";
import { openVerifiedState } from "./verified-state.ts";

export { openLogReader };

/** Threads beside the first, where there is nothing else to do; more would wait for the disk. */
export const spareThreads = (): number => Math.min(3, availableParallelism() - 1);

/** Records of a log from which more threads are worth their start. */
const worthThreads = 50_000;

/** Throws `unavailable` for a view that cannot be read; one in a server may come to be later. */
export async function openVerifiedViews(
  config: StoresConfig,
  names: readonly ViewName[],
  beside: Beside = {},
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

/** With `next`: the editions beside those in place, of which nothing is known and nothing remembered. */
export interface VerifyOptions extends Beside {
  readonly views: readonly ViewName[];
  readonly grade: Grade;
  /** Entities to look at in any case. */
  readonly urns?: readonly string[] | undefined;
  /** Nothing that is remembered counts, and nothing is remembered of it. */
  readonly forgotten?: true;
  /** Threads beside this one, where the log is long enough. */
  readonly threads: number;
  /**
   * When given: what the log says is folded at once, and the views are opened when it resolves. They
   * are where the log is now by then, or further.
   */
  readonly ready?: Promise<void> | undefined;
  /** Called after some batches with the milliseconds that each of so many threads worked: lets others have the machine. */
  readonly rest?: ((ms: number, hands: number) => Promise<void>) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Verifies views, and remembers what was found. */
export async function verifyStoredViews(
  config: StoresConfig,
  options: VerifyOptions,
): Promise<VerificationResult> {
  const { views: names, urns, next, grown, threads, ready, rest, onProgress, signal } = options;
  const forgotten = next === true || options.forgotten === true;
  const closing: (() => unknown)[] = [];
  try {
    // All entities are compared: a log in a server is read forward in pages, not stream by stream.
    const isCopied = sharedLog(config) && options.grade !== "touched";
    const opened = await openLogReader(config);
    const log = isCopied ? copyByStream(opened, config.data) : opened;
    closing.push(() => log.close());
    const folded = names.map((name) => foldedView(config, name));
    // A view that is folded from others has no sums: it is compared entity by entity once it is rebuilt.
    const summed = folded.filter(({ foldedFrom }) => foldedFrom === undefined);
    const ahead = ready && (await foldAhead(log, summed, { rest, signal }));
    await ready;
    const views = await openVerifiedViews(config, names, { next, grown });
    closing.push(
      ...views.map(
        ({ rows }) =>
          () =>
            rows.close(),
      ),
    );
    const state = forgotten ? undefined : openVerifiedState(config);
    closing.push(() => state?.close());
    const worth = !isCopied && (await countRecords(log)) >= worthThreads;
    const others = Array.from({ length: worth ? threads : 0 }, () => ({
      module: import.meta.url,
      config,
      views: names,
      beside: { next, grown },
    }));
    // Nothing is written to those that are beside.
    const inParts = new Set(names.filter((name) => !next && readInParts(config, name)));
    const hands = patientHands(createHands(createVerifying(log, views), others), inParts);
    closing.push(() => hands.close());
    const before = ahead ?? state?.load() ?? {};
    const grade = ahead === undefined ? options.grade : "whole";
    const around = { now: Date.now, rest, onProgress, signal };
    const parts = { log, views, hands, before, broughtOn: next, ...around };
    const result = await verifyViews(parts, { grade, urns });
    state?.save(result.views);
    return result;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
