/**
 * A directory in memory for the files of tests, on machines that have one with enough space. Stores
 * need not wait for a disk, and a killed process loses the same data as on a disk.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const MOUNT = "/dev/shm";
/** The least free space. The whole suite uses some 2 GB at a time. */
const bytesMin = 8 * 1024 ** 3;

/** The directory, which is removed when this process ends; undefined without enough space. */
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
    // Servers unpack native libraries there.
    if (type !== "tmpfs" || options.split(",").includes("noexec")) return false;
    const { bavail, bsize } = statfsSync(MOUNT);
    return bavail * bsize >= bytesMin && freemem() >= bytesMin;
  } catch {
    return false;
  }
}
