/**
 * Rebuilding views: regrown from the log beside those in use, which they then take the place of
 * (projector/rebuilding.ts). Views that are made of others come after those. A job that was cut off
 * begins again with the views that were not in place; what it had grown of them is cleared away.
 */
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import type { Rebuilding } from "../projector/rebuilding.ts";
import type { GrowthProgress, RegrowProgress } from "../projector/regrow-beside.ts";
import { type Jobs, type JobWork, NOTHING } from "./jobs.ts";
import { noSuchView } from "./no-such-view.ts";
import type { Outcome } from "./operations.ts";

export interface RebuildRequest {
  /** None: all. */
  readonly views?: readonly string[] | undefined;
}

/** Where a rebuild is; told by its job. */
export interface RebuildPlace extends RegrowProgress {
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

  const roundsOf = (views: readonly string[]): readonly (readonly string[])[] =>
    parts.rounds
      .map((round) => round.filter((view) => views.includes(view)))
      .filter((round) => round.length > 0);

  const work: JobWork = async (run) => {
    underWay++;
    try {
      const { views } = run.request as { readonly views: readonly string[] };
      const before = (run.place as Partial<RebuildPlace> | undefined)?.done ?? [];
      const done: string[] = [...before];
      const rounds = roundsOf(views.filter((view) => !before.includes(view)));
      let records = 0;
      for (const [n, round] of rounds.entries()) {
        const left = rounds.length - n - 1;
        let last: GrowthProgress | undefined;
        const tell = (progress: GrowthProgress) => {
          last = progress;
          const { position, head, recordsPerSecond, views, before } = progress;
          const passed = records + before;
          const total = passed + head * (1 + progress.left + left);
          const counts = { ...NOTHING, total, updated: passed + position, batches: n };
          const place = { position, head, recordsPerSecond, done, views };
          return run.report(counts, place satisfies RebuildPlace);
        };
        await rebuilding.rebuild(round, {
          signal: run.signal,
          // How far it is may be written down late; that it cannot be is told by the end of the job.
          onProgress: (progress) => void tell(progress).catch(() => {}),
          onTaking() {
            if (left === 0) run.commit(cannotEnd);
          },
        });
        onRebuilt(round);
        done.push(...round);
        records += (last?.before ?? 0) + (last?.position ?? 0);
        logger.info({ views: round, position: last?.position }, "views are rebuilt and in place");
        if (last !== undefined) {
          const { position, head, recordsPerSecond } = last;
          const counts = { ...NOTHING, total: records + head * left, updated: records };
          const place = { position, head, recordsPerSecond, done, views: [] };
          await run.report({ ...counts, batches: n + 1 }, place satisfies RebuildPlace);
        }
      }
    } finally {
      underWay--;
    }
  };

  return {
    work,

    /** Throws `invalid` for a view that there is not, and `conflict` while others are rebuilt. */
    async rebuild({ views = [] }: RebuildRequest, caller: Caller, jobs: Jobs): Promise<Outcome> {
      const unknown = views.find((view) => !parts.views.includes(view));
      if (unknown !== undefined) throw noSuchView(unknown, parts.views);
      if (underWay > 0) {
        throw new CatalogError("conflict", "views are being rebuilt", {
          hint: "Wait for the job that does it; listJobs names it",
        });
      }
      const wanted = parts.views.filter((view) => views.length === 0 || views.includes(view));
      const { id, position } = await jobs.start("rebuild", { views: wanted }, caller);
      return { text: id, position };
    },

    underWay: () => underWay > 0,
  };
}

/** What is told of a view of another model where that is not to be read. */
export const staleView = (view: string, command: string): CatalogError =>
  new CatalogError("unavailable", `the view "${view}" was made by another model`, {
    hint: `POST /operations?action=rebuildViews makes it anew while the service runs; stopped: ${command}`,
  });
