/**
 * Searches over HTTP, against an echo that returns a response of the same size: words that 0.1 to
 * 80 % of the documents have, the default facets, 10 hits. Where Elasticsearch is reachable, also
 * against an index of the same documents there, with as many facets, by plain requests.
 */
import { setTimeout as pause } from "node:timers/promises";
import { addressOf } from "../adapter/elasticsearch-place.ts";
import { caughtUp } from "../support/caught-up.ts";
import { createClient, proposal } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { idle } from "./cpu.ts";
import { startEcho } from "./echo.ts";
import { beginMs, type Load, load, type Measured, median } from "./load.ts";
import { rate, report } from "./report.ts";
import { ownershipOf, single, urnOf } from "./sample.ts";

const seconds = 5;
const rounds = 2;
/** Concurrent readers, for the throughput of mixed words. */
const readers = [1, 2, 4, 8, 16, 32, 64];
/** Connections that write during searches, and their total rate. */
const [writers, writesPerSecond] = [20, 1_000];
const perRequest = 500;
const words = 200;
const [rarest, commonest] = [0.001, 0.8];

const frequencyOf = (word: number): number => rarest * (commonest / rarest) ** (word / (words - 1));

/** A number from 0 to 1 that depends on the document and the word alone. */
function chance(document: number, word: number): number {
  let hash = Math.imul(document + 1, 0x9e3779b1) ^ Math.imul(word + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

const numbers = Array.from({ length: words }, (_, word) => word);
/** One word of letters: digits would be words of their own. */
const nameOf = (word: number): string =>
  `mixed${String.fromCharCode(97 + Math.floor(word / 26), 97 + (word % 26))}`;

const descriptionOf = (document: number): string =>
  numbers
    .filter((word) => chance(document, word) < frequencyOf(word))
    .map(nameOf)
    .join(" ");

/** Fields of the facets of a raw search: as many as the service counts. */
const rawFacets = [
  ...["entityType", "platform", "origin", "env", "domains", "owners", "tags", "glossaryTerms"],
  ...["container", "typeNames", "dataPlatformInstance", "removed"],
];

const rawBodyOf = (word: number): string =>
  JSON.stringify({
    query: { multi_match: { query: nameOf(word), fields: ["name^10", "description", "urn^4"] } },
    size: 10,
    _source: ["urn"],
    track_total_hits: true,
    aggs: Object.fromEntries(rawFacets.map((field) => [field, { terms: { field, size: 20 } }])),
  });

/** Returns the path of searches in a new index of one shard, fully merged. */
async function fillElasticsearch(url: string, entities: number): Promise<string> {
  const index = "annals_bench_searches";
  const call = async (method: string, path: string, body?: string): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const { ok, status } = await fetch(`${url}/${path}`, { method, headers, body: body ?? null });
    if (!ok) throw new Error(`Elasticsearch answers ${method} ${path} with ${status}`);
  };
  await call("DELETE", `${index}?ignore_unavailable=true`);
  const text = { type: "text" };
  const facets = rawFacets.map((field) => [field, { type: "keyword" }]);
  await call(
    "PUT",
    index,
    JSON.stringify({
      settings: { number_of_shards: 1, number_of_replicas: 0 },
      mappings: {
        properties: { urn: text, name: text, description: text, ...Object.fromEntries(facets) },
      },
    }),
  );
  for (let first = 0; first < entities; first += perRequest) {
    const lines = Array.from({ length: perRequest }, (_, n) => first + n).flatMap((n) => [
      '{"index":{}}',
      JSON.stringify({
        ...{ urn: urnOf(n), name: `table_${n}`, description: descriptionOf(n) },
        ...{ entityType: "dataset", platform: "urn:li:dataPlatform:hive", origin: "PROD" },
        ...{ env: "PROD", owners: ownershipOf(n).owners.map(({ owner }) => owner) },
        removed: "false",
      }),
    ]);
    await call("POST", `${index}/_bulk`, `${lines.join("\n")}\n`);
  }
  await call("POST", `${index}/_forcemerge?max_num_segments=1`);
  await call("POST", `${index}/_refresh`);
  return `/${index}/_search`;
}

async function fill({ address }: ServiceProcess, entities: number): Promise<void> {
  const client = createClient(address);
  for (let first = 0; first < entities; first += perRequest) {
    const proposals = Array.from({ length: perRequest }, (_, n) => first + n).flatMap((n) => [
      proposal(urnOf(n), "datasetProperties", {
        ...{ name: `table_${n}`, description: descriptionOf(n), customProperties: {} },
      }),
      proposal(urnOf(n), "ownership", ownershipOf(n)),
    ]);
    const path = "/aspects?action=ingestProposalBatch";
    for (;;) {
      const { status } = await client.call("POST", path, { proposals });
      if (status === 200) break;
      if (status !== 503) throw new Error(`the service rejects a batch with ${status}`);
      // The views are at their greatest lag.
      await pause(1_000);
    }
  }
}

const bodyOf = (word: number): string =>
  JSON.stringify({ entity: "dataset", input: nameOf(word), start: 0, count: 10 });

const path = "/entities?action=search";
// A stride that is prime to the number of words mixes their frequencies.
const mixed = (target: string, text: (word: number) => string) =>
  numbers.map((n) => ({ path: target, body: text((n * 77) % words) }));

export async function benchSearches(entities: number, connections: number): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  await using service = await startService(directory.path, { asInstalled: true });
  const client = createClient(service.address);
  await fill(service, entities);
  await caughtUp({ client, directory: directory.path });
  // The view has merged its segments.
  await idle(service.pid);
  const { body } = await client.call("POST", path, bodyOf(words / 2));
  using echo = await startEcho(JSON.stringify(body));
  const common = { method: "POST", connections, seconds } as const;
  const url = service.address;
  const commonest = words - 1;
  const loads: Record<string, Load> = {
    echo: { ...common, method: "GET", url: echo.url, requests: [{ path: "/text" }] },
    mixed: { ...common, url, requests: mixed(path, bodyOf) },
    alone: { ...common, url, requests: [{ path, body: bodyOf(commonest) }], connections: 1 },
    selective: { ...common, url, requests: [{ path, body: bodyOf(0) }], connections: 1 },
    completion: {
      ...{ ...common, url, connections: 1 },
      requests: numbers.map((n) => ({
        path: "/entities?action=autocomplete",
        body: JSON.stringify({ entity: "dataset", query: `table_${(n * 77) % words}`, limit: 10 }),
      })),
    },
  };
  const store = await reachStore("elasticsearch");
  if (!("skipped" in store)) {
    const raw = addressOf("elasticsearch", store.url);
    const searches = await fillElasticsearch(raw, entities);
    const requests = mixed(searches, rawBodyOf);
    loads.raw = { ...common, url: raw, requests };
    const body = rawBodyOf(commonest);
    loads.rawAlone = { ...loads.raw, requests: [{ path: searches, body }], connections: 1 };
  }
  const measured = await inTurns(loads);
  const of = (name: string): readonly Measured[] => measured.get(name) ?? [];
  const perSecond = (name: string) => median(of(name).map((one) => one.perSecond));
  const base = perSecond("echo");
  report(`${entities.toLocaleString("en")} entities, ${connections} readers: echo`, rate(base));
  const toEcho = { ratio: perSecond("mixed") / base, target: 0.25 };
  report("searches, mixed words", rate(perSecond("mixed")), toEcho);
  report("p50 and p99", latencies(of("mixed")));
  report("a word in 80 %, one reader, p50 and p99", latencies(of("alone")));
  report("a word in 0.1 %, one reader, p50 and p99", latencies(of("selective")));
  report("completions, one reader, p50 and p99", latencies(of("completion")));
  const title = storeTitle("elasticsearch", store);
  if ("skipped" in store) report(title, "left out");
  else {
    const toRaw = { of: title, target: 5, ratio: perSecond("mixed") / perSecond("raw") };
    report(`${title}, mixed words`, rate(perSecond("raw")));
    report("searches, mixed words", rate(perSecond("mixed")), toRaw);
    report(`${title}, p50 and p99`, latencies(of("raw")));
    report(`${title}, a word in 80 %, one reader`, latencies(of("rawAlone")));
  }
  for (const [name, one] of Object.entries({ searches: loads.mixed, [title]: loads.raw })) {
    if (one === undefined) continue;
    for (const connections of readers) {
      const { perSecond } = await load({ ...one, connections });
      report(`${name}, mixed words, readers: ${connections}`, rate(perSecond));
    }
  }
  await besideWrites(loads.mixed);
  await service.stop();
}

