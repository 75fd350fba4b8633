/**
 * Comparing the next editions of views with the log before they take the place of others: wholly, in a
 * thread of its own. They are closed then, or stand still in a server, and nobody else knows of them.
 */
import { availableParallelism } from "node:os";
import { CatalogError } from "../../core/errors.ts";
import type { Parked } from "../parking.ts";
import type { Grown } from "../sink.ts";
import type { VerificationResult } from "./verification.ts";
import type { VerifyThreadData } from "./verify-thread.ts";
import { verifyInThread } from "./verifying.ts";

/** Beside that thread: the service has a core to itself. */
const threadsMax = 1;

interface Stores {
  readonly module: string;
  readonly config: unknown;
}

const how = { grade: "full", urns: [], next: true } as const;
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
  const asked = { ...how, views, grown, ...besideService() };
  requireEqual(await verifyInThread({ ...stores, ...asked }, { onProgress, signal }), parked);
}

/**
 * The same for editions that are yet to be grown and closed: `parked` resolves then. What the log says
 * is folded meanwhile.
 */
export async function verifyGrowing(
  stores: Stores,
  editions: {
    readonly views: readonly string[];
    /** Threads that grow them. */
    readonly growers: number;
    readonly parked: Promise<readonly Parked[]>;
  },
  signal: AbortSignal | undefined,
  where: Pick<VerifyThreadData, "niceness" | "threads" | "atRest"> = besideService(),
): Promise<void> {
  const { views, growers, parked } = editions;
  const ready = parked.then(() => {});
  const asked = { ...how, views, ...where, growers };
  const found = await verifyInThread({ ...stores, ...asked }, { onProgress, signal, ready });
  requireEqual(found, await parked);
}

const besideService = () => ({
  threads: Math.min(threadsMax, availableParallelism() - 1),
});

function requireEqual(
  { views }: Pick<VerificationResult, "views">,
  parked: readonly Parked[],
): void {
  const passedOver = new Set(parked.map(({ urn }) => urn));
  for (const { view, count, differences } of views) {
    const settled = differences.filter(({ urn }) => passedOver.has(urn)).length;
    const left = differences.filter(({ urn }) => !passedOver.has(urn));
    const [first] = left;
    if (first === undefined || count === settled) continue;
    const { urn, aspect, kind, there = "" } = first;
    const where = urn === "" ? there : `${kind} ${urn} ${aspect}`.trimEnd();
    throw new CatalogError(
      "unavailable",
      `the view "${view}" was grown anew and is not what the log says: ${count - settled} differences, the first: ${where}`,
      {
        hint: "It did not take the place of the view in use, which is as it was. Look at disk and memory, then rebuild again",
      },
    );
  }
}
