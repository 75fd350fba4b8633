#!/usr/bin/env node
/**
 * The command `annals`: runs main.ts (main.js in the npm package) on a Node that can run it. On an
 * older Node it starts the Node of the optional packages; without that, it names the Node it needs.
 *
 * Plain JavaScript that Node 18 understands: main.ts itself cannot give this message, because an
 * old Node stops at its file extension.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));
/** The npm package has the sources as JavaScript in a folder of their own (build.mjs). */
const isBuilt = existsSync(new URL("main.js", import.meta.url));
const packageFolder = isBuilt ? join(root, "..") : root;
const reinstall = isBuilt ? "install the package annals again" : `run "npm ci" in ${root}`;
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
    await import(isBuilt ? "./main.js" : "./main.ts");
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND" || !/package '/.test(error.message)) throw error;
    fail(`${error.message.split(" imported from")[0]}; ${reinstall} first`);
  }
}

/**
 * Compiled sources are kept, so that later starts are quicker and smaller. The variable tells the
 * threads; one that the user has set is left alone.
 */
function keepCompiled() {
  process.env.NODE_COMPILE_CACHE ??= join(packageFolder, "node_modules", ".cache", "annals");
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
    const way = `${reinstall} with optional packages, which include it on Linux`;
    const message = `Node ${needed} is needed, and this is ${process.versions.node}; ${way}`;
    fail(`${message}, or install Node from nodejs.org`);
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
