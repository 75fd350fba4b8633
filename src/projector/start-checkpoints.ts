/** Positions of views when a projector starts, and their check against the log. */
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { ownCommand } from "../lib/command-hint.ts";
import { isPoison } from "./parking/parking.ts";
import type { View } from "./sink.ts";

/** The error of a view, and the time of the next attempt (epoch milliseconds). */
export interface Failure {
  readonly error: Error;
  readonly attempts: number;
  readonly retryAt: number;
}

/**
 * A view in a server may be unavailable at the start and is retried; other views must be readable.
 */
export async function startCheckpoint(
  { sink, shared }: View,
  retryMs: number,
): Promise<{ readonly position: Position; readonly failure: Failure | undefined }> {
  try {
    return { position: await sink.position(), failure: undefined };
  } catch (error) {
    if (shared === undefined || !(error instanceof Error) || isPoison(error)) throw error;
    const failure = { error, attempts: 1, retryAt: Date.now() + retryMs };
    return { position: START, failure };
  }
}

/**
 * Throws `unavailable` for a view that is ahead of the log. It was built from another log, and
 * would skip new records as already applied.
 */
export function checkAhead(
  viewStates: readonly { readonly view: View; readonly position: Position }[],
  head: Position,
): void {
  const ahead = viewStates.find(({ position }) => position > head);
  if (ahead === undefined) return;
  throw endsBefore({ view: ahead.view.name, position: ahead.position }, head);
}

/**
 * The error for a log that ends before a view's position; `flags`: arguments for the hint's
 * command.
 */
export const endsBefore = (
  { view, position }: { readonly view: string; readonly position: Position },
  head: Position,
  flags = "",
): CatalogError =>
  new CatalogError(
    "unavailable",
    `the view "${view}" is at position ${position}, but the log ends at ${head}`,
    {
      hint: `The log was lost or replaced by an older one. Put the right one back; if this is the right one, run: ${ownCommand(`rebuild${flags}`)}`,
    },
  );

/**
 * True if this process starts as a standby for the view. A process with the view's model has
 * priority; if there is none, this process takes over.
 */
export const startsAsStandby = ({ shared, builtWithAnotherModel }: View): boolean =>
  shared === "standby" || (shared === "leader" && builtWithAnotherModel?.() === true);