/** The rate of searches during writes that change entities, and the rate of these writes. */
async function besideWrites(searches: Load | undefined): Promise<void> {
  if (searches === undefined) return;
  const { url } = searches;
  const writes: Load = {
    ...{ url, method: "POST", connections: writers, perSecondMax: writesPerSecond },
    // The searches begin when all writers have started.
    seconds: 2 * seconds + beginMs / 1_000,
    requests: Array.from({ length: 10_000 }, (_, n) => ({
      path: "/aspects?action=ingestProposal",
      body: single(n, 1),
    })),
  };
  const alone = await load(searches);
  const [written, beside] = await Promise.all([
    load(writes),
    pause(beginMs).then(() => load({ ...searches, seconds: 2 * seconds })),
  ]);
  const kept = { of: "those without", target: 0.5, ratio: beside.perSecond / alone.perSecond };
  report(`searches beside ${Math.round(written.perSecond)} writes/s`, rate(beside.perSecond), kept);
}

/** Runs the loads in turn, some rounds after one that warms up; the figures of each. */
async function inTurns(loads: Readonly<Record<string, Load>>) {
  const measured = new Map<string, Measured[]>();
  for (let round = 0; round <= rounds; round++) {
    for (const [name, one] of Object.entries(loads)) {
      const figures = await load(one);
      if (round > 0) measured.set(name, [...(measured.get(name) ?? []), figures]);
    }
  }
  return measured;
}

const latencies = (measured: readonly Measured[]): string =>
  [median(measured.map(({ p50Ms }) => p50Ms)), median(measured.map(({ p99Ms }) => p99Ms))]
    .map((ms) => `${ms.toFixed(0)} ms`)
    .join(", ");
