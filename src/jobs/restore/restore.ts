/**
 * restoreIndices: projects the selected entities from the log again, while the views serve reads
 * and follow the log. The request counts in rows, as in DataHub. Each selected entity is restored as
 * a whole, with timeseries and edges, so that no stale row of it stays.
 *
 * Progress: the job reports its counts and the last restored row after each batch, and the counts
 * after each 20 entities (`run.report`); jobs.ts writes them to the log every two seconds at most. The
 * response waits for the job up to `waitMsMax` and contains its batches so far (restore-response.ts);
 * getEsTaskStatus (task-status.ts) and getJob return the counts afterwards.
 */
import { setTimeout as delay, setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Caller } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { JobCounts } from "../../core/job-counts.ts";
import { entityStream } from "../../core/stream.ts";
import { parseUrn, patternWithNamespace, type UrnLimits, withNamespace } from "../../core/urn.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { streamNames } from "../../log/whole-reads.ts";
import { type Model, unknownEntityType } from "../../model/model.ts";
import type { Restoration } from "../../projector/thread/progress.ts";
import { createUrnPattern } from "../../views/aspects/urn-like.ts";
import type { Job, JobRun, Jobs, JobWork } from "../jobs.ts";
import type { Restored } from "../operations.ts";
import { entityRows, type RestoredRow } from "./entity-rows.ts";
import { expectRows } from "./progress-estimate.ts";
import type { RestoreRequest } from "./restore-response.ts";
import { type RestoredBatch, restoredText } from "./restore-response.ts";

/** Time that a response waits for the job, which continues afterwards. */
const waitMsMax = 10_000;
/** Entities restored before it yields to the event loop. */
const entitiesPerYieldMax = 20;
/** Length of a pattern or of a start urn: far more than a urn may have. */
const charactersMax = 16_384;
/** Entities of one message to the projector. */
const entitiesPerMessageMax = 100;
/** Batches in a response: the last ones. */
const batchesMax = 1_000;

interface Dependencies {
  readonly model: Model;
  readonly log: Pick<ChangeLog, "readStream" | "listStreams">;
  readonly restoration: Pick<Restoration, "restore">;
  /** Writes missing default aspects of the entities; returns their number. */
  readonly writeDefaults: (urns: readonly string[]) => Promise<number>;
  /** Restores the removed edges that aspects state, of entities by urn. */
  readonly restoreEdges: (aspects: ReadonlyMap<string, ReadonlySet<string>>) => Promise<number>;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  readonly now: () => number;
  readonly logger: { error(fields: object, message: string): void };
}

/** Where a job resumes: after the last row, with the numbers of rows skipped and restored before. */
interface RestoreCheckpoint {
  readonly urn: string;
  readonly aspect: string;
  readonly skipped: number;
  readonly taken: number;
}

/** Rows of one batch, and the entities that they belong to. */
interface Batch {
  readonly urns: Set<string>;
  readonly rows: { readonly urn: string; readonly row: RestoredRow }[];
  begun: number;
}

