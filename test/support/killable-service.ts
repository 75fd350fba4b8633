/**
 * A service in a process of its own, on a directory that outlives it: killed, it is started on it
 * again. Each test of the file, or of the describe that it is made in, has a directory of its own.
 */
import { afterEach, beforeEach } from "vitest";
import { type Client, createClient } from "./client.ts";
import { type Operator, operatorOf } from "./operator.ts";
import { type ServiceProcess, startService } from "./service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.ts";

export interface KillableService {
  /** Its path. */
  readonly directory: string;
  start(): Promise<Operator & { readonly client: Client }>;
  /** The one that was started last; done when there is none. */
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
