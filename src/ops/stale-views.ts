/**
 * Looks after views that another model made: says so once, and has those rebuilt that this process
 * feeds. What a process of that other model still feeds is left to it: in a cluster whose nodes are
 * replaced one after the other, views change when the last node that feeds them has gone, and once.
 */
export interface StaleParts {
  /** Views that another model made, as far as is known by now; it may become known late. */
  readonly stale: () => readonly string[];
  /** Views that this process feeds. */
  readonly fed: () => readonly string[];
  /** Called when a view was found to be of another model, and when it is not any more. */
  readonly onStale: (view: string, stale: boolean) => void;
  /** Starts the job; absent: nobody wants that. */
  readonly rebuild: ((views: readonly string[]) => Promise<unknown>) | undefined;
  /** Whether views are being rebuilt. */
  readonly underWay: () => boolean;
  readonly logger: { error(fields: object, message: string): void };
  readonly lookMs?: number | undefined;
}

const LOOK_MS = 1_000;
/** Until a rebuild that did not succeed is tried again, first and at most. */
const RETRY_MS = { first: 30_000, max: 600_000 };

/** Resolves when it has looked once. */
export async function watchStale(parts: StaleParts): Promise<{ close(): void }> {
  const { onStale, underWay, logger, lookMs = LOOK_MS } = parts;
  let known: readonly string[] = [];
  let retryMs = RETRY_MS.first;
  let retryAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    const stale = parts.stale();
    for (const view of stale) if (!known.includes(view)) onStale(view, true);
    for (const view of known) if (!stale.includes(view)) onStale(view, false);
    known = stale;
    if (stale.length === 0) {
      retryMs = RETRY_MS.first;
      retryAt = Number.NEGATIVE_INFINITY;
    }
    const fed = parts.fed();
    const due = stale.filter((view) => fed.includes(view));
    if (parts.rebuild === undefined || due.length === 0) return;
    if (underWay() || performance.now() < retryAt) return;
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
      .catch((err) => logger.error({ err }, "views of another model could not be rebuilt"))
      .finally(() => {
        looking = false;
      });
  }, lookMs).unref();
  return { close: () => clearInterval(timer) };
}
