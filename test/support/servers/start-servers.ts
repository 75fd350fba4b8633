/**
 * Servers for working on the stores, kept until this program is stopped (Ctrl-C or SIGTERM):
 *
 *   node test/support/servers/start-servers.ts [--file stores.env] [name …]
 *
 * writes a line like TEST_NEO4J=bolt://… for each as soon as it is ready, to the file or to
 * standard output. `TEST_STORES_FILE=stores.env npm test` then runs on them.
 * With `--fetch` it only fetches what it would start, and prints the names of what is then ready.
 */
import { appendFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { variableOf } from "../stores.ts";
import { type PackagedStore, serverKinds } from "./server-kinds.ts";
import { prepareProgram } from "./server-process.ts";
import { createStoreKeeper } from "./store-keeper.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { file: { type: "string" }, fetch: { type: "boolean", default: false } },
});
const known = Object.keys(serverKinds) as PackagedStore[];
const names = positionals.length === 0 ? known : known.filter((name) => positionals.includes(name));
if (names.length < positionals.length) {
  console.error(`there are ${known.join(", ")}`);
  process.exit(2);
}

await (values.fetch ? fetchAll() : startAll());

async function fetchAll(): Promise<void> {
  for (const name of names) {
    try {
      if (!process.env[variableOf(name)]) await prepareProgram(await serverKinds[name]());
      console.log(name);
    } catch (error) {
      printMissing(name, error instanceof Error ? error.message : String(error));
    }
  }
}

async function startAll(): Promise<void> {
  const keeper = createStoreKeeper();
  const { file } = values;
  const forget = () => file !== undefined && rmSync(file, { force: true });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      forget();
      keeper.close().finally(() => process.exit(0));
    });
  }
  forget();
  for (const name of names) {
    const store = await keeper.own(name);
    if ("skipped" in store) printMissing(name, store.skipped);
    else if (file === undefined) console.log(`${variableOf(name)}=${store.url}`);
    else appendFileSync(file, `${variableOf(name)}=${store.url}\n`);
  }
  // Runs until a signal ends the process.
  setInterval(() => {}, 2 ** 30);
}

function printMissing(name: string, why: string): void {
  console.error(`${name} cannot be had: ${why}`);
  process.exitCode = 1;
}
