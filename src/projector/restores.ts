/** Restores on their way to the projector's thread and back (projector-client.ts). */
import { CatalogError } from "../core/errors.ts";
import type { Restoration } from "./progress.ts";
import type { FromThread, ToThread } from "./projector-thread.ts";
import type { Unrestored } from "./restore.ts";

interface Wait {
  readonly urns: readonly string[];
  readonly resolve: (unrestored: readonly Unrestored[]) => void;
  readonly reject: (error: Error) => void;
}

export interface Restores extends Restoration {
  ended(message: Extract<FromThread, { kind: "restored" | "not restored" }>): void;
  /** A whole view is not what it was: nothing that was read of it before counts. */
  allRestored(): void;
  /** The thread has ended: nobody will answer. */
  refuse(why: string): void;
}

/** `send` tells whether anybody was there to be sent to. */
export function createRestores(send: (message: ToThread) => boolean): Restores {
  const waiting = new Map<number, Wait>();
  const listeners: ((urns: readonly string[] | "all") => void)[] = [];
  let last = 0;
  let restorations = 0;

  function ask(
    urns: readonly string[],
    message: (id: number) => ToThread,
  ): Promise<readonly Unrestored[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Unrestored[]>();
    const id = ++last;
    waiting.set(id, { urns, resolve, reject });
    if (!send(message(id))) {
      waiting.delete(id);
      reject(failed("the projector does not run"));
    }
    return promise;
  }

  return {
    restorations: () => restorations,
    onRestored: (listener) => void listeners.push(listener),
    restore: (urns, view) => ask(urns, (id) => ({ kind: "restore", id, urns, view })),
    drop: (urn, view, actor) => ask([urn], (id) => ({ kind: "drop", id, urn, view, actor })),
    ended(message) {
      const wait = waiting.get(message.id);
      waiting.delete(message.id);
      if (wait === undefined) return;
      // What was read of them before may be what was mended, whatever became of the rest.
      restorations++;
      for (const listener of listeners) listener(wait.urns);
      if (message.kind === "restored") wait.resolve(message.unrestored);
      else wait.reject(message.code === "not_found" ? notFound(message) : failed(message.message));
    },
    allRestored() {
      restorations++;
      for (const listener of listeners) listener("all");
    },
    refuse(why) {
      for (const { reject } of waiting.values()) reject(failed(why));
      waiting.clear();
    },
  };
}

const notFound = ({ message, hint }: { message: string; hint?: string | undefined }) =>
  new CatalogError("not_found", message, hint === undefined ? {} : { hint });

const failed = (why: string): CatalogError =>
  new CatalogError("unavailable", `the entities could not be restored: ${why}`, {
    hint: "Try again; /health tells how the views are",
  });
