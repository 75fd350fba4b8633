#!/usr/bin/env node
/**
 * The command `annals`: makes sure that a Node which can run the project runs it, then hands over
 * to main.ts. On an older Node it starts the one that came with the packages, if there is one, and
 * otherwise says in one sentence what is needed.
 *
 * Plain JavaScript that Node 18 understands: main.ts itself cannot give this message, because an
 * old Node stops at its file extension.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));
const needed = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).engines.node;

if (satisfies(process.versions.node, needed)) await runHere();
else runOn(bundledNode());

/** True when the version is at least the one of a range like ">=24.16". */
function satisfies(version, range) {
  const [major, minor = 0] = version.split(".").map(Number);
  const [majorMin, minorMin = 0] = range.replace(">=", "").split(".").map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

async function runHere() {
  keepCompiled();
  try {
    await import("./main.ts");
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND" || !/package '/.test(error.message)) throw error;
    fail(`${error.message.split(" imported from")[0]}; run "npm ci" in ${root} first`);
  }
}

/**
 * Compiled sources are kept, so that later starts are quicker and smaller. The variable tells the
 * threads; one that the user has set is left alone.
 */
function keepCompiled() {
  process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "annals");
  module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);
}

/** The Node of the optional dependency for this machine; undefined when there is none. */
function bundledNode() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), "bin", "node");
  } catch {
    return undefined;
  }
}

function runOn(node) {
  if (node === undefined) {
    const way = `run "npm ci" in ${root}, which brings one on Linux, or install it from nodejs.org`;
    fail(`Node ${needed} is needed, and this is ${process.versions.node}; ${way}`);
    return;
  }
  const args = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: "inherit" });
  // The service takes a signal that it gets twice within a moment for one (from the terminal and
  // from here), so all are passed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => fail(`${node} could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

function fail(message) {
  console.error(`annals: ${message}`);
  process.exitCode = 1;
}
