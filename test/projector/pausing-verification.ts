/** A verification (VerifyModule) without end that pauses between its parts and reports the length of each pause. */
import type { VerifyModule } from "../../src/projector/verify/verify-thread.ts";

/** The reported work of each part. */
export const workedMs = 400;

export const verifyStoredViews: VerifyModule["verifyStoredViews"] = async (_, options) => {
  for (let part = 1; ; part++) {
    options.signal.throwIfAborted();
    const begun = performance.now();
    await options.pause(workedMs);
    options.onProgress(part, Math.round(performance.now() - begun));
    // Without pauses the verification continues all the same.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
