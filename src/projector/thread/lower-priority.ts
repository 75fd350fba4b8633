/** Lowers the priority of background threads. */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** `niceness`: from 0, normal, to 19, lowest. Works on Linux only, the one system with thread ids. */
export function lowerPriority(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, niceness);
  } catch {
    // The thread keeps the normal priority.
  }
}
