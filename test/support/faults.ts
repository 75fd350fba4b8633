/**
 * Faults of the machine, made on purpose: a disk that is full or read-only, an fsync that fails.
 * What a machine does not let a test do is told as the reason for passing it over.
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

/** A file system of its own, of some megabytes. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Takes so many bytes away, and gives them back. */
  occupy(bytes: number): void;
  /** Takes all that is left. */
  fill(): void;
  release(): void;
  /** Whether nothing can be written; changed only while no file of it is open for writing. */
  setReadOnly(readOnly: boolean): void;
}

const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });

/** Needs the right to mount. */
export function smallDisk(megabytes: number): Possible<SmallDisk> {
  const beside = temporaryDirectory("annals-small-disk");
  const path = join(beside.path, "disk");
  mkdirSync(path);
  // Servers that refuse to be run by root have to get there.
  chmodSync(beside.path, 0o711);
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path);
  } catch (error) {
    beside[Symbol.dispose]();
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
      beside[Symbol.dispose]();
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

/** What nobody but root may do is done as this user. */
export interface PlainUser {
  /** What a process is spawned with; empty where it is a plain user that runs the tests. */
  readonly identity: { readonly uid?: number; readonly gid?: number };
  /** A directory, and what is in it, are this user's. */
  give(directory: string): void;
}

const NOBODY = 65_534;

/** Root may read and write whatever its mode is. */
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

/** From now on no file of that process grows past so many bytes; undefined: as large as it likes. */
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

/** What a process is started with, so that its fsync fails while `fail` says so. */
export interface FailingFsync extends Disposable {
  readonly env: Readonly<Record<string, string>>;
  fail(now: boolean): void;
}

/** Needs Linux and a C compiler. */
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
