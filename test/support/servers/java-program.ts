/**
 * Programs in Java that start with little work, because many are started: a launcher is compiled once,
 * and what Java makes of the classes that a start loads is kept in an archive (class data sharing),
 * which halves a start. Both lie beside the program's folder.
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
 * For servers that live for minutes: what compiles best and collects beside the program would take
 * more of the processor than it gives back.
 */
export const shortLived: readonly string[] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** Of all jars, in the same order at each start, as an archive wants it. */
export async function classPath(program: string, ...more: readonly string[]): Promise<string> {
  const jars = (await readdir(program)).filter((name) => name.endsWith(".jar")).sort();
  return [...jars.map((name) => join(program, name)), ...more].join(delimiter);
}

/** The jar of the class that the file has the source of, made when it is first asked for. */
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

/** Where the archive of a program lies: of one build of Java, and one launcher. */
export async function classArchive(program: string, launcher = ""): Promise<string> {
  return `${program}-${shortHash((await releaseOf(await javaHome())) + launcher)}.jsa`;
}

/** An empty file says that somebody is at it, or that it did not succeed. */
const triedAgainAfterMs = 3_600_000;

/**
 * The flags of Java by which a start takes classes from the archive. Who asks first has one made by
 * `train`, a start with the given flags and an orderly end; others start without it meanwhile.
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
      // What is wrong with the server itself, its next start says.
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
