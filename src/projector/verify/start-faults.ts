/** Looking for what no row of a view shows, by the hands of a verification beside all that they do else. */
import type { Searching } from "./hands.ts";
import type { VerificationParts } from "./running.ts";

/** Begins at once; what it gives back waits for what was found of a view. */
export function startFaults(
  { hands }: Pick<VerificationParts, "hands">,
  asked: readonly Searching[],
): (view: string) => Promise<readonly string[]> {
  const found = new Map(asked.map((one) => [one.view, hands.faults(one)]));
  // Something else may fail before anybody waits for it.
  for (const one of found.values()) one.catch(() => {});
  return async (view) => (await found.get(view)) ?? [];
}
