/**
 * The origin of a view: its model and its log. A view that is opened with another model or log is
 * emptied and rebuilt. Exception: if the log ends before the view's position, the log may have lost
 * records, and the view, which may be the only copy, is kept.
 */
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";

/** The reason that a view is emptied: another origin, or an unreadable file. */
export type Emptied = "another model" | "another log" | "an older release" | "damaged";

export interface ViewOrigin {
  /** Fingerprint of the writer's model; stored with the view. */
  readonly model?: string | undefined;
  /** The log that the view is built from, and its head; the id is stored with the view. */
  readonly log?: { readonly id: string; readonly head: Position } | undefined;
  /** Called when the view is emptied. */
  readonly onEmptied?: ((why: Emptied) => void) | undefined;
  /**
   * If present, a view of another model at position `keptFrom` or later is kept as a stale view,
   * and this is called with true; it serves reads until it is rebuilt (staging.ts). A shorter view
   * is emptied: to build it again is faster than to start a thread. For a view in a server, it is
   * called at each opening, because other processes may change the view.
   */
  readonly onStale?: ((stale: boolean) => void) | undefined;
  readonly keptFrom?: number | undefined;
  /** For a view in a file: a file of an older release is left unchanged and not opened. */
  readonly keepsOlder?: boolean | undefined;
  /** For a view in a server: this process is a standby, and does not change the origin. */
  readonly standby?: boolean | undefined;
  /** Builds a staging generation from nothing, which becomes live when it is closed. */
  readonly bulk?: boolean | undefined;
  /**
   * For a view in a file: opens the staging generation, which `close` does not make live. With
   * `bulk`, builds it from an empty file; otherwise it must exist.
   */
  readonly next?: boolean | undefined;
}

/** The stored origin of a view; null where none is stored. */
interface StoredOrigin {
  readonly model: string | null;
  readonly log: string | null;
  readonly position: Position;
}

/** Model of a view to which projectors with different models have written; equals no model. */
export const severalModels = "several";

/**
 * Decides how a view is opened. "own": it continues. "stale": it continues until it is rebuilt.
 * "ahead": it stays unchanged. Otherwise, it is emptied.
 */
export function compareOrigin(
  made: StoredOrigin,
  origin: ViewOrigin,
): "own" | "stale" | "ahead" | Emptied {
  const { model, log, onStale, keptFrom = 1, standby } = origin;
  if (standby !== true && made.log !== null && log !== undefined && made.log !== log.id) {
    return made.position > log.head ? "ahead" : "another log";
  }
  if (made.model === null || model === undefined || made.model === model) return "own";
  if (standby) return "stale";
  return onStale !== undefined && made.position >= keptFrom ? "stale" : "another model";
}

/** The model of a view after a projector with the model `own` has written to it. */
export const modelAfter = (made: string | null, own: string | undefined): string | null =>
  made === null || own === undefined || made === own ? made : severalModels;

/**
 * Throws `conflict` if the live generation is ahead of the staging generation that replaces it. A
 * live generation beyond the end of the log (`head`) may be replaced: the log lacks its last
 * records.
 */
export function checkNotBehind(
  view: string,
  { own, live, head }: { own: Position; live: Position | undefined; head: Position | undefined },
): void {
  if (live === undefined || live <= own) return;
  if (head !== undefined && live > head) return;
  throw new CatalogError(
    "conflict",
    `the view "${view}" is at position ${live}, and its staging generation only at ${own}`,
    { hint: "Another process projects it. Run the rebuild again" },
  );
}

/** The address of a server with a store of the catalog. */
export interface ServerAddress {
  /** Includes the credentials, if the server requires them. */
  readonly url: string;
  /**
   * The catalog's name in that server, `[a-z][a-z0-9_]{0,30}`. All names in the server begin with
   * it, so that several catalogs can share a server.
   */
  readonly name: string;
  /** PEM text of the certificate authorities to trust beside the system's. */
  readonly certificates?: string | undefined;
}

/** A view in a server, opened for writing. */
export interface ServerView extends ServerAddress, ViewOrigin {}
