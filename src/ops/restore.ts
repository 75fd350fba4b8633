/**
 * restoreIndices: views are made anew from the log for the entities that a request selects, while
 * they serve and follow the log. The request counts in rows, as the reference does; what is
 * restored is always the whole entity, timeseries and edges included, so that nothing of it that
 * should not be there stays.
 */
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { createUrnPattern } from "../aspects/urn-like.ts";
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import type { JobCounts } from "../core/job-counts.ts";
import { nearest } from "../core/nearest.ts";
import { entityStream } from "../core/stream.ts";
import { parseUrn, patternWithNamespace, type UrnLimits, withNamespace } from "../core/urn.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import type { Restoration } from "../projector/progress.ts";
import { type EntityRow, entityRows } from "./entity-rows.ts";
import { expectRows } from "./expected-rows.ts";
import type { Job, JobRun, Jobs, JobWork } from "./jobs.ts";
import type { Restored, RestoreRequest } from "./operations.ts";
import { type RestoredBatch, restoredText } from "./restored-text.ts";

/** How long an answer waits for the job; what takes longer goes on by itself. */
const waitMsMax = 10_000;
/** Names of streams, and entities between which others get their turn. */
const namesMax = 500;
const entitiesPerTurnMax = 20;
/** Of a pattern, or of a place to begin at: far more than a urn may have. */
const charactersMax = 16_384;
/** Entities of one message to the projector, which restores them in one go. */
const entitiesPerGoMax = 100;
/** Batches that an answer tells of: the last ones. */
const batchesToldMax = 1_000;

interface Dependencies {
  readonly model: Model;
  readonly log: Pick<ChangeLog, "readStream" | "listStreams">;
  readonly restoration: Pick<Restoration, "restore">;
  /** Default aspects that the entities lack are written; how many those were. */
  readonly giveDefaults: (urns: readonly string[]) => Promise<number>;
  /** Restores removed edges that the entities' aspects state; returns the number of aspects. */
  readonly restoreEdges: (urns: readonly string[]) => Promise<number>;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  readonly now: () => number;
  readonly logger: { error(fields: object, message: string): void };
}

/** Where a job goes on: after a row, with so many left out and taken before. */
interface Place {
  readonly urn: string;
  readonly aspect: string;
  readonly skipped: number;
  readonly taken: number;
}

/** Rows of one batch, and the entities that they belong to. */
interface Batch {
  readonly urns: Set<string>;
  readonly rows: { readonly urn: string; readonly row: EntityRow }[];
  begun: number;
}

