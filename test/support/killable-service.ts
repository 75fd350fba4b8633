/**
 * A service process on a directory that outlives it: after a kill, it is started again on the same
 * directory. Each test of the file, or of the describe that creates it, has its own directory.
 */
import { afterEach, beforeEach } from "vitest";
import { type Client, createClient } from "./client.ts";
import { type Operator, operatorOf } from "./operator.ts";
import { type ServiceProcess, startService } from "./service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.ts";

export interface KillableService {
  /** Path of the directory. */
  readonly directory: string;
  start(): Promise<Operator & { readonly client: Client }>;
  /** The service that was started last; its stop has no effect if it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export function killableService(name: string): KillableService {
  let directory: TemporaryDirectory;
  let service: ServiceProcess | undefined;
  beforeEach(() => {
    directory = temporaryDirectory(name);
  });
  afterEach(async () => {
    await service?.stop("SIGKILL");
    directory[Symbol.dispose]();
  });
  return {
    get directory() {
      return directory.path;
    },
    async start() {
      service = await startService(directory.path);
      const client = createClient(service.address);
      return { client, ...operatorOf({ client, directory: directory.path }) };
    },
    async stop(signal) {
      await service?.stop(signal);
    },
  };
}
