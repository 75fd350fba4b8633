/**
 * A kind of server that tests can start from what public package registries hold: what to fetch, what
 * to run, and how to ask it whether it is ready. server-process.ts does the starting and stopping.
 */

export interface ServerPlace {
  /** Where the program lies; not to be written to. */
  readonly program: string;
  /** The server's own folder, given to the user that it runs as. */
  readonly folder: string;
  /** Free ports of 127.0.0.1; the first is the one that clients use. */
  readonly ports: readonly number[];
  /** What a server in Java is started with beside its own. */
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
  /** Whether the program refuses to be run by root. */
  readonly refusesRoot: boolean;
  /** Ends the server at once without leaving anything behind in the system. */
  readonly stopSignal: "SIGKILL" | "SIGQUIT";
  /** The folder of the program; what is missing is fetched. Rejects with Unavailable. */
  program(signal?: AbortSignal): Promise<string>;
  /** Of a server in Java: where what java-program.ts keeps of its classes is. */
  archive?(program: string): Promise<string>;
  /** Commands that make the folder ready, run in order by the server's user. */
  prepare(place: ServerPlace): Promise<readonly ServerCommand[]>;
  command(place: ServerPlace): Promise<ServerCommand>;
  /** Asks the server; throws or answers false while it is not ready. */
  isReady(place: ServerPlace): Promise<boolean>;
  url(place: ServerPlace): string;
}

/** A server that cannot be had on this machine; the message is the end of a sentence. */
export class Unavailable extends Error {}
