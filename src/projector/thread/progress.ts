/**
 * The projector's interface to the service: positions of views, waiting for a position, restores
 * and rebuilds. The projector itself runs in another thread.
 */
import type { Position } from "../../core/position.ts";
import type { Parked } from "../parking/parking.ts";
import type { Unrestored } from "../parking/restore.ts";

export interface Progress {
  /** Position of each view by name. */
  positions(): Readonly<Record<string, Position>>;
  /** Number of parked entities by view; omits views without parked entities. */
  parked(): Readonly<Record<string, number>>;
  /** Error by view; omits views without an error. */
  errors(): Readonly<Record<string, string>>;
  /**
   * Resolves when the view has reached the position. Rejects `unavailable`, naming the view and
   * both positions, after `timeoutMs` or when the view cannot get there; immediately if the view
   * has been failing for three seconds, unless the caller is `patient`.
   */
  reached(
    view: string,
    position: Position,
    options: { readonly timeoutMs: number; readonly patient?: boolean },
  ): Promise<void>;
  /** Called with all positions whenever one has moved. */
  onProgress(listener: (positions: Readonly<Record<string, Position>>) => void): void;
  /** Notifies the projector of a new head of the log. */
  notifyAppended(head: Position): void;
}

export interface Restoration {
  /**
   * Restores entities from the log in all views, or in one. Resolves with those that failed;
   * releases the parked entities that succeeded. Rejects `unavailable` while no projector runs.
   */
  restore(urns: readonly string[], view?: string): Promise<readonly Unrestored[]>;
  /**
   * Permanently drops the record at which an entity is parked in a view, and restores the entity in
   * that view. Rejects `not_found` if the entity is not parked.
   */
  drop(urn: string, view: string, actor?: string): Promise<readonly Unrestored[]>;
  /** Number of restores so far. A read that began before the last one may be outdated. */
  restorations(): number;
  /** Called with the restored urns before restore() resolves; "all" after a view was replaced. */
  onRestored(listener: (urns: readonly string[] | "all") => void): void;
}

/** Swaps the live generation of views for the staging one (swap-generations.ts). */
export interface GenerationSwap {
  /** Pauses the views; resolves with the highest of their positions. */
  pause(views: readonly string[]): Promise<Position>;
  /**
   * Opens the staging generations, pauses the views and brings both to the same state. `parked`:
   * entities parked in the staging generations.
   */
  prepare(views: readonly string[], parked: readonly Parked[]): Promise<void>;
  /**
   * Resumes the views: with the staging generations, which become live (`take`), or the old ones.
   */
  resume(views: readonly string[], take: boolean): Promise<void>;
}
