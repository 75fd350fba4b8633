/**
 * Brings node_modules in step with package-lock.json: every npm script runs it first, so each is the
 * only command that a fresh clone needs.
 *
 * Plain JavaScript without dependencies, because it runs before there are any, on Node 18 and later.
 * Reports each step and its progress on stderr, and nothing when there is nothing to do; stdout
 * belongs to the command.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const ownNode = `node_modules/node-${process.platform}-${process.arch}`;

/**
 * Why an installation is needed; undefined when it is not. npm writes node_modules/.package-lock.json
 * last of all, so an interrupted installation lacks the file. Compared by content: a copy or a fresh
 * checkout has other file times.
 */
function reasonToInstall(wanted) {
  const installed = readLock("node_modules/.package-lock.json");
  if (installed === undefined) return "the packages are not installed yet";
  const names = new Set([...Object.keys(wanted), ...Object.keys(installed)]);
  names.delete("");
  for (const name of names) {
    const want = wanted[name];
    const have = installed[name];
    // Of the optional packages only the Node for this machine is required.
    if (have === undefined && want.optional && name !== ownNode) continue;
    if (have?.version !== want?.version || have?.integrity !== want?.integrity) {
      return `"${name.replace(/^.*node_modules\//, "")}" is not as package-lock.json wants it`;
    }
  }
  return undefined;
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), "utf8")).packages;
  } catch {
    return undefined; // Absent or cut short: npm reports the reason.
  }
}

/**
 * A port in use would end the start after the installation; it is reported before. Reads the flags
 * and variables of `annals serve`, which reports every other wrong address.
 */
async function checkPort([command, ...flags]) {
  if (command !== "serve") return;
  const host = settingOf("host", flags) ?? "127.0.0.1";
  const port = settingOf("port", flags) ?? "8080";
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return;
  const server = createServer();
  try {
    await once(server.listen({ host, port: Number(port) }), "listening");
  } catch (error) {
    if (error.code !== "EADDRINUSE") return;
    const way = "Name another port with --port, or 0 for a free one";
    console.error(`annals: cannot listen on ${host}:${port}. ${error.message}. ${way}`);
    process.exit(1);
  }
  server.close();
}

/** The value of `--name value` or `--name=value`, else that of the variable; undefined for none. */
function settingOf(name, flags) {
  const at = flags.lastIndexOf(`--${name}`);
  const joined = flags.findLast((flag) => flag.startsWith(`--${name}=`));
  const flag = at < 0 ? joined?.slice(name.length + 3) : flags[at + 1];
  return flag ?? (process.env[`ANNALS_${name.toUpperCase()}`] || undefined);
}

/** On a terminal the state of a step is one line that changes; elsewhere a line every few seconds. */
const isTerminal = process.stderr.isTTY === true;
const REPORT_MS = isTerminal ? 250 : 4_000;
const ERASE_LINE = "\r\u001b[K";

/**
 * Runs a step and reports its state until it ends. `state` returns a part of a sentence; `work` gets
 * a function that prints the output of a program without mixing it with the line of the state.
 */
async function step(name, state, work) {
  const begun = Date.now();
  const seconds = () => `${Math.round((Date.now() - begun) / 1000)} s`;
  const report = () => {
    const line = `annals: ${name}: ${state()} (${seconds()})`;
    const columns = process.stderr.columns ?? 80;
    process.stderr.write(isTerminal ? `${ERASE_LINE}${line.slice(0, columns - 1)}` : `${line}\n`);
  };
  const print = (text) => process.stderr.write(isTerminal ? `${ERASE_LINE}${text}` : text);
  report();
  const timer = setInterval(report, REPORT_MS);
  try {
    return await work(print);
  } finally {
    clearInterval(timer);
    print("");
  }
}

/** Names of the packages that npm installs on every machine. */
const required = (wanted) =>
  Object.keys(wanted).filter((name) => name !== "" && !wanted[name].optional);

/** How far npm is: it writes the files of a package as they arrive. */
function installed(wanted) {
  const isThere = (name) => existsSync(join(root, name, "package.json"));
  const names = required(wanted);
  const count = `${names.filter(isThere).length} of ${names.length} packages`;
  const node = wanted[ownNode];
  if (node === undefined) return count;
  return `${count}, Node ${node.version} ${isThere(ownNode) ? "is there" : "to come"}`;
}

/** Resolves to undefined, or to the reason of a failure. */
async function install(print) {
  // Everything, whatever NODE_ENV or the options of an outer npm say: a part of the packages would
  // never match the lock. No package needs its install script here, and one would start a compiler.
  const options = [
    "--include=dev",
    "--include=optional",
    "--ignore-scripts",
    "--no-dry-run", // npm publish --dry-run passes its option on.
    "--no-audit",
    "--loglevel=error",
  ];
  const [command, ...leading] = npm();
  const child = spawn(command, [...leading, "ci", ...options, "--no-fund"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  for (const output of [child.stdout, child.stderr]) output.setEncoding("utf8").on("data", print);
  try {
    const [code] = await once(child, "close");
    return code === 0 ? undefined : `npm ended with exit code ${code}`;
  } catch (error) {
    return error.message;
  }
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
async function warmUp() {
  const data = mkdtempSync(join(tmpdir(), "annals-warm-up-"));
  // With the flag of `npm start`: Node reuses compiled code only under the same flags.
  const flags = ["--expose-gc"];
  const args = [...flags, join(root, "src/annals.mjs"), "serve", "--port", "0", "--data", data];
  const options = { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ANNALS_HOST: "" } };
  await new Promise((resolve) => {
    const child = spawn(process.execPath, args, options);
    const end = () => child.kill("SIGTERM");
    // Not SIGKILL: an older Node has started the Node that serves, and passes on SIGTERM only.
    const impatience = setTimeout(end, warmUpMsMax);
    child.stdout.once("data", end);
    child.once("error", resolve);
    child.once("exit", () => {
      clearTimeout(impatience);
      child.stdout.destroy(); // A process that still has the other end would keep this one alive.
      resolve(undefined);
    });
  });
  rmSync(data, { recursive: true, force: true });
}

const wanted = readLock("package-lock.json") ?? {};
const reason = reasonToInstall(wanted);
if (reason !== undefined) {
  await checkPort(process.argv.slice(2));
  console.error(`annals: ${reason}; running "npm ci" (step 1 of 2)`);
  const failure = await step("installing", () => installed(wanted), install);
  if (failure !== undefined) {
    console.error(`annals: the packages could not be installed (${failure})`);
    console.error(`annals: fix the cause named above, then run "npm ci" in ${root}`);
    process.exit(1);
  }
  console.error(
    "annals: compiling the sources with a first start on an empty directory (step 2 of 2)",
  );
  await step("compiling", () => "first start", warmUp);
}
