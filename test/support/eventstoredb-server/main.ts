/**
 * `node test/support/eventstoredb-server/main.ts --port 2113`: the EventStoreDB protocol double in
 * its own process. Prints its address when it serves; its content ends with the process.
 */
import { parseArgs } from "node:util";
import { startEventStoreServer } from "./server.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
const server = await startEventStoreServer({ port: Number(values.port) });
console.log(server.address);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void server.stop().then(() => process.exit(0)));
}