export function createRestoring(dependencies: Dependencies) {
  const { model, log, restoration, namespace } = dependencies;
  /** What jobs of this process have done, for the answers that wait for them. */
  const done = new Map<string, RestoredBatch[]>();

  /** Who waits for an answer has looked by then. */
  function forgetLater(id: string): void {
    setTimeout(() => done.delete(id), 2 * waitMsMax).unref();
  }

  /** What a job is to remember of a request: what it asks for, and nothing else. */
  function checked(request: RestoreRequest): RestoreRequest {
    const { urnLike, lastUrn, lastAspect, gePitEpochMs, lePitEpochMs } = request;
    const named = (text: string): string => {
      const urn = withNamespace(text, namespace);
      parseUrn(urn, dependencies.urnLimits);
      return urn;
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
      // Of a time that has a beginning alone: what comes while it runs is not of it.
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
    // A place to begin at is among what is listed only if it is told first.
    if (from !== "") {
      after = entityStream(from);
      if (pattern.matches(from)) yield from;
    }
    for (;;) {
      const prefix = entityStream(pattern.prefix);
      const names = await log.listStreams(prefix, { after, limit: namesMax });
      for (const name of names) {
        const urn = name.slice(first);
        if (pattern.matches(urn)) yield urn;
      }
      after = names.at(-1);
      if (after === undefined) return;
      await turn();
    }
  }

  const work: JobWork = async (run) => {
    const request = run.request as RestoreRequest;
    const selects = createSelection(request, model);
    const batches: RestoredBatch[] = [];
    const elsewhere = new Set<string>();
    done.set(run.id, batches);
    forgetLater(run.id);
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
      const report = async (part: RestoredBatch, whole: 0 | 1): Promise<void> => {
        counts = withBatch(before, part, whole);
        const { lastUrn: urn, lastAspect: aspect, rowsMigrated, ignored } = part;
        const place = { urn, aspect, skipped, taken: untaken + rowsMigrated + ignored };
        await run.report(soFar(), aspect === "" ? undefined : place);
      };
      const restored = await restoreBatch(batch, run, elsewhere, (part) => report(part, 0));
      if (hasDone(restored)) batches.push(restored);
      if (batches.length > batchesToldMax) batches.shift();
      batch = emptyBatch();
      await report(restored, 1);
      if (request.batchDelayMs) await delay(request.batchDelayMs, undefined, run);
    }

    const full = () => request.limit > 0 && taken >= request.limit;
    run.signal.addEventListener("abort", expected.end);
    for await (const urn of urnsOf(request, begin.urn)) {
      run.signal.throwIfAborted();
      if (full()) break;
      if (passed.entities > 0 && passed.entities % entitiesPerTurnMax === 0) {
        await turn();
        await run.report(soFar());
      }
      passed.entities++;
      const after = urn === begin.urn ? begin.aspect : "";
      const rows = (await entityRows(log, urn, rowOptions)).filter(
        (row) => row.aspect > after && selects(row),
      );
      // What was asked for by its urn may be what no record ever told of.
      if (rows.length === 0 && namedIn(request) === undefined) continue;
      const current = rows.filter((row) => row.current);
      passed.rows += current.length;
      if (current.length === 0) {
        if (skipped >= (request.start ?? 0)) batch.urns.add(urn);
        if (batch.urns.size >= entitiesPerGoMax) await flush();
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
    // What could be done here is done: the rest has to be asked for where it can be.
    if (elsewhere.size > 0) throw fedElsewhere(elsewhere);
  };

  /**
   * Adds to `elsewhere` the views that other processes feed. `onPart` is told how much of the batch is
   * restored, time and again as long as it is not the whole.
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
    for (let from = 0; from < urns.length; from += entitiesPerGoMax) {
      run.signal.throwIfAborted();
      const some = urns.slice(from, from + entitiesPerGoMax);
      const given = createDefaultAspects ? await dependencies.giveDefaults(some) : 0;
      await dependencies.restoreEdges(some);
      const failed = new Set<string>();
      for (const one of await restoration.restore(some)) {
        failed.add(one.urn);
        if (one.elsewhere === true) elsewhere.add(one.view);
        dependencies.logger.error({ ...one, job: run.id }, "an entity could not be restored");
      }
      const gone = some.flatMap((urn) => rows.get(urn) ?? []);
      const known = gone.filter(({ urn, row }) => !failed.has(urn) && isKnown(model, row)).length;
      const last = gone.at(-1);
      part = {
        ...part,
        rowsMigrated: part.rowsMigrated + known,
        ignored: part.ignored + gone.length - known,
        defaultAspects: part.defaultAspects + given,
        restoreMs: performance.now() - begun,
        ...(last && { lastUrn: last.urn, lastAspect: last.row.aspect }),
      };
      if (from + entitiesPerGoMax < urns.length) await onPart(part);
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
      if (job !== undefined && job.state !== "done") throw unended(job);
      const told = { ...asked, lePitEpochMs: asked.lePitEpochMs ?? dependencies.now() };
      const completed = job !== undefined;
      const text = restoredText(told, batches, { id, completed });
      return { text, position: end?.position ?? position, id, completed, batches };
    },
  };
}

const fedElsewhere = (views: ReadonlySet<string>): CatalogError =>
  new CatalogError(
    "unavailable",
    `nobody answers who feeds the views ${[...views].join(", ")}; in others it was restored`,
    { hint: "Start a node that has the role projector, and ask again" },
  );

/** Of a job that failed or was cancelled while somebody waited for it. */
function unended({ id, state, error }: Job): CatalogError {
  const what = state === "cancelled" ? "was cancelled" : `failed: ${error ?? "nobody knows why"}`;
  return new CatalogError("unavailable", `job "${id}" ${what}`, {
    hint: "What it had restored before stays so",
  });
}

const tooLong = (name: string, text: string): CatalogError =>
  new CatalogError(
    "too_large",
    `${name} has ${text.length} characters of at most ${charactersMax}`,
  );

const emptyBatch = (): Batch => ({ urns: new Set(), rows: [], begun: performance.now() });

/** The entities that are asked for by their urns, if any are. */
const namedIn = ({ urn, urns }: RestoreRequest): readonly string[] | undefined =>
  urn === undefined ? urns : [urn];

const aspectsOf = ({ aspect, aspectNames = [] }: RestoreRequest): readonly string[] =>
  aspect === undefined ? aspectNames : [aspect, ...aspectNames];

function startOf({ urnBasedPagination, lastUrn, lastAspect }: RestoreRequest, run: JobRun): Place {
  if (run.place !== undefined) return run.place as Place;
  const paged = urnBasedPagination === true && lastUrn !== undefined;
  return {
    urn: paged ? lastUrn : "",
    aspect: paged ? (lastAspect ?? "") : "",
    skipped: 0,
    taken: 0,
  };
}

function createSelection(request: RestoreRequest, model: Model): (row: EntityRow) => boolean {
  const aspects = new Set(aspectsOf(request));
  const { gePitEpochMs = 0, lePitEpochMs = Infinity } = request;
  return ({ aspect, time }) =>
    (aspects.size === 0 ? model.aspects.get(aspect)?.timeseries !== true : aspects.has(aspect)) &&
    time >= gePitEpochMs &&
    time <= lePitEpochMs;
}

/** Whether the model has the aspect: what it has not is restored, too, but shown by no reader. */
function isKnown(model: Model, { entityType, aspect }: EntityRow): boolean {
  const entity = model.entities.get(entityType);
  return entity !== undefined && model.findAspectOf(entity, aspect) !== undefined;
}

/** What had no row, such as an entity that nobody told of, is looked at in the views and not told of. */
const hasDone = ({ rowsMigrated, ignored, defaultAspects }: RestoredBatch): boolean =>
  rowsMigrated + ignored + defaultAspects > 0;

/** Rows of the total; what is removed is none of it. */
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
