/**
 * Differences that go by themselves: an edition that stands still is brought on before it is seen, and
 * what a folded view has of the entities that are told of after its position is made anew then. Until
 * then it may be what the log never said: of an entity's aspects and of its timeseries each is as new as
 * when it was read, and one of the two may have been further.
 */
import type { Position } from "../../core/position.ts";
import type { VerificationParts } from "./running.ts";
import { touchedSince } from "./touched.ts";
import type { VerifiedView } from "./view-rows.ts";

/** Entities of one view; where there are more, the others are compared as they are. */
const TOUCHED_MAX = 200_000;

/** Whether what a view has of an entity is made anew when it is brought on. */
export async function toldAgain(
  { log, broughtOn = false, signal }: Pick<VerificationParts, "log" | "broughtOn" | "signal">,
  places: readonly { readonly view: VerifiedView; readonly position: Position }[],
): Promise<(view: string, urn: string) => boolean> {
  const again = new Map<string, ReadonlySet<string>>();
  if (broughtOn) {
    const head = await log.head();
    for (const { view, position } of places) {
      if (view.foldedFrom === undefined) continue;
      const { urns } = await touchedSince(log, position, head, TOUCHED_MAX, signal);
      again.set(view.name, urns);
    }
  }
  return (view, urn) => again.get(view)?.has(urn) ?? false;
}
