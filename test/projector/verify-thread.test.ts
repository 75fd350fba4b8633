/** The thread that verifies views (src/projector/verify/verify-thread.ts) when it is stopped. */
import { expect, test } from "vitest";
import { verifyInThread } from "../../src/projector/verify/verifying.ts";

const module = new URL("endless-verification.ts", import.meta.url).href;

test("a verification stops when it is aborted", async () => {
  const stopping = new AbortController();
  const begun = Promise.withResolvers<void>();
  const ended = verifyInThread(
    { module, config: {}, views: [] },
    { signal: stopping.signal, onProgress: () => begun.resolve() },
  );
  ended.catch(() => {});
  await begun.promise;
  const reason = new Error("interrupted");
  stopping.abort(reason);
  await expect(ended).rejects.toBe(reason);
});