export function createRestoring(dependencies: Dependencies) {
  const { model, log, restoration, namespace } = dependencies;
  /** Batches of this process's jobs, for the responses that wait for them. */
  const done = new Map<string, RestoredBatch[]>();

  /** Deletes the batches of a job when no response waits for it: a response waits for waitMsMax. */
  function evictLater(id: string): void {
    setTimeout(() => done.delete(id), 2 * waitMsMax).unref();
  }

  /** The validated request, as the job stores it. */
  function checked(request: RestoreRequest): RestoreRequest {
    const { urnLike, lastUrn, lastAspect, gePitEpochMs, lePitEpochMs } = request;
    const named = (text: string): string => {
      const urn = withNamespace(text, namespace);
      const { entityType } = parseUrn(urn, dependencies.urnLimits);
      if (model.entities.has(entityType)) return urn;
      throw unknownEntityType(model, entityType, "invalid");
    };
    for (const name of aspectsOf(request)) {
      if (model.aspects.has(name)) continue;
      throw new CatalogError("invalid", `unknown aspect "${name.slice(0, 120)}"`, {
        hint: nearest(name, model.aspects.keys()),
      });
    }
    for (const [name, text] of Object.entries({ urnLike, lastUrn, lastAspect })) {
      if (text !== undefined && text.length > charactersMax) throw tooLong(name, text);
    }
    return {
      urn: request.urn === undefined ? undefined : named(request.urn),
      urns: request.urns && [...new Set(request.urns.map(named))],
      urnLike: urnLike === undefined ? undefined : patternWithNamespace(urnLike, namespace),
      aspect: request.aspect,
      aspectNames: request.aspectNames && [...new Set(request.aspectNames)],
      start: request.start,
      batchSize: request.batchSize,
      limit: request.limit,
      gePitEpochMs,
      // A range without an end ends now: rows written during the job are not part of it.
      lePitEpochMs: lePitEpochMs ?? (gePitEpochMs ? dependencies.now() : undefined),
      createDefaultAspects: request.createDefaultAspects,
      batchDelayMs: request.batchDelayMs,
      urnBasedPagination: request.urnBasedPagination,
      lastUrn: lastUrn === undefined ? undefined : withNamespace(lastUrn, namespace),
      lastAspect,
    };
  }

  async function* urnsOf(request: RestoreRequest, from: string): AsyncIterable<string> {
    const pattern = createUrnPattern(request.urnLike ?? "%");
    const named = namedIn(request);
    if (named !== undefined) {
      const rest = named.slice(Math.max(0, named.indexOf(from)));
      yield* rest.filter((urn) => pattern.matches(urn));
      return;
    }
    const first = entityStream("").length;
    let after: string | undefined;
    // The list begins after the start urn, which therefore comes first.
    if (from !== "") {
      after = entityStream(from);
      if (pattern.matches(from)) yield from;
    }
    for await (const name of streamNames(log, entityStream(pattern.prefix), after)) {
      const urn = name.slice(first);
      if (pattern.matches(urn)) yield urn;
    }
  }

  const work: JobWork = async (run) => {
    const request = run.request as RestoreRequest;
    const selects = createSelection(request, model);
    const batches: RestoredBatch[] = [];
    const elsewhere = new Set<string>();
    done.set(run.id, batches);
    evictLater(run.id);
    const begin = startOf(request, run);
    let counts = run.counts;
    let { skipped, taken } = begin;
    let batch = emptyBatch();
    const passed = { entities: 0, rows: 0 };
    const expected = expectRows(urnsOf(request, begin.urn), {
      start: (request.start ?? 0) - skipped,
      limit: request.limit === 0 ? 0 : request.limit - taken,
    });
    const soFar = (): JobCounts => {
      const created = counts.created - run.counts.created;
      return { ...counts, total: restoredOf(run.counts) + created + expected.of(passed) };
    };
    const rowOptions = {
      timeseries: aspectsOf(request).filter((name) => model.aspects.get(name)?.timeseries),
      keyAspectOf: (type: string) => model.entities.get(type)?.keyAspect,
    };

    async function flush(): Promise<void> {
      const before = counts;
      const untaken = taken - batch.rows.length;
      const report = async (part: RestoredBatch, completed: 0 | 1): Promise<void> => {
        counts = withBatch(before, part, completed);
        const { lastUrn: urn, lastAspect: aspect, rowsMigrated, ignored } = part;
        const checkpoint = { urn, aspect, skipped, taken: untaken + rowsMigrated + ignored };
        await run.report(soFar(), aspect === "" ? undefined : checkpoint);
      };
      const restored = await restoreBatch(batch, run, elsewhere, (part) => report(part, 0));
      if (hasRows(restored)) batches.push(restored);
      if (batches.length > batchesMax) batches.shift();
      batch = emptyBatch();
      await report(restored, 1);
      if (request.batchDelayMs)
        await delay(request.batchDelayMs, undefined, { signal: run.signal });
    }

    const full = () => request.limit > 0 && taken >= request.limit;
    run.signal.addEventListener("abort", expected.end);
    for await (const urn of urnsOf(request, begin.urn)) {
      run.signal.throwIfAborted();
      if (full()) break;
      if (passed.entities > 0 && passed.entities % entitiesPerYieldMax === 0) {
        await yieldToEventLoop();
        await run.report(soFar());
      }
      passed.entities++;
      const after = urn === begin.urn ? begin.aspect : "";
      const rows = (await entityRows(log, urn, rowOptions)).filter(
        (row) => row.aspect > after && selects(row),
      );
      // A urn in the request may have no record; views are restored for it, too.
      if (rows.length === 0 && namedIn(request) === undefined) continue;
      const current = rows.filter((row) => row.current);
      passed.rows += current.length;
      if (current.length === 0) {
        if (skipped >= (request.start ?? 0)) batch.urns.add(urn);
        if (batch.urns.size >= entitiesPerMessageMax) await flush();
        continue;
      }
      for (const row of current) {
        if (full()) break;
        if (skipped < (request.start ?? 0)) {
          skipped++;
          continue;
        }
        taken++;
        batch.urns.add(urn);
        batch.rows.push({ urn, row });
        if (batch.rows.length >= request.batchSize) await flush();
      }
    }
    if (batch.urns.size > 0) await flush();
    expected.end();
    await run.report({ ...counts, total: restoredOf(counts) });
    // The views of this process are restored; the others need a node with their projector.
    if (elsewhere.size > 0) throw noProjectorFor(elsewhere);
  };

  /**
   * Adds to `elsewhere` the views without a running projector. `onPart` gets the progress of a batch
   * that takes several messages.
   */
  async function restoreBatch(
    batch: Batch,
    run: JobRun,
    elsewhere: Set<string>,
    onPart: (part: RestoredBatch) => Promise<void>,
  ): Promise<RestoredBatch> {
    const urns = [...batch.urns];
    const rows = Map.groupBy(batch.rows, ({ urn }) => urn);
    const begun = performance.now();
    const { createDefaultAspects } = run.request as RestoreRequest;
    let part: RestoredBatch = {
      rowsMigrated: 0,
      ignored: 0,
      defaultAspects: 0,
      restoreMs: 0,
      readMs: begun - batch.begun,
      lastUrn: urns.at(-1) ?? "",
      lastAspect: "",
    };
    for (let from = 0; from < urns.length; from += entitiesPerMessageMax) {
      run.signal.throwIfAborted();
      const some = urns.slice(from, from + entitiesPerMessageMax);
      const written = createDefaultAspects ? await dependencies.writeDefaults(some) : 0;
      await dependencies.restoreEdges(
        new Map(some.map((urn) => [urn, new Set(rows.get(urn)?.map(({ row }) => row.aspect))])),
      );
      const failed = new Set<string>();
      for (const one of await restoration.restore(some)) {
        failed.add(one.urn);
        if (one.elsewhere === true) elsewhere.add(one.view);
        dependencies.logger.error({ ...one, job: run.id }, "an entity could not be restored");
      }
      const processed = some.flatMap((urn) => rows.get(urn) ?? []);
      const migrated = processed.filter(
        ({ urn, row }) => !failed.has(urn) && isKnown(model, row),
      ).length;
      const last = processed.at(-1);
      part = {
        ...part,
        rowsMigrated: part.rowsMigrated + migrated,
        ignored: part.ignored + processed.length - migrated,
        defaultAspects: part.defaultAspects + written,
        restoreMs: performance.now() - begun,
        ...(last && { lastUrn: last.urn, lastAspect: last.row.aspect }),
      };
      if (from + entitiesPerMessageMax < urns.length) await onPart(part);
    }
    return part;
  }

  return {
    work,

    async restore(request: RestoreRequest, caller: Caller, jobs: Jobs): Promise<Restored> {
      const asked = checked(request);
      const { id, position, ended } = await jobs.start("restore", asked, caller);
      const end = await Promise.race([ended, delay(waitMsMax, undefined, { ref: false })]);
      const batches = done.get(id) ?? [];
      const job = end?.job;
      if (job !== undefined && job.state !== "done") throw jobEnded(job);
      const shown = { ...asked, lePitEpochMs: asked.lePitEpochMs ?? dependencies.now() };
      const completed = job !== undefined;
      const text = restoredText(shown, batches, { id, completed });
      return { text, position: end?.position ?? position, id, completed, batches };
    },
  };
}

