/**
 * Comparing the next editions of views with the log before they take the place of others: wholly, in a
 * thread of its own. They are closed then, or stand still in a server, and nobody else knows of them.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Parked } from "../parking.ts";
import type { Grown } from "../sink.ts";
import type { VerificationResult } from "./verification.ts";

import { verifyInThread } from "./verifying.ts";

interface Stores {
  readonly module: string;
  readonly config: unknown;
}

const how = { next: true } as const;
const onProgress = (): void => {};

/** Throws `unavailable` when one is not what the log says, up to where it was grown. */
export async function verifyEditions(
  stores: Stores,
  editions: {
    readonly views: readonly string[];
    /** What they pass over: it is settled when they take their places. */
    readonly parked: readonly Parked[];
    /** Where those are that lie in servers, by view. */
    readonly grown?: Readonly<Record<string, Grown>> | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const { views, parked, grown } = editions;
  const asked = { ...how, views, grown };
  requireEqual(await verifyInThread({ ...stores, ...asked }, { onProgress, signal }), parked);
}

function requireEqual(
  { views }: Pick<VerificationResult, "views">,
  parked: readonly Parked[],
): void {
  const parkedUrns = new Set(parked.map(({ urn }) => urn));
  for (const { view, count, differences } of views) {
    const expected = differences.filter(({ urn }) => parkedUrns.has(urn)).length;
    const first = differences.find(({ urn }) => !parkedUrns.has(urn));
    if (first === undefined) continue;
    const { urn, aspect, kind, there = "" } = first;
    const where = urn === "" ? there : `${kind} ${urn} ${aspect}`.trimEnd();
    throw new CatalogError(
      "unavailable",
      `the view "${view}" was rebuilt and differs from the log: ${count - expected} differences, the first: ${where}`,
      {
        hint: "It was not swapped in; the live view is unchanged. Check disk and memory, then rebuild again",
      },
    );
  }
}
