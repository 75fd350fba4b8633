/**
 * Rebuilds views that another model made, which it reports once, and views whose files are damaged, as far as
 * this process projects them. A view that a process of another model still projects is left to that process: when the
 * nodes of a cluster are replaced one after the other, a view is rebuilt once, after the last of them.
 */
export interface OutdatedParts {
  /** Views that another model made, as far as is known by now; it may become known late. */
  readonly stale: () => readonly string[];
  /** Views whose files are damaged. */
  readonly damaged: () => readonly string[];
  /** Views that this process feeds. */
  readonly fed: () => readonly string[];
  /** Called when a view was found to be of another model, and when it is not any more. */
  readonly onStale: (view: string, stale: boolean) => void;
  /** Whether those of another model are rebuilt. */
  readonly ofAnotherModel: boolean;
  /** Starts the job. */
  readonly rebuild: (views: readonly string[]) => Promise<unknown>;
  /** How often views were put in place anew. */
  readonly rebuilt: () => number;
  /** Whether views are being rebuilt. */
  readonly underWay: () => boolean;
  readonly logger: { error(fields: object, message: string): void };
  readonly lookMs?: number | undefined;
}

const LOOK_MS = 1_000;
/** Until a rebuild that did not succeed is tried again, first and at most. */
const RETRY_MS = { first: 30_000, max: 600_000 };
/** Between two rebuilds, whatever there is to be rebuilt. */
const PAUSE_MS = 5_000;

/** Resolves when it has looked once. */
export async function watchOutdated(parts: OutdatedParts): Promise<{ close(): void }> {
  const { onStale, underWay, logger, lookMs = LOOK_MS } = parts;
  let known: readonly string[] = [];
  /** Those of which nothing was tried yet are due at once, and all after something came of it. */
  let tried: readonly string[] = [];
  let rebuilt = parts.rebuilt();
  let retryMs = RETRY_MS.first;
  let retryAt = Number.NEGATIVE_INFINITY;
  let begunAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    const stale = parts.stale();
    for (const view of stale) if (!known.includes(view)) onStale(view, true);
    for (const view of known) if (!stale.includes(view)) onStale(view, false);
    known = stale;
    const outdated = new Set([...(parts.ofAnotherModel ? stale : []), ...parts.damaged()]);
    const fed = parts.fed();
    const due = [...outdated].filter((view) => fed.includes(view));
    tried = rebuilt === parts.rebuilt() ? tried.filter((view) => due.includes(view)) : [];
    rebuilt = parts.rebuilt();
    if (tried.length === 0) retryMs = RETRY_MS.first;
    if (due.length === 0 || underWay()) return;
    const isNew = due.some((view) => !tried.includes(view));
    if (performance.now() < (isNew ? begunAt + PAUSE_MS : retryAt)) return;
    tried = due;
    begunAt = performance.now();
    retryAt = performance.now() + retryMs;
    retryMs = Math.min(retryMs * 2, RETRY_MS.max);
    await parts.rebuild(due);
  }

  await look();
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((err) => logger.error({ err }, "views could not be rebuilt"))
      .finally(() => {
        looking = false;
      });
  }, lookMs).unref();
  return { close: () => clearInterval(timer) };
}
