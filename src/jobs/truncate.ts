/**
 * Truncation of a timeseries aspect: a record in a stream of its own, which the timeseries view
 * projects, so that no rebuild and no restore returns the events. They are hidden as soon as the view
 * has the record; the job is done when the store has deleted them.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Caller } from "../catalog/catalog.ts";
import { type Change, NO_RUN_ID } from "../core/change.ts";
import { assert, CatalogError } from "../core/errors.ts";
import { NOTHING } from "../core/job-counts.ts";
import { type Position, position } from "../core/position.ts";
import { truncationStream } from "../core/stream.ts";
import { nearest } from "../lib/did-you-mean.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import type { TimeseriesIndex, TimeseriesReader } from "../views/timeseries/timeseries-table.ts";
import type { Jobs, JobWork, OperationResult } from "./jobs.ts";
import type { TruncateRequest } from "./operations.ts";

/** Events of one transaction: the maximum and the default. */
const batchSizeMax = 10_000;
/** Interval of reads of the store's progress. */
const pollMs = 25;
const ID_BYTES = 16;

interface Dependencies {
  readonly model: Model;
  readonly log: Pick<ChangeLog, "append">;
  readonly encode: (change: Change) => Uint8Array;
  readonly reader: Pick<TimeseriesReader, "countOlder" | "findTruncation">;
  readonly systemActor: string;
  readonly now: () => number;
  /** Waits until the view has reached the current head of the log. */
  readonly caughtUp: () => Promise<void>;
  readonly onAppended: (position: Position) => void;
}

/** The request of a job. */
interface Truncation extends TimeseriesIndex {
  readonly endTimeMillis: number;
  readonly batchSize: number;
  readonly timeoutSeconds: number | undefined;
  readonly actor: string;
}

export function createTruncation(dependencies: Dependencies) {
  const { log, encode, reader, now } = dependencies;

  async function append(id: string, asked: Truncation): Promise<Position> {
    const { entityType, aspect, endTimeMillis, batchSize, actor } = asked;
    const created = { time: now(), actor };
    const record = encode({
      urn: "",
      entityType,
      aspect,
      changeType: "DELETE",
      created,
      system: { lastObserved: created.time, runId: NO_RUN_ID },
      // As projections/timeseries.ts reads them.
      headers: { "annals-before": String(endTimeMillis), "annals-batch": String(batchSize) },
    });
    const stream = truncationStream(entityType, aspect);
    const [appended] = await log.append([
      { stream, expected: "any", records: [record], id: idOf(id) },
    ]);
    assert(appended !== undefined, "an append is answered");
    dependencies.onAppended(appended.position);
    return appended.position;
  }

  /** Idempotent: the record has the job's id, and the log appends it once. */
  const work: JobWork = async (run) => {
    const asked = run.request as Truncation;
    const begun = performance.now();
    let { total } = run.counts;
    let at = (run.checkpoint as { position: number } | undefined)?.position;
    if (at === undefined) {
      await dependencies.caughtUp();
      total = (await reader.countOlder(asked, asked.endTimeMillis)).older;
      run.signal.throwIfAborted();
      run.commit("The truncation is in the log, and its events are hidden");
      at = await append(run.id, asked);
      await run.report({ ...NOTHING, total }, { position: at });
    }
    for (;;) {
      const { deleted, batches, done } = (await reader.findTruncation(position(at))) ?? {
        deleted: 0,
        batches: 0,
        done: false,
      };
      const counts = {
        ...NOTHING,
        total: done ? deleted : Math.max(total, deleted),
        deleted,
        batches,
      };
      await run.report(counts, { position: at });
      if (done) return;
      if (performance.now() - begun > (asked.timeoutSeconds ?? Infinity) * 1_000) {
        throw new CatalogError(
          "unavailable",
          `the truncation took more than ${asked.timeoutSeconds} seconds`,
          {
            hint: "The truncated events are hidden; the store continues to delete them in the background",
          },
        );
      }
      await delay(pollMs, undefined, { signal: run.signal });
    }
  };

  return {
    work,

    async truncate(request: TruncateRequest, caller: Caller, jobs: Jobs): Promise<OperationResult> {
      const index = indexOf(dependencies.model, request);
      const { forceDeleteByQuery, forceReindex, endTimeMillis, timeoutSeconds } = request;
      if (forceDeleteByQuery !== undefined && forceDeleteByQuery === forceReindex) {
        return { text: "please only set forceReindex OR forceDeleteByQuery flags" };
      }
      if (request.dryRun !== false) {
        await dependencies.caughtUp();
        const { events, older } = await reader.countOlder(index, endTimeMillis);
        return { text: dryRun(older, events, forceDeleteByQuery === true) };
      }
      const asked: Truncation = {
        ...index,
        endTimeMillis,
        batchSize: Math.min(request.batchSize ?? batchSizeMax, batchSizeMax),
        timeoutSeconds,
        actor: caller.actor ?? dependencies.systemActor,
      };
      const { id, position } = await jobs.start("truncate", asked, caller);
      return { text: id, position };
    },
  };
}

/** DataHub's text, which clients print. */
function dryRun(older: number, events: number, byQuery: boolean): string {
  const percent = events === 0 ? 0 : (100 * older) / events;
  const how = byQuery
    ? "Issuing a delete by query request. "
    : "Reindexing the aspect without the deleted records. ";
  return `Delete ${older} out of ${events} rows (${percent.toFixed(2)}%). ${how}This was a dry run. Run with dryRun = false to execute.`;
}

function indexOf(model: Model, request: TruncateRequest): TimeseriesIndex {
  const entity = model.findEntity(request.entityType);
  if (entity === undefined) {
    throw new CatalogError("invalid", `unknown entity type "${request.entityType.slice(0, 120)}"`, {
      hint: nearest(request.entityType, model.entities.keys()),
    });
  }
  const timeseries = entity.aspects.filter((name) => model.aspects.get(name)?.timeseries);
  const wanted = request.aspect.toLowerCase();
  const aspect = timeseries.find((name) => name.toLowerCase() === wanted);
  if (aspect !== undefined) return { entityType: entity.name, aspect };
  throw new CatalogError(
    "invalid",
    `unknown timeseries aspect "${request.aspect.slice(0, 120)}" for entity type "${entity.name}"`,
    {
      hint: `It has ${timeseries.length === 0 ? "none" : timeseries.join(", ")}; getIndexSizes lists all`,
    },
  );
}

const idOf = (job: string): Uint8Array =>
  createHash("sha256").update(job).digest().subarray(0, ID_BYTES);
