/**
 * What the rest of the service knows of the projector: how far each view is, and when it will be
 * far enough. The embedded profile's projector runs in a thread of its own; this is its near end.
 */
import type { Position } from "../core/position.ts";
import type { Parked } from "./parking.ts";
import type { Unrestored } from "./restore.ts";

export interface Progress {
  /** Position of each view by name. */
  positions(): Readonly<Record<string, Position>>;
  /** How many entities a view passes over, by name; views that pass over none are not in it. */
  parked(): Readonly<Record<string, number>>;
  /** What stops a view, by name; a view that works is not in it. */
  errors(): Readonly<Record<string, string>>;
  /**
   * Resolves when the view has the position. Rejects with CatalogError `unavailable`, naming the
   * view, its position and the wanted one, after `timeoutMs`, or when it cannot get there; at once
   * while the view has been failing for three seconds, unless the caller is `patient`.
   */
  reached(
    view: string,
    position: Position,
    options: { readonly timeoutMs: number; readonly patient?: boolean },
  ): Promise<void>;
  /** Called with all positions whenever one has moved. */
  onProgress(listener: (positions: Readonly<Record<string, Position>>) => void): void;
  /** Says that the log has come to a position. */
  poke(head: Position): void;
}

export interface Restoration {
  /**
   * Makes what the views, or one of them, have of some entities anew from the log; resolves with
   * those that could not be. What was parked and could be is parked no longer. Rejects
   * `unavailable` when nobody is there to do it.
   */
  restore(urns: readonly string[], view?: string): Promise<readonly Unrestored[]>;
  /**
   * Passes for ever over the record that an entity is parked with in a view, and restores it there.
   * Rejects `not_found` when it is not parked.
   */
  drop(urn: string, view: string, actor?: string): Promise<readonly Unrestored[]>;
  /** How often it was done: what was read of a view before the last time may be outdated. */
  restorations(): number;
  /** Called with what was restored, before restore() resolves; "all" after a view was replaced. */
  onRestored(listener: (urns: readonly string[] | "all") => void): void;
}

/** Puts the next editions of views in the place of those that are fed (replacing.ts). */
export interface Replacement {
  /** Nothing is fed to the views from now on; resolves with the position of the foremost. */
  hold(views: readonly string[]): Promise<Position>;
  /**
   * Opens the next editions and brings them to where the views are, which are held then; `parked`:
   * what the next editions pass over. When it has resolved they are the same as the views.
   */
  prepare(views: readonly string[], parked: readonly Parked[]): Promise<void>;
  /** Goes on feeding: the next editions (`take`), which are in place then, or the old ones. */
  release(views: readonly string[], take: boolean): Promise<void>;
}
