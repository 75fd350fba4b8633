/**
 * Stuck views: views that have failed for so long that waits for them are rejected. A failure that
 * ends with a retry does not count.
 */

/** Time until a failing view counts as stuck: enough for some attempts. */
const FAILING_MS = 3_000;

interface StuckViews {
  /** `errors`: error by view; omits views without an error. */
  update(errors: Readonly<Record<string, string>>): void;
  has(view: string): boolean;
  close(): void;
}

/** `onStuck`: called with a view that has become stuck. */
export function createStuckViews(onStuck: (view: string) => void): StuckViews {
  const stuck = new Set<string>();
  const failing = new Map<string, NodeJS.Timeout>();

  function begin(view: string): void {
    const timer = setTimeout(() => {
      stuck.add(view);
      onStuck(view);
    }, FAILING_MS);
    failing.set(view, timer.unref());
  }

  function end(view: string): void {
    clearTimeout(failing.get(view));
    failing.delete(view);
    stuck.delete(view);
  }

  return {
    update(errors) {
      for (const view of failing.keys()) if (errors[view] === undefined) end(view);
      for (const view of Object.keys(errors)) if (!failing.has(view)) begin(view);
    },
    has: (view) => stuck.has(view),
    close() {
      for (const view of failing.keys()) end(view);
    },
  };
}
