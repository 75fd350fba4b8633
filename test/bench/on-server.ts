/** Runs a benchmark of a store on its server, if that can be reached. */
import { addressOf } from "../adapter/elasticsearch-place.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { report } from "./report.ts";

export type Engine = "elasticsearch" | "opensearch";

export async function onServer(
  name: Engine,
  bench: (title: string, url: string) => Promise<void>,
): Promise<void> {
  const store = await reachStore(name);
  const title = storeTitle(name, store);
  if ("skipped" in store) report(title, "left out");
  else await bench(title, addressOf(name, store.url));
}
