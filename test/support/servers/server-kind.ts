/**
 * A kind of server that tests can start from packages of public registries: the packages, the
 * command, and the readiness check. server-process.ts starts and stops servers.
 */

export interface ServerPlace {
  /** The program's folder, which is read-only. */
  readonly program: string;
  /** The server's own folder, owned by the user that runs the server. */
  readonly folder: string;
  /** Free ports of 127.0.0.1; the first is the one for clients. */
  readonly ports: readonly number[];
  /** Additional flags of Java servers. */
  readonly javaFlags: readonly string[];
}

export interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ServerKind {
  readonly version: string;
  readonly portCount: number;
  /** True if the program does not run as root. */
  readonly rejectsRoot: boolean;
  /** Ends the server at once without leaving anything in the system. */
  readonly stopSignal: "SIGKILL" | "SIGQUIT";
  /** The folder of the program; downloads missing parts. Rejects with Unavailable. */
  program(signal?: AbortSignal): Promise<string>;
  /** For Java servers: the folder of the class archives of java-program.ts. */
  archive?(program: string): Promise<string>;
  /** Commands that prepare the folder, run in order by the server's user. */
  prepare(place: ServerPlace): Promise<readonly ServerCommand[]>;
  command(place: ServerPlace): Promise<ServerCommand>;
  /** Checks readiness; throws or returns false while the server is not ready. */
  isReady(place: ServerPlace): Promise<boolean>;
  url(place: ServerPlace): string;
}

/** A server that is unavailable on this machine; the message is the end of a sentence. */
export class Unavailable extends Error {}
