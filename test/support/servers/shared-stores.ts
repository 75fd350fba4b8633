/**
 * Vitest's global set-up: one keeper of servers for all test files, behind an endpoint on 127.0.0.1
 * that support/stores.ts calls. The end of the run lists the skipped stores.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  isStoreName,
  type ReachedStore,
  type SkippedStore,
  type StoreName,
  selectedStores,
  storeTitle,
} from "../stores.ts";
import { createStoreKeeper } from "./store-keeper.ts";

export default async function setup(): Promise<() => Promise<void>> {
  selectedStores();
  const keeper = createStoreKeeper();
  const answers = new Map<StoreName, ReachedStore | SkippedStore>();
  const api = createServer(async (request, response) => {
    const name = request.url?.slice(1) ?? "";
    const known = isStoreName(name);
    const answer = known ? await keeper.reach(name) : { skipped: `there is no store ${name}` };
    if (known) answers.set(name, answer);
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const { port } = api.address() as AddressInfo;
  process.env.TEST_STORES_ENDPOINT = `http://127.0.0.1:${port}/`;

  return async () => {
    api.closeAllConnections();
    api.close();
    await keeper.close();
    printStores(answers);
  };
}

function printStores(answers: ReadonlyMap<StoreName, ReachedStore | SkippedStore>): void {
  const started = [...answers].flatMap(([name, store]) =>
    "skipped" in store ? [] : [`${storeTitle(name, store)} (${store.from})`],
  );
  if (started.length > 0) console.log(`\nStarted for the tests: ${started.join(", ")}`);
  for (const [name, store] of answers) {
    if ("skipped" in store) console.log(`Left out: ${name}, because ${store.skipped}`);
  }
}
