/**
 * Benchmark of `annals rebuild` on logs of two sizes, of starts on the larger log, and of the idle
 * memory. The log is written by the real append path and holds tables that change now and then.
 */
import { readFileSync } from "node:fs";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Change } from "../../src/core/change.ts";
import { EMPTY_STREAM, type Revision, revision } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import type { Append, ChangeLog } from "../../src/log/change-log.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { plainRowsIn } from "./plain-rows.ts";
import { rate, ratio, report } from "./report.ts";
import { ownershipOf, profileOf, propertiesOf, urnOf } from "./sample.ts";

const sizes = [100_000, 1_000_000];
/** The size of a first rebuild. It fills the compile cache that all later threads use. */
const warmSize = 12_000;
const startsOf = 3;

const generations = [
  { name: "aspects and timeseries", views: ["aspects", "timeseries"], target: 40_000 },
  { name: "all four views", views: [], target: 15_000 },
];

export async function benchOfflineRebuild(): Promise<void> {
  const costs = new Map<string, number[]>(generations.map(({ name }) => [name, []]));
  for (const size of [warmSize, ...sizes]) {
    using directory = temporaryDirectory("annals-bench");
    const config = readConfig({ data: directory.path }, {});
    await fill(await openLog(config), size);
    const plain = size === warmSize ? 0 : await plainRowsIn(config);
    for (const { name, views, target } of generations) {
      const begun = performance.now();
      await rebuild(config, { views, onProgress: () => {}, logger: createLogger("silent") });
      if (size === warmSize) continue;
      const seconds = (performance.now() - begun) / 1_000;
      costs.get(name)?.push(seconds / size);
      const what = `rebuild ${name} from ${size.toLocaleString("en")} records`;
      const reached = `${rate(size / seconds)} (target ${target.toLocaleString("en")})`;
      report(what, `${reached}, ${ratio(size / seconds / plain)} of plain rows`);
    }
    if (size === sizes.at(-1)) await benchStart(directory.path, size);
  }
  for (const [name, [small = 0, large = 0]] of costs) {
    report(`cost of a record, ${name}, largest log against smallest`, (large / small).toFixed(2));
  }
}

async function benchStart(directory: string, size: number): Promise<void> {
  const starts: number[] = [];
  for (let i = 0; i < startsOf; i++) {
    await using service = await startService(directory, { asInstalled: true });
    starts.push(service.startedInMs);
    if (i === startsOf - 1) {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      report("idle memory", `${residentMegabytes(service.pid).toFixed(0)} MB`);
    }
    await service.stop();
  }
  const shown = starts.map((ms) => `${Math.round(ms)} ms`).join(", ");
  report(`starts on a log of ${size.toLocaleString("en")} records`, shown);
}

/**
 * Events per entity: key, properties, ownership; then profiles and changed properties alternately.
 */
export async function fill(log: ChangeLog, size: number): Promise<void> {
  // As a service does after its start: until then, each batch scans a table for its new streams.
  await log.checkIndexes?.();
  const entities = Math.floor(size / 5);
  const revisions = new Map<number, Revision>();
  const versions = new Map<string, number>();
  const pending: Promise<unknown>[] = [];
  let appends: Append[] = [];
  const flush = async () => {
    pending.push(log.append(appends));
    appends = [];
    if (pending.length > 4) await pending.shift();
  };
  let written = 0;
  for (let n = 0; written < size; n++) {
    // The stride is prime to the number of entities: neighbours in the log are not neighbours in
    // the views.
    const entity = (n * 7_919) % entities;
    const first = n < entities;
    const changes = first
      ? [
          change(entity, "datasetKey", { name: `table_${entity}` }),
          change(entity, "datasetProperties", propertiesOf(entity, 0)),
          change(entity, "ownership", ownershipOf(entity)),
        ]
      : [change(entity, "datasetProperties", propertiesOf(entity, n))];
    const expected = revisions.get(entity) ?? EMPTY_STREAM;
    const numbered = changes.map((one) => withVersion(one, versions));
    appends.push({
      stream: entityStream(urnOf(entity)),
      expected,
      records: numbered.map(encodeChange),
    });
    revisions.set(entity, revision(expected + changes.length));
    written += changes.length;
    if (!first) {
      const profile = change(entity, "datasetProfile", profileOf(entity, n));
      const stream = timeseriesStream(urnOf(entity), "datasetProfile");
      appends.push({ stream, expected: "any", records: [encodeChange(profile)] });
      written++;
    }
    if (appends.length >= 1_000) await flush();
  }
  await flush();
  await Promise.all(pending);
  await log.close();
}

export function change(entity: number, aspect: string, value: object): Change {
  const time = 1_700_000_000_000 + entity;
  return {
    urn: urnOf(entity),
    entityType: "dataset",
    aspect,
    changeType: "UPSERT",
    value: JSON.stringify(value),
    created: { time, actor: "urn:li:corpuser:loader" },
    system: { lastObserved: time, runId: "bench-2026-11-21" },
  };
}

function withVersion(one: Change, versions: Map<string, number>): Change {
  const key = `${one.urn} ${one.aspect}`;
  const version = (versions.get(key) ?? 0) + 1;
  versions.set(key, version);
  return { ...one, system: { ...one.system, version: String(version) } };
}

/** Linux only: the resident set, as the kernel counts it. */
function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
