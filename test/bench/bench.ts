/**
 * Benchmarks with ratios against a baseline of the same run: `npm run bench [-- part … [--large]]`.
 * The service and the bare echo are separate processes that one client loads in turns, so that a
 * ratio shows the cost beyond parsing and answering a body. Code in this process comes from the
 * compile cache, as in commands (package.json, annals.mjs). Each part has its own process.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { benchAuth } from "./auth.ts";
import { benchSearchOn } from "./elasticsearch.ts";
import { benchTimeseriesOn } from "./elasticsearch-timeseries.ts";
import { benchEventStore } from "./eventstoredb.ts";
import { benchGraphql } from "./graphql.ts";
import { benchIngest } from "./ingest.ts";
import { benchKafka } from "./kafka.ts";
import { benchLineage } from "./lineage.ts";
import { benchNeo4j } from "./neo4j.ts";
import { benchOfflineRebuild } from "./offline-rebuild.ts";
import { benchPostgres } from "./postgres.ts";
import { benchReads } from "./reads.ts";
import { benchRebuild } from "./rebuild.ts";
import { benchSearch } from "./search.ts";
import { benchSearches } from "./searches.ts";
import { benchSizes } from "./sizes.ts";
import { benchTakeover } from "./takeover.ts";
import { benchTogether } from "./together.ts";
import { benchVerify } from "./verify.ts";
import { benchWeb } from "./web.ts";

const parts: Readonly<Record<string, () => Promise<void>>> = {
  auth: benchAuth,
  graphql: benchGraphql,
  ingest: benchIngest,
  lineage: benchLineage,
  reads: benchReads,
  "offline-rebuild": benchOfflineRebuild,
  rebuild: () => benchRebuild(large ? 1_000_000 : 200_000, 1_000_000),
  search: () => benchSearch(large ? 1_000_000 : 100_000),
  searches: async () => {
    await benchSearches(10_000, 32);
    await benchSearches(30_000, 16);
    await benchSearches(100_000, 8);
    if (large) await benchSearches(1_000_000, 8);
  },
  together: benchTogether,
  verify: benchVerify,
};

/** Parts that need servers or a browser; run only on request. */
const servers: Readonly<Record<string, () => Promise<void>>> = {
  web: benchWeb,
  eventstoredb: benchEventStore,
  postgres: benchPostgres,
  "elasticsearch-search": () => benchSearchOn("elasticsearch"),
  "elasticsearch-timeseries": () => benchTimeseriesOn("elasticsearch"),
  "opensearch-search": () => benchSearchOn("opensearch"),
  "opensearch-timeseries": () => benchTimeseriesOn("opensearch"),
  neo4j: benchNeo4j,
  kafka: benchKafka,
  sizes: benchSizes,
  takeover: benchTakeover,
};

const large = process.argv.includes("--large");
const asked = process.argv.slice(2).filter((argument) => argument !== "--large");
const all = { ...parts, ...servers };
const unknown = asked.filter((name) => !(name in all));
if (unknown.length > 0) {
  console.error(`no part ${unknown.join(", ")}; there are ${Object.keys(all).join(", ")}`);
  process.exit(2);
}
const names = Object.keys(asked.length > 0 ? all : parts).filter(
  (name) => asked.length === 0 || asked.includes(name),
);
const [only = ""] = names;
if (names.length === 1) {
  console.log(`\n## ${only}`);
  await all[only]?.();
} else {
  // Each part has its own process, so that the heap of one does not slow the next.
  for (const name of names) {
    const options = large ? [name, "--large"] : [name];
    const file = fileURLToPath(import.meta.url);
    const { status } = spawnSync(process.execPath, [file, ...options], { stdio: "inherit" });
    if (status !== 0) process.exit(status ?? 1);
  }
}
