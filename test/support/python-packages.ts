/**
 * Python environments with packages from PyPI: installed once, and kept in $TEST_CACHE, else
 * ~/.cache/annals-test-servers. An unfinished installation is never used.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";

const run = promisify(execFile);

/** Installs packages in seconds where pip needs minutes. */
const UV = "uv==0.13.9";

/** Timeout of tests that install packages. */
export const installing = { timeout: 900_000 } as const;

/**
 * The interpreter of an environment with the packages; skips the test if the installation fails.
 */
export async function pythonWith(
  packages: readonly string[],
  context: TestContext,
): Promise<string> {
  const cache = process.env.TEST_CACHE || join(homedir(), ".cache", "annals-test-servers");
  const hash = createHash("sha256").update(packages.join("\n")).digest("hex").slice(0, 12);
  const place = join(cache, `python-${hash}`);
  try {
    if (!existsSync(place)) await install(packages, cache, place, context.signal);
  } catch (error) {
    context.skip(`${packages.join(", ")} could not be installed: ${String(error).slice(0, 300)}`);
  }
  return join(place, "bin", "python");
}

async function install(
  packages: readonly string[],
  cache: string,
  place: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, "installing-"));
  console.error(`installing ${packages.join(", ")} from PyPI, once`);
  try {
    const tools = join(work, "tools");
    await run("python3", ["-m", "venv", tools], { signal });
    await run(join(tools, "bin", "pip"), ["install", "--quiet", UV], { signal });
    const uv = join(tools, "bin", "uv");
    const environment = join(work, "environment");
    // Programs of the environment find the interpreter also after the move.
    await run(uv, ["venv", "--quiet", "--relocatable", environment], { signal });
    const into = ["--python", join(environment, "bin", "python"), "--native-tls"];
    await run(uv, ["pip", "install", "--quiet", ...into, ...packages], { signal });
    await rename(environment, place).catch((error: unknown) => {
      if (!existsSync(place)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
