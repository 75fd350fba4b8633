/**
 * The service as a separate process. Tests start many: their flags for Node skip the garbage
 * collection after the start and enlarge the young generation, which saves a quarter of the CPU
 * time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));

/** Flags of Node; tests share one set, because the compile cache depends on them. */
const flags = { test: "--min-semi-space-size=16", installed: "--expose-gc" } as const;

/** An empty log, so that tests count from zero. */
const own = { ANNALS_LOG_LEVEL: "warn", ANNALS_BUILT_IN_ENTITIES: "off" };

/** Timeout of a start. */
const startMsMax = 100_000;

/** Disposal ends a process that still runs, so that a test that fails leaves none behind. */
export interface ServiceProcess extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its start message. */
  readonly startedInMs: number;
  /** The output on stderr so far. */
  readonly stderr: () => string;
  /**
   * Sends the signal and waits for the end; returns the exit code, or the signal that ended the
   * process.
   */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

export async function startService(
  data: string,
  options: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Starts the service with the flags of `npm start`, for measurements. */
    readonly asInstalled?: boolean;
  } = {},
): Promise<ServiceProcess> {
  const started = performance.now();
  const args = ["serve", "--port", "0", "--data", data, ...(options.args ?? [])];
  const flag = options.asInstalled === true ? flags.installed : flags.test;
  const child = spawn(process.execPath, [flag, main, ...args], {
    env: { ...process.env, ...own, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-20_000);
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (child.exitCode !== null || child.signalCode !== null) {
      return child.exitCode ?? child.signalCode;
    }
    const ended = once(child, "exit");
    child.kill(signal);
    const [code, by] = await ended;
    return code ?? by;
  };
  const address = await firstAddress(child, () => stderr).catch(async (error) => {
    await stop("SIGKILL");
    throw error;
  });
  return {
    address,
    pid: child.pid ?? 0,
    startedInMs: performance.now() - started,
    stderr: () => stderr,
    stop,
    async [Symbol.asyncDispose]() {
      await stop("SIGKILL");
    },
  };
}

async function firstAddress(child: ChildProcess, stderr: () => string): Promise<string> {
  if (child.stdout === null) throw new Error("the service has no stdout");
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`the service ended with ${code} before it answered: ${stderr()}`);
  });
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => {
      reject(new Error(`no address after ${startMsMax} ms: ${stderr()}`));
    }, startMsMax).unref();
  });
  const [line] = await Promise.race([once(lines, "line"), failed, late]);
  failed.catch(() => {});
  const address = /https?:\/\/\S+/.exec(line)?.[0];
  if (address === undefined) throw new Error(`no address in "${line}"`);
  return address;
}
