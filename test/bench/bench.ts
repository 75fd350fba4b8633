/**
 * Benchmarks with ratios against a baseline of the same run: `npm run bench [-- part … [--large]]`.
 * `--report` runs the parts of docs/benchmarks.md and writes it; `--sizes` are its sizes of logs.
 * The service and the bare echo are separate processes that one client loads in turns, so that a
 * ratio shows the cost beyond parsing and answering a body. Code in this process comes from the
 * compile cache, as in commands (package.json, annals.mjs). Each part has its own process.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { benchAuth } from "./auth.ts";
import { benchSearchOn } from "./elasticsearch.ts";
import { benchTimeseriesOn } from "./elasticsearch-timeseries.ts";
import { benchEventStore } from "./eventstoredb.ts";
import { type Figure, type Figures, formatLine } from "./figures.ts";
import { benchGraphql } from "./graphql.ts";
import { benchGrowth } from "./growth.ts";
import { benchIngest } from "./ingest.ts";
import { benchKafka } from "./kafka.ts";
import { benchLineage } from "./lineage.ts";
import { benchNeo4j } from "./neo4j.ts";
import { benchOfflineRebuild } from "./offline-rebuild.ts";
import { writeBenchmarks } from "./page/write-page.ts";
import { benchPostgres } from "./postgres.ts";
import { benchReads } from "./reads.ts";
import { benchRebuild } from "./rebuild.ts";
import { benchSearch } from "./search.ts";
import { benchSearches } from "./searches.ts";
import { benchSizes } from "./sizes.ts";
import { benchTakeover } from "./takeover.ts";
import { benchTogether } from "./together.ts";
import { benchVerify } from "./verify.ts";
import { benchWaits } from "./waits.ts";
import { benchWeb } from "./web.ts";

type Part = () => Promise<void> | Figures;

const parts: Readonly<Record<string, Part>> = {
  auth: benchAuth,
  graphql: benchGraphql,
  growth: () => benchGrowth(sizes),
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
  waits: benchWaits,
};

/** Parts that need servers or a browser; run only on request. */
const servers: Readonly<Record<string, Part>> = {
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

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    large: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
    sizes: { type: "string", default: "10000,100000,1000000" },
  },
});
const { large } = values;
const sizes = values.sizes.split(",").map(Number);
const all = { ...parts, ...servers };
const unknown = asked.filter((name) => !(name in all));
if (unknown.length > 0) {
  console.error(`no part ${unknown.join(", ")}; there are ${Object.keys(all).join(", ")}`);
  process.exit(2);
}

/** Runs a part in this process. With a parent process, sends it the figures. */
async function run(name: string): Promise<void> {
  console.log(`\n## ${name}`);
  const running = all[name]?.();
  if (running === undefined || running instanceof Promise) return running;
  for await (const figure of running) {
    console.log(formatLine(figure));
    process.send?.(figure);
  }
  process.disconnect?.();
}

/** Runs a part in its own process, so that the heap of one does not slow the next. */
async function runApart(name: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const options = [`--sizes=${values.sizes}`, ...(large ? ["--large"] : [])];
  const child = fork(fileURLToPath(import.meta.url), [name, ...options]);
  child.on("message", (figure) => figures.push(figure as Figure));
  const [code] = await once(child, "exit");
  if (code !== 0) process.exit(code ?? 1);
  return figures;
}

const [only, ...others] = asked;
if (values.report) await writeBenchmarks(runApart);
else if (only !== undefined && others.length === 0) await run(only);
else for (const name of only === undefined ? Object.keys(parts) : asked) await runApart(name);
