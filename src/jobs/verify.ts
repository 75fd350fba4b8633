/**
 * Verification as a job: a thread compares views with the log and repairs differences on request. Reads and writes
 * continue meanwhile. One verification runs at a time; the next job waits.
 */
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { NOTHING } from "../core/job-counts.ts";
import { type Position, position } from "../core/position.ts";
import { parseUrn, type UrnLimits, withNamespace } from "../core/urn.ts";
import { createConcurrencyLimit, slotOf } from "../lib/concurrency-limit.ts";
import { slicesOf } from "../lib/lists.ts";
import { orAborted } from "../lib/or-aborted.ts";
import type { Restoration } from "../projector/thread/progress.ts";
import type { Difference } from "../projector/verify/differences.ts";
import { countOf, verifyAndRepair } from "../projector/verify/repair.ts";
import type { VerificationResult } from "../projector/verify/verification.ts";
import type { Verified, VerifiedState } from "../projector/verify/verified-state.ts";
import type { Jobs, JobWork, OperationResult } from "./jobs.ts";
import { type StalledView, stuckViews } from "./status/stalled-views.ts";
import { noSuchView } from "./unknown-view.ts";

export interface VerifyRequest {
  /** All views if empty or absent. */
  readonly views?: readonly string[] | undefined;
  /** Compare only entities with a record after this position of the log. */
  readonly since?: number | undefined;
  /** Accepted and ignored: there is one depth. */
  readonly full?: boolean | undefined;
  /** Accepted and ignored. */
  readonly quick?: boolean | undefined;
  /** Repair differences from the log. */
  readonly repair?: boolean | undefined;
  /** Accepted and ignored: all entities are compared. */
  readonly urns?: readonly string[] | undefined;
}

export interface DifferencesQuery {
  readonly view?: string | undefined;
  readonly start: number;
  readonly count: number;
}

type ViewVerification = Omit<Verified, "differences" | "count"> & {
  readonly differences: number;
};

export interface DifferencesPage {
  readonly total: number;
  readonly differences: readonly Difference[];
  /** Views that were ever verified. */
  readonly views: readonly ViewVerification[];
}

