/**
 * What a view was made of, and how one is opened for writing: the same for every store. A view
 * remembers the model and the log that made it; opened under others, it is emptied and grown again,
 * unless the other log ends before it: then the log may be lost, and the view is all that is left.
 */
import type { Position } from "../core/position.ts";

/** Why a view begins anew: what it was made of is not what it would be made of now, or it cannot be read. */
export type Emptied = "another model" | "another log" | "damaged";

export interface ViewOrigin {
  /** Fingerprint of the model that the writer projects with; kept with the view. */
  readonly model?: string | undefined;
  /** The log that feeds the view, and where it ends; its id is kept with the view. */
  readonly log?: { readonly id: string; readonly head: Position } | undefined;
  /** Called when what was in the view is given up. */
  readonly onEmptied?: ((why: Emptied) => void) | undefined;
  /**
   * When given, what another model made of `keptFrom` records or more is kept and goes on, and this
   * is called: the view is to be regrown beside (regrow-beside.ts), and says until then that it is of
   * another model. What is made of fewer is grown again sooner than a thread has started.
   */
  readonly onStale?: (() => void) | undefined;
  readonly keptFrom?: number | undefined;
  /** Regrow from nothing beside the view that is there, and take its place when closed. */
  readonly bulk?: boolean | undefined;
  /**
   * Of a view in a file: the edition that is grown beside the one in place, and stays beside it when
   * closed. With `bulk` it begins from nothing; without, it must be there.
   */
  readonly next?: boolean | undefined;
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
