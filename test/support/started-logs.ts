/**
 * The logs that service tests run on, each started for its suite: the embedded log needs no start.
 */
import { startEventStoreServer } from "./eventstoredb-server/server.ts";
import { type RunningService, runningService } from "./running-service.ts";

export const startedLogs = [
  ["embedded", async () => ({ address: "embedded", stop: async () => {} })],
  ["EventStoreDB", startEventStoreServer],
] as const;

/** A service on a log that ends with the service. */
export async function serviceOnLog(
  startLog: (typeof startedLogs)[number][1],
): Promise<RunningService> {
  const log = await startLog();
  const service = await runningService({ log: log.address });
  const end = service[Symbol.asyncDispose];
  return Object.assign(service, {
    async [Symbol.asyncDispose]() {
      await end();
      await log.stop();
    },
  });
}
