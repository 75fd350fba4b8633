/**
 * What a view was made of, and how one is opened for writing: the same for every store. A view
 * remembers the model and the log that made it; opened under others, it is emptied and grown again,
 * unless the other log ends before it: then the log may be lost, and the view is all that is left.
 */
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";

/**
 * Why a view begins anew: what it was made of is not what it would be made of now, or it cannot be
 * read.
 */
export type Emptied = "another model" | "another log" | "an older release" | "damaged";

export interface ViewOrigin {
  /** Fingerprint of the model that the writer projects with; kept with the view. */
  readonly model?: string | undefined;
  /** The log that feeds the view, and where it ends; its id is kept with the view. */
  readonly log?: { readonly id: string; readonly head: Position } | undefined;
  /** Called when what was in the view is given up. */
  readonly onEmptied?: ((why: Emptied) => void) | undefined;
  /**
   * When given, a view of another model at the position `keptFrom` or later is kept and goes on, and this
   * is called with true: the view is to be regrown beside (staging.ts), and says until then
   * that it is of another model. An earlier one is built again sooner than a thread has
   * started. In a server others may change that: it is called whenever the view is found anew.
   */
  readonly onStale?: ((stale: boolean) => void) | undefined;
  readonly keptFrom?: number | undefined;
  /** Of a view in a file: what an older release made is left as it is, and not opened. */
  readonly keepsOlder?: boolean | undefined;
  /** Of a view in a server: whoever opens it has no say in what it is made of. */
  readonly watched?: boolean | undefined;
  /** Regrow from nothing beside the view that is there, and take its place when closed. */
  readonly bulk?: boolean | undefined;
  /**
   * Of a view in a file: the edition that is grown beside the one in place, and stays beside it when
   * closed. With `bulk` it begins from nothing; without, it must be there.
   */
  readonly next?: boolean | undefined;
}

/** What a view says of itself; null where nobody said. */
export interface Made {
  readonly model: string | null;
  readonly log: string | null;
  readonly position: Position;
}

/** Told as the model of a view that several have fed: it is none of them. */
export const severalModels = "several";

/**
 * What is to become of a view: "own" goes on, "stale" goes on and is to be regrown, "ahead" stays
 * as it is, the others begin anew.
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
    `the view "${view}" has come to position ${inPlace}, and what was grown beside it to ${own}`,
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