const noProjectorFor = (views: ReadonlySet<string>): CatalogError =>
  new CatalogError(
    "unavailable",
    `no projector is running for the views ${[...views].join(", ")}; the other views were restored`,
    { hint: "Start a node with the role projector, and repeat the request" },
  );

/** The error for a job that failed or was cancelled while a response waited for it. */
function jobEnded({ id, state, error }: Job): CatalogError {
  const what = state === "cancelled" ? "was cancelled" : `failed: ${error ?? "internal error"}`;
  return new CatalogError("unavailable", `job "${id}" ${what}`, {
    hint: "Entities that it restored before stay restored",
  });
}

const tooLong = (name: string, text: string): CatalogError =>
  new CatalogError(
    "too_large",
    `${name} has ${text.length} characters; at most ${charactersMax} are allowed`,
  );

const emptyBatch = (): Batch => ({ urns: new Set(), rows: [], begun: performance.now() });

/** The urns that the request names, if it names any. */
const namedIn = ({ urn, urns }: RestoreRequest): readonly string[] | undefined =>
  urn === undefined ? urns : [urn];

const aspectsOf = ({ aspect, aspectNames = [] }: RestoreRequest): readonly string[] =>
  aspect === undefined ? aspectNames : [aspect, ...aspectNames];

function startOf(
  { urnBasedPagination, lastUrn, lastAspect }: RestoreRequest,
  run: JobRun,
): RestoreCheckpoint {
  if (run.checkpoint !== undefined) return run.checkpoint as RestoreCheckpoint;
  const paged = urnBasedPagination === true && lastUrn !== undefined;
  return {
    urn: paged ? lastUrn : "",
    aspect: paged ? (lastAspect ?? "") : "",
    skipped: 0,
    taken: 0,
  };
}

