/** Waiting for the view that another one is made from. */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";

const LOOK_MS = 20;

/**
 * Where `view` is, once that is not before `upTo`. Rejects `unavailable`, naming who waits, when it
 * is not there within some milliseconds.
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
    await delay(LOOK_MS);
    at = await view.position();
  }
  if (at >= upTo) return at;
  throw new CatalogError(
    "unavailable",
    `${waiter} waits for the ${options.view} view, which is at position ${at} of ${upTo}`,
  );
}
