/** A verification (VerifyModule) without end that rests between its parts, and tells how long it did. */
import type { VerifyModule } from "../../src/projector/verify/verify-thread.ts";

/** That each part says it worked. */
export const workedMs = 400;

export const verifyStoredViews: VerifyModule["verifyStoredViews"] = async (_, options) => {
  for (let part = 1; ; part++) {
    options.signal.throwIfAborted();
    const begun = performance.now();
    await options.rest(workedMs);
    options.onProgress(part, Math.round(performance.now() - begun));
    // Where it does not rest it goes on all the same.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
