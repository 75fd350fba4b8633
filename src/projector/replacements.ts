/** Replacements on their way to the projector's thread and back (projector-client.ts). */
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { deserializeError } from "../core/serialized-error.ts";
import type { Replacement } from "./progress.ts";
import type { FromThread, ReplacementStep, ToThread } from "./projector-thread.ts";

export interface Replacements extends Replacement {
  ended(message: Extract<FromThread, { kind: "replaced" | "not replaced" }>): void;
  /** The thread has ended: nobody will answer, and nothing is held any more. */
  refuse(why: string): void;
}

/** `send` tells whether anybody was there to be sent to. */
export function createReplacements(send: (message: ToThread) => boolean): Replacements {
  const waiting = new Map<number, PromiseWithResolvers<Position | undefined>>();
  let last = 0;

  function ask(step: ReplacementStep): Promise<Position | undefined> {
    const wait = Promise.withResolvers<Position | undefined>();
    const id = ++last;
    waiting.set(id, wait);
    if (!send({ kind: "replace", id, ...step })) {
      waiting.delete(id);
      wait.reject(failed("the projector does not run"));
    }
    return wait.promise;
  }

  return {
    hold: async (views) => (await ask({ step: "hold", views })) ?? START,
    async prepare(views, parked) {
      await ask({ step: "prepare", views, parked });
    },
    async release(views, take) {
      await ask({ step: "release", views, take });
    },
    ended(message) {
      const wait = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.kind === "replaced") wait?.resolve(message.position);
      else wait?.reject(deserializeError(message));
    },
    refuse(why) {
      for (const { reject } of waiting.values()) reject(failed(why));
      waiting.clear();
    },
  };
}

const failed = (why: string): CatalogError =>
  new CatalogError("unavailable", `the views could not be replaced: ${why}`, {
    hint: "Try again; /health tells how the views are",
  });
