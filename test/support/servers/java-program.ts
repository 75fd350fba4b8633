/**
 * Java programs with fast starts, because tests start many: a launcher is compiled once, and the
 * loaded classes are kept in an archive (class data sharing), which halves the time of a start.
 * Both are next to the program's folder.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import { promisify } from "node:util";
import { javaHome } from "./maven-packages.ts";

const run = promisify(execFile);

/**
 * Flags for servers that live for minutes: the optimizing compiler and concurrent collectors would
 * take more CPU time than they save.
 */
export const shortLived: readonly string[] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** The class path of all jars, in the same order at each start, as the archive requires. */
export async function classPath(program: string, ...more: readonly string[]): Promise<string> {
  const jars = (await readdir(program)).filter((name) => name.endsWith(".jar")).sort();
  return [...jars.map((name) => join(program, name)), ...more].join(delimiter);
}

/** The jar of the class in the source file, compiled on the first request. */
export async function launcherJar(program: string, source: string): Promise<string> {
  const [text, home] = [await readFile(source, "utf8"), await javaHome()];
  const jar = `${program}-${shortHash(text + (await releaseOf(home)))}.jar`;
  if (existsSync(jar)) return jar;
  const work = await mkdtemp(`${program}-compiling-`);
  try {
    const [classes, made] = [join(work, "classes"), join(work, basename(jar))];
    const sources = await classPath(program);
    await run(join(home, "bin", "javac"), ["-cp", sources, "-d", classes, source]);
    await run(join(home, "bin", "jar"), ["cf", made, "-C", classes, "."]);
    await rename(made, jar);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return jar;
}

/** Path of a program's archive, which is valid for one build of Java and one launcher. */
export async function classArchive(program: string, launcher = ""): Promise<string> {
  return `${program}-${shortHash((await releaseOf(await javaHome())) + launcher)}.jsa`;
}

/** An empty file: another process creates the archive, or its creation has failed. */
const triedAgainAfterMs = 3_600_000;

/**
 * The flags of Java that load classes from the archive. The first caller creates it by `train`, a
 * start with the given flags and a clean stop; other callers start without it meanwhile.
 */
export async function archiveFlags(
  archive: string,
  train: (flags: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  if (await claims(archive)) {
    const made = `${archive}-${process.pid}`;
    try {
      await train([`-XX:ArchiveClassesAtExit=${made}`]);
      await rename(made, archive);
    } catch {
      // The next start reports errors of the server itself.
      await rm(made, { force: true });
    }
  }
  const { size } = await stat(archive);
  return size === 0 ? [] : [`-XX:SharedArchiveFile=${archive}`];
}

async function claims(archive: string): Promise<boolean> {
  const found = await stat(archive).catch(() => undefined);
  if (found !== undefined) {
    if (found.size > 0 || Date.now() - found.mtimeMs < triedAgainAfterMs) return false;
    await rm(archive, { force: true });
  }
  return writeFile(archive, "", { flag: "wx" }).then(
    () => true,
    () => false,
  );
}

const releaseOf = (home: string): Promise<string> =>
  readFile(join(home, "release"), "utf8").catch(() => home);

const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 8);
