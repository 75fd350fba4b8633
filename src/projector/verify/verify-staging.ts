/**
 * Compares staging generations with the log in a thread, before they become live. They are closed,
 * or paused on a server, and have no readers.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Parked } from "../parking/parking.ts";
import type { Staged } from "../sink.ts";
import type { VerificationResult } from "./verification.ts";
import type { Verified } from "./verified-state.ts";
import { verifyInThread } from "./verifying.ts";

interface Stores {
  readonly module: string;
  readonly config: unknown;
}

const how = { next: true } as const;
const onProgress = (): void => {};

/**
 * Returns the results, without the differences of parked entities. Throws `unavailable` if a
 * generation differs from the log up to its position.
 */
export async function verifyStaging(
  stores: Stores,
  generations: {
    readonly views: readonly string[];
    /** Parked entities, which may differ: the swap reconciles them. */
    readonly parked: readonly Parked[];
    /** Staging generations in servers, by view. */
    readonly staged?: Readonly<Record<string, Staged>> | undefined;
  },
  signal: AbortSignal,
): Promise<readonly Verified[]> {
  const { views, parked, staged } = generations;
  const asked = { ...how, views, staged };
  const result = await verifyInThread({ ...stores, ...asked }, { onProgress, signal });
  assertNoDifferences(result, parked);
  return result.views.map((one) => ({ ...one, count: 0, differences: [] }));
}

function assertNoDifferences(
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