export interface VerifyParts {
  /** Views that can be verified. */
  readonly views: readonly string[];
  readonly verify: (
    asked: {
      readonly views: readonly string[];
      readonly since?: Position | undefined;
    },
    options: {
      readonly onProgress: (done: number, total: number) => void;
      readonly signal: AbortSignal;
    },
  ) => Promise<VerificationResult>;
  /** Opened for each use: the thread writes what is read here. */
  readonly openState: () => VerifiedState;
  readonly restoration: Pick<Restoration, "restore">;
  /** Rebuilds views from the log. Rejects `conflict` while others are rebuilt. */
  readonly rebuild: (views: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Compares the indexes of the log with its tables; rejects if they differ. */
  readonly checkIndexes: (signal: AbortSignal) => Promise<void>;
  /** Finds stuck views (status/stalled-views.ts). */
  readonly findStuckViews: (views: readonly string[]) => Promise<readonly StalledView[]>;
  /** Seconds between two verifications in the background; 0: none. */
  readonly intervalSeconds: number;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  readonly logger: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Entities restored between two batches of the projector. */
const RESTORED_MAX = 50;

export function createVerifications(parts: VerifyParts) {
  const { restoration, logger } = parts;
  let latest: Readonly<Record<string, ViewVerification>> = {};
  const withSlot = createConcurrencyLimit(1);
  /** Number of running and waiting verifications: jobs, and the one in the background. */
  let pending = 0;

  function withState<T>(use: (state: VerifiedState) => T): T {
    const state = parts.openState();
    try {
      return use(state);
    } finally {
      state.close();
    }
  }

  function loadResults(): void {
    latest = withState((state) =>
      Object.fromEntries(
        Object.entries(state.load()).map(([view, { count, ...result }]) => [
          view,
          { ...result, differences: count },
        ]),
      ),
    );
  }

  const work: JobWork = async (run) => {
    const slot = slotOf(withSlot);
    pending++;
    try {
      await orAborted(slot.acquire(), run.signal);
      await parts.checkIndexes(run.signal);
      await runVerification(run);
    } finally {
      slot.release();
      pending--;
    }
  };

  const runVerification: JobWork = async (run) => {
    const { views = [], repair = false, since } = run.request as VerifyRequest;
    const { signal } = run;
    let counts = { ...NOTHING, ...run.counts };
    const verify = async (views: readonly string[]): Promise<readonly Verified[]> => {
      const result = await parts.verify(
        { views, since: since === undefined ? undefined : position(since) },
        {
          signal,
          onProgress(done, total) {
            void run.report({ ...counts, total: counts.noops + total, noops: counts.noops + done });
          },
        },
      );
      loadResults();
      const noops = counts.noops + result.records;
      counts = { ...counts, total: noops, noops, batches: counts.batches + 1 };
      await run.report(counts);
      const found = countOf(result.views);
      if (found > 0) logger.error({ found }, "views differ from the log");
      return result.views;
    };
    const asked = views.length === 0 ? parts.views : views;
    const elsewhere = new Set<string>();
    if (!repair) {
      await verify(asked);
      await requireMoving(asked);
      return;
    }
    const { after } = await verifyAndRepair(asked, {
      verify,
      async restore(urns) {
        await restore(urns, elsewhere, signal);
        counts = { ...counts, updated: counts.updated + urns.length };
        return elsewhere.size === 0;
      },
      async rebuild(damaged) {
        logger.info({ views: damaged }, "rebuilding views that restoring entities cannot repair");
        await parts.rebuild(damaged, signal);
      },
      signal,
    });
    await rebuildStuck(asked, signal);
    const found = countOf(after);
    if (found > 0) throw elsewhere.size > 0 ? noProjectorFor(elsewhere) : unrepaired(found);
  };

  async function requireMoving(views: readonly string[]): Promise<void> {
    const found = await parts.findStuckViews(views);
    if (found.length > 0) throw stuckViews(found);
  }

  /** Rebuilds stuck views. */
  async function rebuildStuck(views: readonly string[], signal: AbortSignal): Promise<void> {
    const found = (await parts.findStuckViews(views)).map(({ view }) => view);
    if (found.length === 0) return;
    logger.info({ views: found }, "rebuilding stuck views");
    await parts.rebuild(found, signal);
    await requireMoving(found);
  }

  /** Adds to `elsewhere` the views without a running projector. */
  async function restore(
    urns: readonly string[],
    elsewhere: Set<string>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const slice of slicesOf(urns, RESTORED_MAX)) {
      signal.throwIfAborted();
      const unrestored = await restoration.restore(slice);
      for (const { urn, view, reason, elsewhere: other } of unrestored) {
        if (other === true) elsewhere.add(view);
        logger.error({ urn, view, reason }, "an entity could not be restored");
      }
    }
  }

  async function verifyInBackground(signal: AbortSignal): Promise<void> {
    pending++;
    try {
      const asked = { views: parts.views };
      const { views } = await withSlot(() => parts.verify(asked, { onProgress: () => {}, signal }));
      loadResults();
      const differing = views.filter(({ count }) => count > 0);
      for (const { view, count } of differing) {
        logger.error({ view, found: count }, "a view differs from the log");
      }
    } catch (err) {
      if (!signal.aborted) logger.error({ err }, "views could not be verified");
    } finally {
      pending--;
    }
  }

  function checkViews(views: readonly string[]): void {
    const unknown = views.find((view) => !parts.views.includes(view));
    if (unknown !== undefined) throw noSuchView(unknown, parts.views);
  }

  /** The request that the job stores: each name once. */
  function checked({ views = [], urns = [], repair, since }: VerifyRequest): VerifyRequest {
    checkViews(views);
    for (const urn of urns) parseUrn(withNamespace(urn, parts.namespace), parts.urnLimits);
    return { views: [...new Set(views)], repair, since };
  }

  return {
    work,

    async verify(request: VerifyRequest, caller: Caller, jobs: Jobs): Promise<OperationResult> {
      const asked = checked(request);
      const { id, position } = await jobs.start("verify", asked, caller);
      return { text: id, position };
    },

    async listDifferences({ view, start, count }: DifferencesQuery): Promise<DifferencesPage> {
      if (view !== undefined) checkViews([view]);
      loadResults();
      const page = withState((state) => state.list({ view, start, count }));
      const views = Object.values(latest).filter((one) => view === undefined || one.view === view);
      return { ...page, views };
    },

    /** Loads results that others stored: a rebuild stores that of its verification. */
    loadResults,

    /** The last result; undefined for a view that was never verified. */
    verified: (view: string) => latest[view],

    /** Verifies the views at intervals, without a job and without repair. Returns a function that stops it. */
    watch(): () => Promise<void> {
      loadResults();
      const stopping = new AbortController();
      let running: Promise<void> = Promise.resolve();
      const timer = setInterval(() => {
        if (pending === 0) running = verifyInBackground(stopping.signal);
      }, parts.intervalSeconds * 1_000).unref();
      if (parts.intervalSeconds === 0) clearInterval(timer);
      return async () => {
        clearInterval(timer);
        stopping.abort(new CatalogError("unavailable", "the service is stopping"));
        await running;
      };
    },
  };
}

const noProjectorFor = (views: ReadonlySet<string>): CatalogError =>
  new CatalogError(
    "unavailable",
    `no projector runs for the views ${[...views].join(", ")}: their differences are not repaired`,
    { hint: "Start a node with the role projector, then repair again" },
  );

const unrepaired = (found: number): CatalogError =>
  new CatalogError("conflict", `${found} differences are left after repair and rebuild`, {
    hint: "listDifferences shows them; repair again if the catalog was written to meanwhile",
  });
