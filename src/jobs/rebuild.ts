/**
 * Rebuilds of views: staging generations are built from the log and swapped in
 * (projector/rebuild/rebuilding.ts). A view comes after the views that it is built from. An interrupted job
 * starts again with the views that were not swapped yet, and deletes their staging generations.
 */
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { NOTHING } from "../core/job-counts.ts";
import { appendAll } from "../lib/lists.ts";
import type { Rebuilding } from "../projector/rebuild/rebuilding.ts";
import type { BuildProgress, RebuildProgress } from "../projector/rebuild/staging.ts";
import type { Jobs, JobWork, OperationResult } from "./jobs.ts";
import { noSuchView } from "./unknown-view.ts";

export interface RebuildRequest {
  /** None: all. */
  readonly views?: readonly string[] | undefined;
}

/** The checkpoint of a rebuild, which its job reports. */
interface RebuildCheckpoint extends RebuildProgress {
  /** Views that are swapped. */
  readonly done: readonly string[];
  /** Views that are being built. */
  readonly views: readonly string[];
}

export interface RebuildParts {
  readonly rebuilding: Rebuilding;
  /** Every view. */
  readonly views: readonly string[];
  /** Views that are rebuilt together; each round needs the rounds before it. */
  readonly rounds: readonly (readonly string[])[];
  /** Called when views are swapped. */
  readonly onRebuilt: (views: readonly string[]) => void;
  readonly logger: { info(fields: object, message: string): void };
}

const swapping = "The rebuilt views are being swapped in";

export function createRebuilds(parts: RebuildParts) {
  const { rebuilding, onRebuilt, logger } = parts;
  let underWay = 0;
  let count = 0;

  function requireNone(): void {
    if (underWay === 0) return;
    throw new CatalogError("conflict", "views are being rebuilt", {
      hint: "Wait for the running rebuild job; annals jobs (listJobs) names it",
    });
  }

  const roundsOf = (views: readonly string[]): readonly (readonly string[])[] =>
    parts.rounds
      .map((round) => round.filter((view) => views.includes(view)))
      .filter((round) => round.length > 0);

  /** Runs one round after the other; `after` gets the last progress of each round. */
  async function inRounds(
    rounds: readonly (readonly string[])[],
    signal: AbortSignal,
    events: {
      onProgress(progress: BuildProgress, round: number): Promise<void>;
      onSwap(round: number): void;
      after(last: BuildProgress | undefined, round: number): Promise<void>;
    },
  ): Promise<void> {
    underWay++;
    try {
      for (const [n, round] of rounds.entries()) {
        let last: BuildProgress | undefined;
        await rebuilding.rebuild(round, {
          signal,
          onProgress(progress) {
            last = progress;
            // Progress may be recorded late. A log that cannot be written fails the end of the job.
            void events.onProgress(progress, n).catch(() => {});
          },
          onSwap: () => events.onSwap(n),
        });
        count++;
        onRebuilt(round);
        logger.info({ views: round, position: last?.position }, "views are rebuilt and live");
        await events.after(last, n);
      }
    } finally {
      underWay--;
    }
  }

  const work: JobWork = async (run) => {
    const { views } = run.request as { readonly views: readonly string[] };
    const before = (run.checkpoint as Partial<RebuildCheckpoint> | undefined)?.done ?? [];
    const done: string[] = [...before];
    const rounds = roundsOf(views.filter((view) => !before.includes(view)));
    const leftAfter = (n: number) => rounds.length - n - 1;
    let records = 0;
    await inRounds(rounds, run.signal, {
      onProgress(progress, n) {
        const { position, head, recordsPerSecond, views, recordsBefore: before } = progress;
        const passed = records + before;
        const total = passed + progress.total * (1 + progress.passesLeft + leftAfter(n));
        const counts = { ...NOTHING, total, updated: passed + progress.records, batches: n };
        const checkpoint = { position, head, recordsPerSecond, done, views };
        return run.report(counts, checkpoint satisfies RebuildCheckpoint);
      },
      onSwap(n) {
        if (leftAfter(n) === 0) run.commit(swapping);
      },
      async after(last, n) {
        appendAll(done, rounds[n] ?? []);
        records += (last?.recordsBefore ?? 0) + (last?.records ?? 0);
        if (last === undefined) return;
        const { position, head, recordsPerSecond } = last;
        const counts = { ...NOTHING, total: records + last.total * leftAfter(n), updated: records };
        const checkpoint = { position, head, recordsPerSecond, done, views: [] };
        await run.report({ ...counts, batches: n + 1 }, checkpoint satisfies RebuildCheckpoint);
      },
    });
  };

  return {
    work,

    /** Throws `invalid` for an unknown view, and `conflict` during another rebuild. */
    async rebuild(
      { views = [] }: RebuildRequest,
      caller: Caller,
      jobs: Jobs,
    ): Promise<OperationResult> {
      const unknown = views.find((view) => !parts.views.includes(view));
      if (unknown !== undefined) throw noSuchView(unknown, parts.views);
      requireNone();
      const wanted = parts.views.filter((view) => views.length === 0 || views.includes(view));
      const { id, position } = await jobs.start("rebuild", { views: wanted }, caller);
      return { text: id, position };
    },

    /** Rebuilds as part of another job. Rejects with the signal's reason when it aborts before the swap. */
    async rebuildWithin(views: readonly string[], signal: AbortSignal): Promise<void> {
      requireNone();
      await inRounds(roundsOf(views), signal, {
        onProgress: async () => {},
        onSwap() {},
        after: async () => {},
      });
    },

    underWay: () => underWay > 0,
    /** Number of finished rounds. */
    count: () => count,
  };
}

/** The error for a view of another model, where such views are not read. */
export const staleView = (view: string, command: string): CatalogError =>
  new CatalogError("unavailable", `the view "${view}" was built with another model`, {
    hint: `POST /operations?action=rebuildViews rebuilds it while the service runs; without a service, run: ${command}`,
  });
