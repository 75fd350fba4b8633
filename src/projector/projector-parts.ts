/** The dependencies of the projector, and its interface. */
import type { Position } from "../core/position.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { Decode } from "./batch.ts";
import type { HistoryLog } from "./history.ts";
import type { Parked, ParkingStore } from "./parking/parking.ts";
import type { Unrestored } from "./parking/restore.ts";
import type { GenerationStore } from "./rebuild/swap-generations.ts";
import type { View } from "./sink.ts";
import type { ProjectorProgress } from "./thread/progress-snapshot.ts";
import type { RetryMs } from "./view-state.ts";

export interface ProjectorParts {
  readonly log: HistoryLog &
    Pick<ChangeLog, "readAll" | "head" | "id" | "firstKept" | "disconnections" | "countBetween"> &
    Pick<ChangeLog, "replaced">;
  /**
   * Opens the log for a comparison with the views (log-comparison.ts); when absent, `log` is used.
   */
  readonly openLog?: (() => Promise<ChangeLog>) | undefined;
  /** Milliseconds between comparisons; a minute when absent. */
  readonly compareMs?: number | undefined;
  readonly views: readonly View[];
  readonly decode: Decode;
  /** Stores parking records; without it, a poison record stops the view. */
  readonly parkingStore?: ParkingStore | undefined;
  /** Opens and swaps generations; when absent, views cannot be rebuilt meanwhile. */
  readonly generations?: GenerationStore | undefined;
  /** Called after every batch, including failed ones. */
  readonly onProgress: (progress: ProjectorProgress) => void;
  /** Maximum records per batch; 2,000 when absent. */
  readonly batchMax?: number | undefined;
  /** First and maximum pause before the retry of a failed batch. */
  readonly retryMs?: RetryMs | undefined;
  /** Poll interval of the log without wake-ups, in milliseconds. */
  readonly idleMs?: number | undefined;
  /** Milliseconds without progress of a shared view after which this projector takes it over. */
  readonly takeOverMs?: number | undefined;
}

export interface Projector {
  progress(): ProjectorProgress;
  /** The live generations. */
  views(): readonly View[];
  /** Ends the pause between turns, because the log has new records. */
  wake(): void;
  /**
   * As Restoration.restore (progress.ts); rejects `unavailable` when the projector stops before.
   */
  restore(urns: readonly string[], view?: string): Promise<readonly Unrestored[]>;
  /** As Restoration.drop. */
  drop(urn: string, view: string, actor?: string): Promise<readonly Unrestored[]>;
  /** As Replacement. */
  pause(views: readonly string[]): Promise<Position>;
  prepare(views: readonly string[], parked: readonly Parked[]): Promise<void>;
  resume(views: readonly string[], take: boolean): Promise<void>;
  /** Resolves when the batch in flight is done; log and views stay open. */
  stop(): Promise<void>;
}

/** `moved`: a record was applied; `more`: there may be more to apply. */
export interface Advanced {
  readonly moved: boolean;
  readonly more: boolean;
}

export const IDLE: Advanced = { moved: false, more: false };

export interface QueuedWork {
  /** Never rejects. */
  readonly work: () => Promise<void>;
  readonly reject: (error: Error) => void;
}
