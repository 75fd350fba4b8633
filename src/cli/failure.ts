/** The message and the exit code of a command that fails. */
import { AnnalsError } from "../client/errors.ts";
import { CatalogError } from "../core/errors.ts";

/** Every exit code of every command. */
export const exitCodes = {
  done: 0,
  /** It ran and failed, or a part of it did; messages on stderr say what failed. */
  failed: 1,
  /** It did not run: the command line, a setting, or a name in one of them is wrong. */
  usage: 2,
  /** A signal ended it (Ctrl-C); the message names the command that resumes or reverts. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A mistake on the command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs `read`; a setting that CatalogError rejects is a mistake on the command line, wherever it was set. */
export function asUsage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof CatalogError ? new UsageError(error.text) : error;
  }
}

/** The first signal to stop. `next` names the command that resumes or reverts the work. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";

  constructor(next?: string) {
    super(next === undefined ? "interrupted" : `interrupted. ${next}`);
  }
}

/** Codes of the service for a request that fails again however often it is sent. */
const usageCodes: ReadonlySet<string> = new Set(["malformed", "invalid"]);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof AnnalsError && usageCodes.has(error.code)) return exitCodes.usage;
  return error instanceof CatalogError && error.code === "invalid"
    ? exitCodes.usage
    : exitCodes.failed;
}

/** One sentence for errors that a user can correct; any other error with its stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof CatalogError) return `annals: ${error.text}`;
  if (error instanceof AnnalsError) {
    const hint = hintOf(error);
    return hint === undefined
      ? `annals: ${error.message}`
      : `annals: ${error.message.replace(/\.$/, "")}. ${hint}`;
  }
  if (error instanceof UsageError || error instanceof Interrupted)
    return `annals: ${error.message}`;
  if (isSystemError(error)) return `annals: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function hintOf({ status }: AnnalsError): string | undefined {
  if (status === 401)
    return "Log in with annals login, or name a file with an access token with --token-file";
  if (status === 403)
    return "Show the user and the privileges with annals whoami; name a file with another token with --token-file";
  return undefined;
}

/** The message for a file of the command line that cannot be read. */
export const describeUnreadable = (file: string, { code }: SystemError): string =>
  code === "ENOENT"
    ? `file "${file}" does not exist. Check its path`
    : `file "${file}" cannot be read (${code}). Name a file that this user may read`;

/** An error of the operating system; its message names the call and the path. */
interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
}

export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && "syscall" in error && "code" in error;
