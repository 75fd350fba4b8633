/** Logs that a suite of the whole service runs on, each started for it: the embedded one needs nothing. */
import { startEventStoreServer } from "./eventstoredb-server/server.ts";

export const startedLogs = [
  ["embedded", async () => ({ address: "embedded", stop: async () => {} })],
  ["EventStoreDB", startEventStoreServer],
] as const;
