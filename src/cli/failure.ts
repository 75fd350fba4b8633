/** What is told to the user when a command fails, and with which exit code it ends. */
import { CatalogError } from "../core/errors.ts";

/** Every exit code of every command. */
export const exitCodes = {
  done: 0,
  /** It ran and failed, or a part of it did; what failed was told. */
  failed: 1,
  /** It did not run: the command line, a setting or a file named there is wrong. */
  usage: 2,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A mistake on the command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** One sentence for what a user can mend; a fault of ours with its stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof CatalogError) return `annals: ${error.text}`;
  if (error instanceof UsageError) return `annals: ${error.message}`;
  if (isSystemError(error)) return `annals: ${describeSystem(error)}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What Node throws when the operating system refused. */
interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly address?: string;
  readonly port?: number;
}

export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && "syscall" in error && "code" in error;

function describeSystem({ code, syscall, message, address, port }: SystemError): string {
  if (syscall === "getaddrinfo") return `${message}. Choose another host with --host`;
  if (syscall !== "listen") return message;
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} of ${address} is in use. Stop what listens there, or choose another with --port`;
    case "EACCES":
      return `port ${port} of ${address} needs more rights than this user has. Choose one above 1023`;
    case "EADDRNOTAVAIL":
      return `this machine has no address ${address}. Choose another with --host`;
    default:
      return message;
  }
}
