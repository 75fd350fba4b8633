/** The thread that verifies views (src/projector/verify/verify-thread.ts) when it is stopped. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyInThread } from "../../src/projector/verify/verifying.ts";
import { workedMs } from "./pausing-verification.ts";

const module = new URL("pausing-verification.ts", import.meta.url).href;
const asked = { module, config: {}, views: [] } as const;
/** The pause after each part: a single thread uses half a core. */
const restMs = workedMs;

/** Keeps this thread busy, so that the verification pauses. */
let working: NodeJS.Timeout;
beforeEach(() => {
  working = setInterval(() => {
    const until = performance.now() + 15;
    while (performance.now() < until);
  }, 20);
});
afterEach(() => clearInterval(working));

test("a pausing verification stops at once when it is aborted", async () => {
  const stopping = new AbortController();
  const rested = Promise.withResolvers<void>();
  const ended = verifyInThread(asked, {
    signal: stopping.signal,
    onProgress(_, restedMs) {
      if (restedMs >= restMs) rested.resolve();
    },
  });
  ended.catch(() => {});
  await rested.promise;
  // In the middle of the next pause.
  await new Promise((resolve) => setTimeout(resolve, restMs / 2));
  const reason = new Error("interrupted");
  stopping.abort(reason);
  await expect(ended).rejects.toBe(reason);
});
