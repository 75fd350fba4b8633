/**
 * Brings node_modules in step with package-lock.json: `npm start`, `npm test` and the other scripts
 * run it first, so each is the only command that a fresh clone needs.
 *
 * Plain JavaScript without dependencies, because it runs before there are any, on Node 18 and later.
 * Says one line on stderr when there is something to do, and nothing when there is not; stdout stays
 * the command's own.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Why an installation is needed; undefined when it is not. npm writes down what it installed in
 * node_modules/.package-lock.json, last of all, so an interrupted installation lacks the file.
 * Compared by content: file times say nothing in a copy or a fresh checkout.
 */
function reasonToInstall() {
  const installed = readLock("node_modules/.package-lock.json");
  if (installed === undefined) return "the packages are not installed yet";
  const wanted = readLock("package-lock.json") ?? {};
  const names = new Set([...Object.keys(wanted), ...Object.keys(installed)]);
  names.delete("");
  for (const name of names) {
    const want = wanted[name];
    const have = installed[name];
    if (have === undefined && want.optional && !isOwnNode(name)) continue;
    if (have?.version !== want?.version || have?.integrity !== want?.integrity) {
      return `"${name.replace(/^.*node_modules\//, "")}" is not as package-lock.json wants it`;
    }
  }
  return undefined;
}

/** Of what is optional only this one has to be there; the rest is mostly for other machines. */
const isOwnNode = (name) => name === `node_modules/node-${process.platform}-${process.arch}`;

function readLock(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), "utf8")).packages;
  } catch {
    return undefined; // Absent or cut short: then npm has to look at it anyway.
  }
}

function install() {
  // Everything, whatever NODE_ENV or the options of an outer npm say: a part would be found out of
  // step for ever. No package needs its install script here, and one of them would start a compiler.
  const options = [
    "--include=dev",
    "--include=optional",
    "--ignore-scripts",
    "--no-audit",
    "--loglevel=error",
  ];
  const [command, ...leading] = npm();
  return spawnSync(command, [...leading, "ci", ...options, "--no-fund"], {
    cwd: root,
    stdio: ["ignore", process.stderr, process.stderr],
    shell: process.platform === "win32",
  });
}

/** The npm that runs this script, with the Node that it runs on; else the one of the path. */
function npm() {
  const { npm_execpath: path, npm_node_execpath: node } = process.env;
  const known = path !== undefined && node !== undefined && /npm-cli\.c?js$/.test(path);
  return known && process.platform !== "win32" ? [node, path] : ["npm"];
}

/** A start takes a second or two; one that takes longer is ended. */
const warmUpMsMax = 20_000;

/**
 * Starts the service once on an empty directory, so that the sources are compiled before anyone
 * waits for them: Node strips the types of a file it has not seen with a compiler that costs each
 * of the service's threads some 20 MB. Nothing depends on it, and a failure shows at the real start.
 */
function warmUp() {
  const data = mkdtempSync(join(tmpdir(), "annals-warm-up-"));
  // With the flag of `npm start`: what was compiled under others would not be taken.
  const flags = ["--expose-gc"];
  const args = [...flags, join(root, "src/annals.mjs"), "serve", "--port", "0", "--data", data];
  const options = { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ANNALS_HOST: "" } };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, options);
    const end = () => child.kill("SIGTERM");
    // Not SIGKILL, which nobody passes on: an older Node only stands before the one that serves.
    const impatience = setTimeout(end, warmUpMsMax);
    child.stdout.once("data", end);
    child.once("error", resolve);
    child.once("exit", () => {
      clearTimeout(impatience);
      child.stdout.destroy(); // What still has its other end would be waited for.
      rmSync(data, { recursive: true, force: true });
      resolve(undefined);
    });
  });
}

const reason = reasonToInstall();
if (reason !== undefined) {
  console.error(
    `annals: ${reason}; running "npm ci", which takes about a minute on a slow machine`,
  );
  const { status, error } = install();
  if (status !== 0) {
    const why = error?.message ?? `npm ended with exit code ${status}`;
    console.error(`annals: the packages could not be installed (${why})`);
    console.error(`annals: mend the cause named above, then run "npm ci" in ${root}`);
    process.exit(1);
  }
  await warmUp();
}
