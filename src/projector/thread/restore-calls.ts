/** Counts the restores of entities, and reports them to those that hold what they read before. */
import { CatalogError, saidBy } from "../../core/errors.ts";
import type { Restoration } from "./progress.ts";

interface RestoreCalls extends Pick<Restoration, "restorations" | "onRestored"> {
  /** Restores the entities. Rejects `not_found` or `unavailable`. */
  restored<T>(urns: readonly string[], restore: () => Promise<T>): Promise<T>;
  /** A whole view was replaced or is damaged: nothing that was read of it before counts. */
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
  new CatalogError("unavailable", `the entities could not be restored: ${saidBy(cause)}`, {
    hint: "Try again; /health reports the state of the views",
    cause,
  });
