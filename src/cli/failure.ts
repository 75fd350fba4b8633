/** What is told to the user when a command fails, and with which exit code it ends. */
import { CatalogError } from "../core/errors.ts";

/** Every exit code of every command. */
export const exitCodes = {
  done: 0,
  /** It ran and failed, or a part of it did; what failed was told. */
  failed: 1,
  /** It did not run: the command line, a setting, or what one of them names is wrong. */
  usage: 2,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A mistake on the command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** `invalid` is what a command was told: another try would end the same. */
export function exitCodeOf(error: unknown): ExitCode {
  const told = error instanceof CatalogError && error.code === "invalid";
  return told || error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
}

/** One sentence for what a user can mend; a fault of ours with its stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof CatalogError) return `annals: ${error.text}`;
  if (error instanceof UsageError) return `annals: ${error.message}`;
  if (isSystemError(error)) return `annals: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What Node throws when the operating system refused; its message names the call and the path. */
interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
}

export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && "syscall" in error && "code" in error;
