/**
 * The origin of a view, its model and its log, for every store. A view opened with another model or
 * log is emptied and built again, unless the other log ends before the view's position: then the log
 * may be lost, and the view is all that is left.
 */
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";

/** Why a view is emptied: another origin, or an unreadable file. */
export type Emptied = "another model" | "another log" | "an older release" | "damaged";

export interface ViewOrigin {
  /** Fingerprint of the writer's model; stored with the view. */
  readonly model?: string | undefined;
  /** The log that the view is built from, and its head; the id is stored with the view. */
  readonly log?: { readonly id: string; readonly head: Position } | undefined;
  /** Called when the view is emptied. */
  readonly onEmptied?: ((why: Emptied) => void) | undefined;
  /**
   * If present, a view of another model at position `keptFrom` or later is kept as a stale view, and
   * this is called with true; it serves reads until it is rebuilt (staging.ts). A shorter view is
   * emptied: to build it again is faster than to start a thread. For a view in a server, it is called
   * at each opening, because other processes may change the view.
   */
  readonly onStale?: ((stale: boolean) => void) | undefined;
  readonly keptFrom?: number | undefined;
  /** For a view in a file: a file of an older release is left unchanged and not opened. */
  readonly keepsOlder?: boolean | undefined;
  /** For a view in a server: this process only watches it, and does not change its origin. */
  readonly watched?: boolean | undefined;
  /** Builds a staging generation from nothing, which becomes live when it is closed. */
  readonly bulk?: boolean | undefined;
  /**
   * For a view in a file: opens the staging generation, which stays so when it is closed. With
   * `bulk` it is built from nothing; without, it must exist.
   */
  readonly next?: boolean | undefined;
}

/** The stored origin of a view; null where none is stored. */
export interface Made {
  readonly model: string | null;
  readonly log: string | null;
  readonly position: Position;
}

/** The model of a view that was fed with several models: it equals none of them. */
export const severalModels = "several";

/**
 * How to open a view: "own" continues, "stale" continues until it is rebuilt, "ahead" is left
 * unchanged; for the other results, it is emptied.
 */
export function judge(made: Made, origin: ViewOrigin): "own" | "stale" | "ahead" | Emptied {
  const { model, log, onStale, keptFrom = 1, watched } = origin;
  if (watched !== true && made.log !== null && log !== undefined && made.log !== log.id) {
    return made.position > log.head ? "ahead" : "another log";
  }
  if (made.model === null || model === undefined || made.model === model) return "own";
  if (watched) return "stale";
  return onStale !== undefined && made.position >= keptFrom ? "stale" : "another model";
}

/** The model that a view is of when this one has fed it. */
export const modelAfter = (made: string | null, own: string | undefined): string | null =>
  made === null || own === undefined || made === own ? made : severalModels;

/**
 * Throws `conflict` for a view that is to take the place of one that is further. One that is beyond the
 * end of the log (`head`) covers records that the log does not hold: it gives up its place.
 */
export function checkNotBehind(
  view: string,
  {
    own,
    inPlace,
    head,
  }: { own: Position; inPlace: Position | undefined; head: Position | undefined },
): void {
  if (inPlace === undefined || inPlace <= own) return;
  if (head !== undefined && inPlace > head) return;
  throw new CatalogError(
    "conflict",
    `the view "${view}" is at position ${inPlace}, and its staging generation only at ${own}`,
    { hint: "Another process feeds it. Run the rebuild again" },
  );
}

/** Where a view lies that a server keeps. */
export interface ServerPlace {
  /** With credentials where the server asks for them. */
  readonly url: string;
  /**
   * The catalog's name in that server, `[a-z][a-z0-9_]{0,30}`: what is kept there begins with it, so
   * that several catalogs share a server.
   */
  readonly name: string;
  /** PEM text of the certificate authorities to trust beside the system's. */
  readonly certificates?: string | undefined;
}

/** A view in a server, to be written. */
export interface ServerView extends ServerPlace, ViewOrigin {}
