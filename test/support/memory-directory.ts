/**
 * A directory in memory for what tests write, where the machine has one with room. Nothing of it has to
 * outlive the machine, so that stores need not wait for a disk; what a killed process loses is the same.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const MOUNT = "/dev/shm";
/** Of the whole suite some two are used at a time. */
const bytesMin = 8 * 1024 ** 3;

/** Removed when this process ends; undefined where there is none, or too little room. */
export function memoryDirectory(): string | undefined {
  if (!hasRoom()) return undefined;
  const path = mkdtempSync(join(MOUNT, "annals-tests-"));
  // Some servers run as another user.
  chmodSync(path, 0o1777);
  process.once("exit", () => rmSync(path, { recursive: true, force: true }));
  return path;
}

function hasRoom(): boolean {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, place]) => place === MOUNT);
    const [, , type, options = "noexec"] = mount ?? [];
    // Servers unpack libraries there.
    if (type !== "tmpfs" || options.split(",").includes("noexec")) return false;
    const { bavail, bsize } = statfsSync(MOUNT);
    return bavail * bsize >= bytesMin && freemem() >= bytesMin;
  } catch {
    return false;
  }
}
