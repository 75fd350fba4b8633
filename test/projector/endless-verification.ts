/** A verification (VerifyModule) without end. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { VerifyModule } from "../../src/projector/verify/verify-thread.ts";

export const verifyStoredViews: VerifyModule["verifyStoredViews"] = async (_, options) => {
  for (let part = 1; ; part++) {
    options.signal.throwIfAborted();
    options.onProgress(part, 0);
    await yieldToEventLoop();
  }
};
