/**
 * How waiting tails learn of new records. The writer thread tells every thread of its process over
 * a broadcast channel; other processes' commits are noticed by looking at the file now and then.
 */
import { realpathSync } from "node:fs";
import { BroadcastChannel } from "node:worker_threads";

/** One channel per file, however its path is spelt. */
export const wakeChannelName = (file: string): string => `log appended: ${realpathSync(file)}`;

export interface Waker {
  /** From now on no news is missed; to be called before the read after which `wait` waits. */
  listen(): void;
  /** Resolves on news (perhaps old news), when the signal aborts, and when the waker closes. */
  wait(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** `changed` tells whether anybody has committed since it was last asked. Nothing is kept alive. */
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
