/**
 * Servers for working on the stores, kept until this program is stopped (Ctrl-C or SIGTERM):
 *
 *   node test/support/servers/start-servers.ts [--file stores.env] [name …]
 *
 * writes a line like ANNALS_TEST_NEO4J=bolt://… for each as soon as it is ready, to the file or to
 * standard output. `ANNALS_TEST_STORES_FILE=stores.env npm test` then runs on them.
 * With `--fetch` it only fetches what it would start.
 */
import { appendFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { type PackagedStore, serverKinds } from "./server-kinds.ts";
import { openServerProcess, type ServerProcess } from "./server-process.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { file: { type: "string" }, fetch: { type: "boolean", default: false } },
});

const isKnown = (name: string): name is PackagedStore => name in serverKinds;
const unknown = positionals.filter((name) => !isKnown(name));
if (unknown.length > 0) {
  console.error(
    `no such server: ${unknown.join(", ")}; there are ${Object.keys(serverKinds).join(", ")}`,
  );
  process.exit(2);
}
const names = (positionals.length > 0 ? positionals : Object.keys(serverKinds)).filter(isKnown);

const running: ServerProcess[] = [];
let failures = 0;

async function stopAll(): Promise<void> {
  if (values.file !== undefined) rmSync(values.file, { force: true });
  await Promise.all(running.map((server) => server.stop()));
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => void stopAll().then(() => process.exit(0)));
}

if (values.file !== undefined) rmSync(values.file, { force: true });
for (const name of names) {
  try {
    const kind = await serverKinds[name]();
    if (values.fetch) {
      await kind.program();
      console.log(name);
      continue;
    }
    const server = await openServerProcess(kind);
    running.push(server);
    const line = `ANNALS_TEST_${name.toUpperCase()}=${server.url}`;
    if (values.file === undefined) console.log(line);
    else appendFileSync(values.file, `${line}\n`);
  } catch (error) {
    failures++;
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}
if (values.fetch) process.exit(failures === 0 ? 0 : 1);
// The servers are children of this process; it stays for them.
if (running.length > 0) setInterval(() => {}, 2 ** 30);
