/**
 * Verifying views that are read in parts: a batch on its way into a server may be half there, so
 * that what is read was never so at any position. What differs in such a view is therefore looked at
 * again, after a while and a few times; what is really wrong differs each time. That may take a
 * bounded time in all: where much is wrong, it is told without further ado.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Difference } from "./differences.ts";
import type { Hands } from "./hands.ts";

/** Milliseconds before each further look: batches take tens to hundreds of them. */
const PAUSES_MS = [50, 150, 400];
/** Of one verification, in all. */
const PATIENCE_MS_MAX = 20_000;

/** Entities of which it is remembered that they differed each time. */
const SURE_MAX = 10_000;

/** `inParts`: views that are read so. */
export function patientHands(hands: Hands, inParts: ReadonlySet<string>): Hands {
  let left = PATIENCE_MS_MAX;
  const sure = new Set<string>();
  const doubtful = ({ view, urn }: Difference) => inParts.has(view) && !sure.has(`${view} ${urn}`);

  async function lookAgain(
    batch: Parameters<Hands["verify"]>[0],
    found: readonly Difference[],
  ): Promise<readonly Difference[]> {
    let differences = found;
    for (const ms of PAUSES_MS) {
      const urns = new Set(differences.filter(doubtful).map(({ urn }) => urn));
      if (urns.size === 0 || left <= 0) break;
      const begun = performance.now();
      await pause(ms);
      const entities = [...urns].map((urn) => ({ urn }));
      const again = await hands.verify({ ...batch, entities });
      differences = [
        ...differences.filter(({ view, urn }) => !inParts.has(view) || !urns.has(urn)),
        ...again.differences.filter(({ view }) => inParts.has(view)),
      ];
      left -= performance.now() - begun;
    }
    for (const one of differences) {
      if (sure.size < SURE_MAX && doubtful(one)) sure.add(`${one.view} ${one.urn}`);
    }
    return differences;
  }

  return {
    ...hands,
    async verify(batch) {
      const done = await hands.verify(batch);
      return { ...done, differences: await lookAgain(batch, done.differences) };
    },
  };
}
