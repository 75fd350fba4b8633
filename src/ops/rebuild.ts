/**
 * Rebuilding views: regrown from the log beside those in use, which they then take the place of
 * (projector/rebuilding.ts). Views that are made of others come after those. A job that was cut off
 * begins again with the views that were not in place; what it had grown of them is cleared away.
 */
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { NOTHING } from "../core/job-counts.ts";
import type { Rebuilding } from "../projector/rebuilding.ts";
import type { BuildProgress, RebuildProgress } from "../projector/staging.ts";
import type { Jobs, JobWork, Outcome } from "./jobs.ts";
import { noSuchView } from "./no-such-view.ts";

export interface RebuildRequest {
  /** None: all. */
  readonly views?: readonly string[] | undefined;
}

/** Where a rebuild is; told by its job. */
export interface RebuildPlace extends RebuildProgress {
  /** Views that are in place. */
  readonly done: readonly string[];
  /** Views that are being grown. */
  readonly views: readonly string[];
}

export interface RebuildParts {
  readonly rebuilding: Rebuilding;
  /** Every view. */
  readonly views: readonly string[];
  /** Those that are rebuilt together; what is made of others comes after them. */
  readonly rounds: readonly (readonly string[])[];
  /** Called when views are in place. */
  readonly onRebuilt: (views: readonly string[]) => void;
  readonly logger: { info(fields: object, message: string): void };
}

const cannotEnd = "The views are taking their places; what is rebuilt stays rebuilt";

export function createRebuilds(parts: RebuildParts) {
  const { rebuilding, onRebuilt, logger } = parts;
  let underWay = 0;
  let count = 0;

  function requireNone(): void {
    if (underWay === 0) return;
    throw new CatalogError("conflict", "views are being rebuilt", {
      hint: "Wait for the job that does it; listJobs names it",
    });
  }

  const roundsOf = (views: readonly string[]): readonly (readonly string[])[] =>
    parts.rounds
      .map((round) => round.filter((view) => views.includes(view)))
      .filter((round) => round.length > 0);

  /** One round after the other; `after` is called with how far each had come when it is in place. */
  async function inRounds(
    rounds: readonly (readonly string[])[],
    signal: AbortSignal,
    told: {
      onProgress(progress: BuildProgress, round: number): Promise<void>;
      onTaking(round: number): void;
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
            // How far it is may be written down late; that it cannot be is told by the end of the job.
            void told.onProgress(progress, n).catch(() => {});
          },
          onTaking: () => told.onTaking(n),
        });
        count++;
        onRebuilt(round);
        logger.info({ views: round, position: last?.position }, "views are rebuilt and in place");
        await told.after(last, n);
      }
    } finally {
      underWay--;
    }
  }

  const work: JobWork = async (run) => {
    const { views } = run.request as { readonly views: readonly string[] };
    const before = (run.place as Partial<RebuildPlace> | undefined)?.done ?? [];
    const done: string[] = [...before];
    const rounds = roundsOf(views.filter((view) => !before.includes(view)));
    const leftAfter = (n: number) => rounds.length - n - 1;
    let records = 0;
    await inRounds(rounds, run.signal, {
      onProgress(progress, n) {
        const { position, head, recordsPerSecond, views, before } = progress;
        const passed = records + before;
        const total = passed + progress.total * (1 + progress.left + leftAfter(n));
        const counts = { ...NOTHING, total, updated: passed + progress.records, batches: n };
        const place = { position, head, recordsPerSecond, done, views };
        return run.report(counts, place satisfies RebuildPlace);
      },
      onTaking(n) {
        if (leftAfter(n) === 0) run.commit(cannotEnd);
      },
      async after(last, n) {
        done.push(...(rounds[n] ?? []));
        records += (last?.before ?? 0) + (last?.records ?? 0);
        if (last === undefined) return;
        const { position, head, recordsPerSecond } = last;
        const counts = { ...NOTHING, total: records + last.total * leftAfter(n), updated: records };
        const place = { position, head, recordsPerSecond, done, views: [] };
        await run.report({ ...counts, batches: n + 1 }, place satisfies RebuildPlace);
      },
    });
  };

  return {
    work,

    /** Throws `invalid` for a view that there is not, and `conflict` while others are rebuilt. */
    async rebuild({ views = [] }: RebuildRequest, caller: Caller, jobs: Jobs): Promise<Outcome> {
      const unknown = views.find((view) => !parts.views.includes(view));
      if (unknown !== undefined) throw noSuchView(unknown, parts.views);
      requireNone();
      const wanted = parts.views.filter((view) => views.length === 0 || views.includes(view));
      const { id, position } = await jobs.start("rebuild", { views: wanted }, caller);
      return { text: id, position };
    },

    /** As part of another job. Rejects with the signal's reason when it aborts before they are in place. */
    async regrow(views: readonly string[], signal: AbortSignal): Promise<void> {
      requireNone();
      await inRounds(roundsOf(views), signal, {
        onProgress: async () => {},
        onTaking() {},
        after: async () => {},
      });
    },

    underWay: () => underWay > 0,
    /** How often views were put in place. */
    count: () => count,
  };
}

/** What is told of a view of another model where that is not to be read. */
export const staleView = (view: string, command: string): CatalogError =>
  new CatalogError("unavailable", `the view "${view}" was made by another model`, {
    hint: `POST /operations?action=rebuildViews makes it anew while the service runs; stopped: ${command}`,
  });
