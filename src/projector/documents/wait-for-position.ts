/** Waits until a source view reaches a position. */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";

const POLL_MS = 20;

/**
 * Resolves with the position of `view` when it is at least `upTo`. Rejects `unavailable` after
 * `msMax`; the message names `waiter`.
 */
export async function awaitPosition(
  view: { position(): Promise<Position> },
  upTo: Position,
  options: { readonly waiter: string; readonly view: string; readonly msMax: number },
): Promise<Position> {
  const { waiter, msMax } = options;
  const begun = performance.now();
  let at = await view.position();
  while (at < upTo && performance.now() - begun < msMax) {
    await delay(POLL_MS);
    at = await view.position();
  }
  if (at >= upTo) return at;
  throw new CatalogError(
    "unavailable",
    `${waiter} waits for the ${options.view} view, which is at position ${at} of ${upTo}`,
  );
}
