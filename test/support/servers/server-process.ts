/**
 * One server on this machine: started on free ports of 127.0.0.1 in its own folder, checked until
 * it is ready, killed and restarted on the same ports with the same data, and stopped without
 * leaving a process or a file. The caller must call `stop`; store-keeper.ts does.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePorts } from "./free-ports.ts";
import { archiveFlags } from "./java-program.ts";
import type { ServerCommand, ServerKind, ServerPlace } from "./server-kind.ts";
import { Unavailable } from "./server-kind.ts";
import { type SystemUser, unprivilegedUser } from "./system-user.ts";

const run = promisify(execFile);

const startMillisecondsMax = 120_000;
const startAttemptsMax = 5;
const endMillisecondsMax = 10_000;
const finishMillisecondsMax = 120_000;

export interface ServerProcess {
  readonly url: string;
  readonly version: string;
  /** The server's folder on this machine, with its data. */
  readonly folder: string;
  /** Starts the server after `kill`, with the data that was durable. */
  start(): Promise<void>;
  /** Sends SIGKILL, which simulates a power cut. */
  kill(): Promise<void>;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  /** The parent of the server's folder; the system's temporary directory if absent. */
  readonly within?: string | undefined;
  /** Aborts the wait for the server. */
  readonly signal?: AbortSignal;
  readonly fetching?: AbortSignal;
}

/**
 * Rejects with Unavailable if the machine cannot run the server, otherwise with the server's
 * output.
 */
export async function openServerProcess(
  kind: ServerKind,
  options: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const javaFlags = await prepareProgram(kind, options);
  for (let attempt = 1; ; attempt++) {
    try {
      return await openOnce(kind, javaFlags, options);
    } catch (error) {
      // Another process may have taken a port that was free before.
      const taken = /address (?:is )?already in use|bindexception/i.test(String(error));
      if (!taken || attempt === startAttemptsMax) throw error;
    }
  }
}

/** Downloads and prepares what all servers of the kind need, once; returns their flags of Java. */
export async function prepareProgram(
  kind: ServerKind,
  { signal, fetching = signal }: ServerProcessOptions = {},
): Promise<readonly string[]> {
  const program = await kind.program(fetching);
  const archive = await kind.archive?.(program);
  if (archive === undefined) return [];
  return archiveFlags(archive, async (flags) => {
    const server = await openOnce(kind, flags, { ...(signal && { signal }) });
    try {
      await server.finish();
    } finally {
      await server.stop();
    }
  });
}

interface OpenedProcess extends ServerProcess {
  /** Runs a clean stop. */
  finish(): Promise<void>;
}

async function openOnce(
  kind: ServerKind,
  javaFlags: readonly string[],
  { within = tmpdir(), signal, fetching = signal }: ServerProcessOptions,
): Promise<OpenedProcess> {
  const program = await kind.program(fetching);
  const user = kind.rejectsRoot ? await unprivilegedUser() : undefined;
  const folder = await mkdtemp(join(within, "annals-test-server-"));
  const ports = await freePorts(kind.portCount);
  const place: ServerPlace = { program, folder, ports, javaFlags };
  let child: ChildProcess | undefined;

  async function start(attemptsMax = startAttemptsMax): Promise<void> {
    const command = await kind.command(place);
    const deadline = Date.now() + startMillisecondsMax;
    // A process that was just killed may hold its files a little longer.
    for (let attempt = 1; ; attempt++) {
      child = launch(command, folder, user);
      if (await becomesReady(kind, place, child, deadline, signal)) return;
      await end(child, "SIGKILL");
      signal?.throwIfAborted();
      if (attempt === attemptsMax || Date.now() >= deadline) {
        throw new Error(`${command.file} did not start: ${await lastWords(folder)}`);
      }
      await sleep(500);
    }
  }

  async function kill(): Promise<void> {
    await end(child, "SIGKILL");
    child = undefined;
  }

  async function stop(): Promise<void> {
    await end(child, kind.stopSignal);
    child = undefined;
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  try {
    const preparations = await kind.prepare({ ...place, javaFlags: [] });
    if (user !== undefined) await run("chown", ["-R", `${user.uid}:${user.gid}`, folder]);
    for (const command of preparations) await finish(command, folder, user);
    await start(1);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ url: kind.url(place), version: kind.version, folder },
    ...{ start: () => start(), kill, stop },
    finish: () => end(child, "SIGTERM", finishMillisecondsMax),
  };
}

async function becomesReady(
  kind: ServerKind,
  place: ServerPlace,
  child: ChildProcess,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  while (signal?.aborted !== true && Date.now() < deadline && isRunning(child)) {
    if (await kind.isReady(place).catch(() => false)) return isRunning(child);
    await sleep(100);
  }
  return false;
}

/** Starts a process group, so that child processes of the program can be ended with it. */
function launch(
  { file, args, environment }: ServerCommand,
  folder: string,
  user: SystemUser | undefined,
): ChildProcess {
  const output = openSync(join(folder, "output.log"), "a");
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, HOME: folder, ...environment },
    stdio: ["ignore", output, output],
    detached: true,
    ...user,
  });
  closeSync(output);
  child.on("error", () => {});
  return child;
}

async function finish(
  command: ServerCommand,
  folder: string,
  user: SystemUser | undefined,
): Promise<void> {
  const child = launch(command, folder, user);
  const status = await new Promise<number | string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", resolve);
  });
  if (status !== 0) throw new Unavailable(`${command.file} failed: ${await lastWords(folder)}`);
}

async function end(
  child: ChildProcess | undefined,
  signal: NodeJS.Signals,
  millisecondsMax = endMillisecondsMax,
): Promise<void> {
  if (child?.pid === undefined) return;
  const deadline = Date.now() + millisecondsMax;
  signalGroup(child.pid, signal);
  while (signalGroup(child.pid, 0)) {
    if (Date.now() > deadline) signalGroup(child.pid, "SIGKILL");
    await sleep(20);
  }
}

/** False when the group has no process left. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

async function lastWords(folder: string): Promise<string> {
  const output = await readFile(join(folder, "output.log"), "utf8").catch(() => "");
  return output.trim().slice(-2_000) || "it said nothing";
}
