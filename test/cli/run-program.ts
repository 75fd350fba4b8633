/** Starts commands as processes, and waits for their output and their end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Fake } from "./program-with-fakes.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** Resolves once stdout contains the text. */
  said(text: string): Promise<void>;
  /** Resolves once stderr contains the text. */
  logged(text: string): Promise<void>;
  readonly ended: Promise<Ended>;
}

const program = fileURLToPath(new URL("program-with-fakes.ts", import.meta.url));

export function startProgram(
  args: readonly string[],
  fake: Fake = {},
  environment: Readonly<Record<string, string>> = {},
): Running {
  return start(process.execPath, [program, ...args], {
    ...environment,
    FAKE: JSON.stringify(fake),
  });
}

export const runProgram = (...given: Parameters<typeof startProgram>): Promise<Ended> =>
  startProgram(...given).ended;

export function start(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
  identity: { readonly uid?: number; readonly gid?: number } = {},
): Running {
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    ...identity,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code]) => ({ code, stdout, stderr }));
  const has = async (stream: Readable, there: () => boolean, text: string): Promise<void> => {
    while (!there()) {
      const next = once(stream, "data").then(() => undefined);
      const end = await Promise.race([next, ended]);
      if (end !== undefined && !there()) {
        throw new Error(`ended with ${end.code} before it said "${text}":\n${stdout}${stderr}`);
      }
    }
  };
  return {
    child,
    ended,
    said: (text) => has(child.stdout, () => stdout.includes(text), text),
    logged: (text) => has(child.stderr, () => stderr.includes(text), text),
  };
}