function createSelection(request: RestoreRequest, model: Model): (row: RestoredRow) => boolean {
  const aspects = new Set(aspectsOf(request));
  const { gePitEpochMs = 0, lePitEpochMs = Infinity } = request;
  return ({ aspect, time }) =>
    (aspects.size === 0 ? model.aspects.get(aspect)?.timeseries !== true : aspects.has(aspect)) &&
    time >= gePitEpochMs &&
    time <= lePitEpochMs;
}

/** True if the model has the aspect. Views also restore aspects that it does not have; readers hide these. */
function isKnown(model: Model, { entityType, aspect }: RestoredRow): boolean {
  const entity = model.entities.get(entityType);
  return entity !== undefined && model.findAspectOf(entity, aspect) !== undefined;
}

/** A batch without rows, such as one of urns without records, is not part of the response. */
const hasRows = ({ rowsMigrated, ignored, defaultAspects }: RestoredBatch): boolean =>
  rowsMigrated + ignored + defaultAspects > 0;

/** Restored rows; removed ones do not count. */
const restoredOf = ({ updated, created, noops }: JobCounts): number => updated + created + noops;

function withBatch(counts: JobCounts, batch: RestoredBatch, batches: number): JobCounts {
  const { rowsMigrated, ignored, defaultAspects } = batch;
  return {
    ...counts,
    updated: counts.updated + rowsMigrated,
    created: counts.created + defaultAspects,
    noops: counts.noops + ignored,
    batches: counts.batches + batches,
  };
}
