/** Counts the restores of entities, and notifies the caches of earlier reads. */
import { CatalogError, messageOf } from "../../core/errors.ts";
import type { Restoration } from "./progress.ts";

interface RestoreCalls extends Pick<Restoration, "restorations" | "onRestored"> {
  /** Restores the entities. Rejects `not_found` or `unavailable`. */
  restored<T>(urns: readonly string[], restore: () => Promise<T>): Promise<T>;
  /** Invalidates all earlier reads: a whole view was swapped or is damaged. */
  allRestored(): void;
}

export function createRestoreCalls(): RestoreCalls {
  const listeners: ((urns: readonly string[] | "all") => void)[] = [];
  let restorations = 0;

  function notify(urns: readonly string[] | "all"): void {
    restorations++;
    for (const listener of listeners) listener(urns);
  }

  return {
    restorations: () => restorations,
    onRestored: (listener) => void listeners.push(listener),
    async restored(urns, restore) {
      try {
        return await restore();
      } catch (error) {
        throw error instanceof CatalogError && error.code === "not_found" ? error : failed(error);
      } finally {
        // A restore that fails may have changed some of the entities.
        notify(urns);
      }
    },
    allRestored: () => notify("all"),
  };
}

const failed = (cause: unknown): CatalogError =>
  new CatalogError("unavailable", `the entities could not be restored: ${messageOf(cause)}`, {
    hint: "Try again; /health reports the state of the views",
    cause,
  });
