/** Starts the thread that verifies views (verify-thread.ts). */
import { startBackgroundThread } from "../thread/background-thread.ts";
import type { VerificationResult } from "./verification.ts";
import type { VerifyOwner, VerifyTask } from "./verify-thread.ts";

/** Rejects with the thread's error, or with the signal's reason soon after it aborts. */
export async function verifyInThread(
  task: VerifyTask,
  {
    onProgress,
    signal,
  }: {
    readonly onProgress: (done: number, total: number) => void;
    readonly signal: AbortSignal | undefined;
  },
): Promise<VerificationResult> {
  signal?.throwIfAborted();
  const { connection, exited } = startBackgroundThread<VerifyTask, VerificationResult>(
    new URL("verify-thread.ts", import.meta.url),
    "verification",
    { progress: ({ done, total }) => onProgress(done, total) } satisfies VerifyOwner,
  );
  const stop = () => connection.notify("stop", undefined);
  signal?.addEventListener("abort", stop);
  try {
    return await connection.call("run", task);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
    await exited;
  }
}
