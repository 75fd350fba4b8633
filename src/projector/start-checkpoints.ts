/** Where views are when a projector begins. */
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { ownCommand } from "../lib/command-hint.ts";
import { isPoison } from "./parking/parking.ts";
import type { View } from "./sink.ts";

/** Why a view does not move on, and when it is tried again (epoch milliseconds). */
export interface Failure {
  readonly error: Error;
  readonly attempts: number;
  readonly retryAt: number;
}

/** A server that does not answer is asked again later; a view of this process's own must answer. */
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
 * A view that has more than the log was fed by another one: it would take what is appended from now
 * on for what it has already, and drop it. Throws `unavailable`.
 */
export function checkAhead(
  viewStates: readonly { readonly view: View; readonly position: Position }[],
  head: Position,
): void {
  const ahead = viewStates.find(({ position }) => position > head);
  if (ahead === undefined) return;
  throw endsBefore({ view: ahead.view.name, position: ahead.position }, head);
}

/** Of a log that ends before a view; `flags` for the command that is named. */
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

/** A process with the view's model has priority for feeding it; without one, this process takes over. */
export const startsAsStandby = ({ shared, ofAnotherModel }: View): boolean =>
  shared === "watched" || (shared === "led" && ofAnotherModel?.() === true);
