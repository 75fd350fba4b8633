import type { Client } from "@elastic/elasticsearch";
import { describe } from "vitest";
import { openElasticsearchSearchReader } from "../../src/search/elasticsearch/elasticsearch-search-reader.ts";
import { openElasticsearchSearchSink } from "../../src/search/elasticsearch/elasticsearch-search-sink.ts";
import { searchContract } from "../contract/search.contract.ts";
import { searchHistories } from "../contract/search-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf, createElasticsearchPlace } from "./elasticsearch-place.ts";

const stores = ["elasticsearch", "opensearch"] as const;
const reached = await Promise.all(
  stores.map(async (name) => ({ name, store: await reachStore(name) })),
);

for (const { name, store } of reached) {
  const title = storeTitle(name, store);
  // There is nothing to test without a server.
  describe.skipIf("skipped" in store)(`on ${title}`, { timeout: 60_000 }, () => {
    const createPlace = createElasticsearchPlace(
      "skipped" in store ? "" : addressOf(name, store.url),
      {
        openSink: openElasticsearchSearchSink,
        openReader: openElasticsearchSearchReader,
        change,
      },
    );

    searchContract(title, { createPlace, slow: true });

    sinkContract(`${title}, search`, {
      createPlace,
      slow: true,
      histories: searchHistories,
      urnOf: (write) => (write.op === "put" ? write.document.urn : write.urn),
      ownerOf: ({ document }) => document.urn,
      damages: Object.keys(damages).map(
        (what) => [what, (urn: string) => JSON.stringify({ what, urn })] as const,
      ),
    });
  });
}

interface Stored {
  readonly at: number;
  readonly urn: string;
  readonly document: string;
}

type Damage = (
  client: Client,
  at: { readonly index: string; readonly id: string },
  source: Stored,
) => Promise<unknown>;

const damages: Readonly<Record<string, Damage>> = {
  removed: (client, at) => client.delete({ ...at, refresh: true }),
  changed: (client, at, source) =>
    client.index({ ...at, refresh: true, document: { ...source, document: '["tag",{},[]]' } }),
  "moved to another place": (client, at, source) =>
    client.index({ ...at, refresh: true, document: { ...source, at: source.at + 5 } }),
};

async function change(statements: string, client: Client, name: string): Promise<void> {
  const { what, urn } = JSON.parse(statements) as { what: string; urn: string };
  const at = { index: `${name}.search.live.${urn.split(":")[2]}`, id: urn };
  const { _source } = await client.get<Stored>(at);
  if (_source !== undefined) await damages[what]?.(client, at, _source);
}
