/**
 * Restores and rebuilds of views whose projector runs in another process. They are dispatched to
 * that node through the cluster job queue (job-queue.ts); this node executes those of others.
 */
import { CatalogError } from "../../core/errors.ts";
import { appendAll } from "../../lib/lists.ts";
import type { Unrestored } from "../../projector/parking/restore.ts";
import type { Rebuilding } from "../../projector/rebuild/rebuilding.ts";
import type { BuildProgress, RebuildProgress } from "../../projector/rebuild/staging.ts";
import type { Restoration } from "../../projector/thread/progress.ts";
import type { DispatchedWork, JobQueue } from "./job-queue.ts";

interface Own {
  readonly restoration: Pick<Restoration, "restore" | "drop">;
  readonly rebuilding: Rebuilding;
  /** Views that this process projects. */
  readonly projected: () => readonly string[];
  /** All views; each comes after the views that it is built from. */
  readonly views: readonly string[];
}

/** Executes a job of another node. */
export const runDispatchedWork =
  ({ restoration, rebuilding }: Omit<Own, "projected" | "views">): DispatchedWork =>
  async ({ kind, view, urns = [], actor }, { signal, report }) => {
    if (kind === "rebuild") {
      await rebuilding.rebuild([view], { signal, onProgress: report, onSwap() {} });
      return null;
    }
    const [urn = ""] = urns;
    const unrestored = await (kind === "drop"
      ? restoration.drop(urn, view, actor)
      : restoration.restore(urns, view));
    const lost = unrestored.find(({ elsewhere }) => elsewhere);
    if (lost !== undefined) throw new CatalogError("unavailable", lost.reason);
    return unrestored;
  };

/** Restores each view on the node whose projector applies it. */
export function dispatchedRestore(
  { restoration, projected, views }: Omit<Own, "rebuilding">,
  { ask }: Pick<JobQueue, "ask">,
): Pick<Restoration, "restore" | "drop"> {
  const isElsewhere = (view: string): boolean =>
    views.includes(view) && !projected().includes(view);

  async function handOver(view: string, urns: readonly string[]): Promise<readonly Unrestored[]> {
    try {
      return (await ask({ kind: "restore", view, urns })) as readonly Unrestored[];
    } catch (error) {
      const reason = error instanceof CatalogError ? error.text : String(error);
      return urns.map((urn) => ({ urn, view, reason, elsewhere: true }));
    }
  }

  return {
    async restore(urns, view) {
      const unrestored: Unrestored[] = [];
      // In order: some views are built from views before them.
      for (const one of view === undefined ? views : [view]) {
        const here = isElsewhere(one) ? undefined : await restoration.restore(urns, one);
        // Another node may have become the leader of the view.
        const done = here?.every(({ elsewhere }) => elsewhere !== true);
        appendAll(unrestored, done ? (here ?? []) : await handOver(one, urns));
      }
      return unrestored;
    },
    async drop(urn, view, actor) {
      if (!isElsewhere(view)) return restoration.drop(urn, view, actor);
      return (await ask({ kind: "drop", view, urns: [urn], actor })) as readonly Unrestored[];
    },
  };
}

/** Rebuilds each view on the node whose projector applies it, one after the other. */
export function dispatchedRebuild(
  { rebuilding, projected }: Pick<Own, "rebuilding" | "projected">,
  { ask }: Pick<JobQueue, "ask">,
): Rebuilding {
  const handed: Record<string, RebuildProgress> = {};
  return {
    async rebuild(views, options) {
      const own = views.filter((view) => projected().includes(view));
      const others = views.filter((view) => !own.includes(view));
      // The rebuild can be cancelled until the last view is swapped.
      const onSwap = others.length === 0 ? options.onSwap : () => {};
      if (own.length > 0) await rebuilding.rebuild(own, { ...options, onSwap });
      for (const view of others) {
        const onProgress = (progress: unknown) => {
          handed[view] = progress as RebuildProgress;
          options.onProgress(progress as BuildProgress);
        };
        try {
          await ask({ kind: "rebuild", view }, { signal: options.signal, onProgress });
        } finally {
          delete handed[view];
        }
      }
    },
    progress: () => ({ ...handed, ...rebuilding.progress() }),
  };
}
