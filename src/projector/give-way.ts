/** Threads that work in the background take less of a core that others want. */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** `niceness`: 0 is as others, 19 the least. Only Linux tells a thread its number. */
export function giveWay(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, niceness);
  } catch {
    // It works all the same, at the others' priority.
  }
}
