/**
 * The thread that builds staging generations (staging.ts). It opens its own log reader and views,
 * and ends with its work. staging-worker.ts is its client.
 */
import type { Position } from "../../core/position.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { type Parked, readParking } from "../parking/parking.ts";
import type { Staged, View } from "../sink.ts";
import { type BackgroundOwner, runInBackground } from "../thread/background-thread.ts";
import { type BuildProgress, buildStaging } from "./staging.ts";

export interface StagingTask {
  /** Address of the module that opens the stores; src/app/stores.ts when absent. */
  readonly module: string | undefined;
  readonly config: unknown;
  readonly views: readonly string[];
}

/** Exports of that module. */
interface StagingStores {
  openViews(
    config: unknown,
    options: {
      readonly names: readonly string[];
      readonly next: true;
      readonly bulk?: true;
      readonly stagedSources?: readonly string[];
    },
  ): Promise<readonly View[]>;
  openLogReader(config: unknown): Promise<ChangeLog>;
  /** Views that are built from other views. */
  readonly foldedViews: ReadonlySet<string>;
}

/** Paused staging generations in servers by view, and their parked entities. */
export interface StagedViews {
  readonly staged: Readonly<Record<string, Staged>>;
  readonly parked: readonly Parked[];
}

/** The methods of the client that the thread calls. */
export interface StagingOwner extends BackgroundOwner<BuildProgress> {
  /** Resolves when the paused views agree with the log. */
  readonly compare: (views: StagedViews) => Promise<void>;
  /** The views are near the head of the log. Resolves with the position to which they are built. */
  readonly near: () => Promise<Position>;
  /** The views are live. */
  readonly live: (parked: readonly Parked[]) => void;
}

/** The result: parked entities of the views, which are closed and ready for the swap, or live. */
runInBackground<StagingTask, readonly Parked[], StagingOwner>(
  "rebuild",
  async ({ module, config, views }, { owner, signal, stopped, report }) => {
    const stores: StagingStores = await import(
      module ?? new URL("../../app/stores.ts", import.meta.url).href
    );
    const log = await stores.openLogReader(config);
    const folded = views.filter((view) => stores.foldedViews.has(view));
    const first = views.filter((view) => !stores.foldedViews.has(view));
    const onePass = folded.length === 0 || first.length === 0;
    try {
      return await buildStaging({
        ...{ log, decode: decodeRecord, signal },
        parkingStore: { load: (view) => readParking(log, view) },
        views: await stores.openViews(config, {
          ...{ names: onePass ? views : first, next: true, bulk: true },
        }),
        openFolded: onePass ? undefined : () => openFolded(stores, config, { first, folded }),
        onProgress: (progress) => report(progress, progress.position >= progress.head),
        onStaged: (staged, parked) =>
          Promise.race([owner.call("compare", { staged, parked }), stopped]),
        onNear: () => Promise.race([owner.call("near", undefined), stopped]),
        onLive: (parked) => owner.notify("live", parked),
      });
    } finally {
      await log.close();
    }
  },
);

/** Opens views that are built from the staging generations of others. */
async function openFolded(
  { openViews }: StagingStores,
  config: unknown,
  { first, folded }: { readonly first: readonly string[]; readonly folded: readonly string[] },
) {
  const reopened = await openViews(config, { names: first, next: true });
  try {
    const names = { names: folded, stagedSources: first };
    return { reopened, folded: await openViews(config, { ...names, next: true, bulk: true }) };
  } catch (error) {
    for (const { sink } of reopened) await sink.close("discard");
    throw error;
  }
}
