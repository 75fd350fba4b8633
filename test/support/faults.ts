/**
 * Faults of the machine: a full or read-only disk, and an fsync that fails. Where the machine does
 * not allow a fault, the test is skipped with the reason.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "./temporary-directory.ts";

export type Possible<T> = T | { readonly skipped: string };

/** A file system of some megabytes. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Occupies the given number of bytes, and frees them. */
  occupy(bytes: number): void;
  /** Occupies all free space. */
  fill(): void;
  release(): void;
  /** Makes the file system read-only or writable; no file may be open for writing. */
  setReadOnly(readOnly: boolean): void;
}

const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });

/** Mounts a small file system, which needs the right to mount. */
export function smallDisk(megabytes: number): Possible<SmallDisk> {
  const parent = temporaryDirectory("annals-small-disk");
  const path = join(parent.path, "disk");
  mkdirSync(path);
  // Servers that do not run as root need access.
  chmodSync(parent.path, 0o711);
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path);
  } catch (error) {
    parent[Symbol.dispose]();
    return { skipped: `no file system can be mounted: ${(error as Error).message.trim()}` };
  }
  const ballast = join(path, "ballast");
  return {
    path,
    occupy: (bytes) => writeFileSync(ballast, Buffer.alloc(bytes)),
    fill: () => fillWith(ballast),
    release: () => rmSync(ballast),
    setReadOnly: (readOnly) => run("mount", "-o", `remount,${readOnly ? "ro" : "rw"}`, path),
    [Symbol.dispose]() {
      run("umount", "--lazy", path);
      parent[Symbol.dispose]();
    },
  };
}

function fillWith(file: string): void {
  const open = openSync(file, "a");
  try {
    for (const bytes of [1_048_576, 4_096]) {
      const block = Buffer.alloc(bytes);
      while (hasRoomFor(open, block));
    }
  } finally {
    closeSync(open);
  }
}

function hasRoomFor(file: number, block: Buffer): boolean {
  try {
    return writeSync(file, block) === block.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}

/** The user for actions that root could do in spite of the fault. */
export interface PlainUser {
  /** Options for spawned processes; empty if the tests do not run as root. */
  readonly identity: { readonly uid?: number; readonly gid?: number };
  /** Changes the owner of a directory and its contents to this user. */
  give(directory: string): void;
}

const NOBODY = 65_534;

/** Returns another user than root, because root may read and write files of any mode. */
export function plainUser(program: string): Possible<PlainUser> {
  if (process.getuid?.() !== 0) return { identity: {}, give: () => {} };
  const identity = { uid: NOBODY, gid: NOBODY };
  try {
    execFileSync(process.execPath, [program, "--version"], { ...identity, stdio: "ignore" });
  } catch (error) {
    return { skipped: `the project is not for other users: ${(error as Error).message}` };
  }
  return {
    identity,
    give(directory) {
      const files = readdirSync(directory).map((name) => join(directory, name));
      for (const file of [directory, ...files]) chownSync(file, NOBODY, NOBODY);
    },
  };
}

/** Limits the size of files that a process writes; undefined removes the limit. */
export function limitFiles(pid: number, bytes: number | undefined): void {
  run("prlimit", "--pid", String(pid), `--fsize=${bytes ?? "unlimited"}:unlimited`);
}

export function filesCanBeLimited(): Possible<true> {
  try {
    run("prlimit", "--version");
    return true;
  } catch {
    return { skipped: "there is no prlimit" };
  }
}

/** Environment of a process whose fsync fails while `fail` is set. */
export interface FailingFsync extends Disposable {
  readonly env: Readonly<Record<string, string>>;
  fail(now: boolean): void;
}

/** Builds the preloaded library; needs Linux and a C compiler. */
export function failingFsync(): Possible<FailingFsync> {
  if (process.platform !== "linux") return { skipped: "libraries are preloaded on Linux alone" };
  const directory = temporaryDirectory("annals-fsync");
  const source = fileURLToPath(new URL("failing-fsync.c", import.meta.url));
  const library = join(directory.path, "failing-fsync.so");
  try {
    run("cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl");
  } catch (error) {
    directory[Symbol.dispose]();
    return { skipped: `no C compiler: ${(error as Error).message.split("\n")[0]}` };
  }
  const flag = join(directory.path, "fail");
  return {
    env: { LD_PRELOAD: library, FAIL_FSYNC_WHILE: flag },
    fail: (now) => (now ? writeFileSync(flag, "") : rmSync(flag)),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}
