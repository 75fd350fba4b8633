/** The service in this process, on a free port and in its own directory. */

import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { type Client, createClient } from "./client.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export interface RunningService extends AsyncDisposable {
  readonly client: Client;
  readonly address: string;
  readonly directory: string;
  /** Closes and reopens the service on the same directory; `meanwhile` runs while it is closed. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
}

type Flags = Parameters<typeof readConfig>[0];

/**
 * Starts a service with an empty log, so that tests count from zero, unless the flags set
 * `builtInEntities: "on"`.
 */
export async function runningService(flags: Flags = {}): Promise<RunningService> {
  const directory = temporaryDirectory();
  const own = { port: "0", data: directory.path, logLevel: "warn", builtInEntities: "off" };
  const config = readConfig({ ...own, ...flags }, {});
  const logger = createLogger(config.logLevel);
  let service = await openService(config, { logger });
  const running = {
    client: createClient(service.address()),
    address: service.address(),
    directory: directory.path,
    async restart(meanwhile?: () => Promise<void>) {
      await service.close();
      await meanwhile?.();
      service = await openService(config, { logger });
      running.client = createClient(service.address());
      running.address = service.address();
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      directory[Symbol.dispose]();
    },
  };
  return running;
}
