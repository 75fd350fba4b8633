/**
 * Rebuilds views of another model and views with damaged files, if this process projects them. A
 * view that a process of another model still projects is left to that process: when the nodes of a
 * cluster are replaced one after the other, a view is rebuilt once, after the last of them.
 */
interface OutdatedParts {
  /** Views of another model, as far as they are known yet. */
  readonly stale: () => readonly string[];
  /** Views whose files are damaged. */
  readonly damaged: () => readonly string[];
  /** Views that this process projects. */
  readonly projected: () => readonly string[];
  /** Called when a view is found to be of another model, and after its rebuild. */
  readonly onStale: (view: string, stale: boolean) => void;
  /** Rebuild views of another model. */
  readonly ofAnotherModel: boolean;
  /** Starts the job. */
  readonly rebuild: (views: readonly string[]) => Promise<unknown>;
  /** Number of finished rounds of rebuilds. */
  readonly rebuilt: () => number;
  /** True while views are rebuilt. */
  readonly isRebuilding: () => boolean;
  readonly logger: { error(fields: object, message: string): void };
  readonly pollMs?: number | undefined;
}

const CHECK_MS = 1_000;
/** Backoff after a failed rebuild. */
const RETRY_MS = { first: 30_000, max: 600_000 };
/** Pause between two rebuilds. */
const PAUSE_MS = 5_000;

/** Resolves after the first check. */
export async function watchOutdated(parts: OutdatedParts): Promise<{ close(): void }> {
  const { onStale, isRebuilding: underWay, logger, pollMs = CHECK_MS } = parts;
  let known: readonly string[] = [];
  /** Views of failed rebuilds; new views are due at once, these after the backoff. */
  let failedViews: readonly string[] = [];
  let rebuilt = parts.rebuilt();
  let retryMs = RETRY_MS.first;
  let retryAt = Number.NEGATIVE_INFINITY;
  let begunAt = Number.NEGATIVE_INFINITY;

  async function check(): Promise<void> {
    const stale = parts.stale();
    for (const view of stale) if (!known.includes(view)) onStale(view, true);
    for (const view of known) if (!stale.includes(view)) onStale(view, false);
    known = stale;
    const outdated = new Set([...(parts.ofAnotherModel ? stale : []), ...parts.damaged()]);
    const projected = parts.projected();
    const due = [...outdated].filter((view) => projected.includes(view));
    failedViews =
      rebuilt === parts.rebuilt() ? failedViews.filter((view) => due.includes(view)) : [];
    rebuilt = parts.rebuilt();
    if (failedViews.length === 0) retryMs = RETRY_MS.first;
    if (due.length === 0 || underWay()) return;
    const isNew = due.some((view) => !failedViews.includes(view));
    if (performance.now() < (isNew ? begunAt + PAUSE_MS : retryAt)) return;
    failedViews = due;
    begunAt = performance.now();
    retryAt = performance.now() + retryMs;
    retryMs = Math.min(retryMs * 2, RETRY_MS.max);
    await parts.rebuild(due);
  }

  await check();
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    check()
      .catch((err) => logger.error({ err }, "views could not be rebuilt"))
      .finally(() => {
        checking = false;
      });
  }, pollMs).unref();
  return { close: () => clearInterval(timer) };
}
