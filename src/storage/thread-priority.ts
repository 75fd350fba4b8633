/** The priority of threads that keep views up to date. */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Niceness of the projector's threads. On a busy machine, request threads get three times their CPU
 * share. With a lower priority, the projector would not reach a moving head.
 */
export const VIEW_NICENESS = 5;

/** Niceness of threads that build or verify views while the service runs. */
export const BACKGROUND_NICENESS = 10;

/**
 * Lowers the priority of this thread. `niceness`: from 0, normal, to 19, lowest. Works on Linux
 * only, the one system with thread ids; elsewhere the thread keeps the normal priority.
 */
export function lowerPriority(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, niceness);
  } catch {
    // The thread keeps the normal priority.
  }
}
