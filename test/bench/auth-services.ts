/**
 * Several services in one process, with the names of the arguments; prints their addresses in one
 * line, and ends with SIGTERM.
 */

import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";

/** Addresses by name. */
export type Opened = Readonly<Record<string, string>>;

const logger = createLogger("warn");
const asked: Readonly<Record<string, Parameters<typeof readConfig>[0]>> = JSON.parse(
  process.argv[2] ?? "{}",
);
const services = new Map<string, Awaited<ReturnType<typeof openService>>>();
for (const [name, flags] of Object.entries(asked)) {
  services.set(name, await openService(readConfig({ port: "0", ...flags }, {}), { logger }));
}
const opened = [...services].map(([name, service]) => [name, service.address()]);
console.log(JSON.stringify(Object.fromEntries(opened)));
process.once("SIGTERM", async () => {
  for (const service of services.values()) await service.close();
  process.exit(0);
});
