/** Counts jobs as they end, by kind and state. */
import type { Job } from "./jobs.ts";
import type { JobsEnded } from "./status/status.ts";

export function countEnded() {
  const counts = new Map<string, JobsEnded>();
  return {
    note({ kind, state }: Job): void {
      if (state === "running") return;
      const key = `${kind} ${state}`;
      counts.set(key, { kind, state, count: (counts.get(key)?.count ?? 0) + 1 });
    },
    counts: (): readonly JobsEnded[] => [...counts.values()],
  };
}
