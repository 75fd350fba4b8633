/**
 * Notifies waiting tails of new records. The writer thread notifies every thread of its process over
 * a broadcast channel; commits of other processes are found by polling the file.
 */
import { realpathSync } from "node:fs";
import { BroadcastChannel } from "node:worker_threads";

/** One channel per file, independent of how its path is written. */
export const wakeChannelName = (file: string): string => `log appended: ${realpathSync(file)}`;

interface Waker {
  /** Starts to listen. Call it before the read that precedes `wait`, so that no record is missed. */
  listen(): void;
  /** Resolves when records may be new, when the signal aborts, and when the waker closes. */
  wait(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** `changed`: true if another connection committed since its last call. Keeps no process alive. */
export function createWaker(file: string, changed: () => boolean, pollIntervalMs: number): Waker {
  const waiting = new Set<() => void>();
  let channel: BroadcastChannel | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function wake(): void {
    clearInterval(timer);
    timer = undefined;
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  function poll(): void {
    if (changed()) wake();
  }

  return {
    listen() {
      if (channel !== undefined || closed) return;
      channel = new BroadcastChannel(wakeChannelName(file));
      channel.onmessage = wake;
      channel.unref();
    },

    wait(signal) {
      if (closed || signal.aborted) return Promise.resolve();
      timer ??= setInterval(poll, pollIntervalMs).unref();
      return new Promise((resolve) => {
        const done = (): void => {
          signal.removeEventListener("abort", done);
          waiting.delete(done);
          resolve();
        };
        signal.addEventListener("abort", done);
        waiting.add(done);
      });
    },

    close() {
      closed = true;
      channel?.close();
      wake();
    },
  };
}
