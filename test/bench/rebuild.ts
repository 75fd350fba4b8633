/**
 * The cost of a rebuild of all views, alone and during reads and writes; of restoring entities; and
 * the rates of reads and writes during a rebuild and during a truncation of a million events,
 * compared with the rates without. The client shares the cores of the service.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { readConfig } from "../../src/config/config.ts";
import { EMPTY_STREAM } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import type { Append } from "../../src/log/change-log.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createClient, encoded } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { type Load, load, median } from "./load.ts";
import { change, fill } from "./offline-rebuild.ts";
import { overTurns, rate, report } from "./report.ts";
import { profileOf, single, urnOf } from "./sample.ts";

const connections = 32;
const seconds = 2;
const targets = {
  recordsPerSecond: 15_000,
  rebuilding: { reads: 0.7, writes: 0.6 },
  truncating: { reads: 0.9 },
  truncationSeconds: 30,
};
/** Rounds before and after the job, because the speed of the machine varies. */
const ALONE_ROUNDS = { before: 3, after: 2 };
/**
 * Rebuilds without load; the speed of the machine varies, and the first fills the compile cache.
 */
const REBUILDS = 3;
const rowsRestored = 30_000;
/** The number of tables with events. */
const tables = 1_000;

/**
 * `records`: the size of the log that views are rebuilt from; `events`: the number of truncated
 * events.
 */
export async function benchRebuild(records: number, events: number): Promise<void> {
  await inService(
    async (config) => fill(await openLog(config), records),
    async (service, act) => {
      const begin = () => act("rebuildViews", {});
      const atRest: number[] = [];
      for (let n = 0; n < REBUILDS; n++) {
        const job = await ended(act, await begin());
        atRest.push(job.head / job.seconds);
      }
      const held = overTurns(atRest, rate, { of: " of the log", target: targets.recordsPerSecond });
      report("rebuilding all views of a service at rest", held);
      await restored(act);
      const job = await beside(service, records / 5, targets.rebuilding, begin, act);
      const shown = `${job.seconds.toFixed(1)} s, ${rate(job.head / job.seconds)} of the log`;
      report("rebuilding them, read from and written to", shown);
    },
  );
  await inService(
    (config) => fillEvents(config, events),
    async (service, act) => {
      const index = { entityType: "dataset", aspect: "datasetprofile", dryRun: false };
      const all = { endTimeMillis: Number.MAX_SAFE_INTEGER };
      const begin = () => act("truncateTimeseriesAspect", { ...index, ...all });
      const job = await beside(service, tables, targets.truncating, begin, act);
      const what = `truncating ${job.deleted.toLocaleString("en")} events, read from`;
      report(what, `${job.seconds.toFixed(1)} s (target ${targets.truncationSeconds} s)`);
    },
  );
}

type Configured = ReturnType<typeof readConfig>;
type Act = (action: string, body: object) => ReturnType<typeof JSON.parse>;

/** A service on a filled log, with views that are built from it. */
async function inService(
  prepare: (config: Configured) => Promise<void>,
  use: (service: ServiceProcess, act: Act) => Promise<void>,
): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const config = readConfig({ data: directory.path }, {});
  await prepare(config);
  await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
  await using service = await startService(directory.path, { asInstalled: true });
  await settled(service);
  await use(service, operator(service, directory.path));
  await service.stop();
}

function operator({ address }: ServiceProcess, directory: string): Act {
  const token = readFileSync(join(directory, "operator.token"), "utf8").trim();
  return async (action, body) => {
    const headers = { Authorization: `Bearer ${token}` };
    const client = createClient(address);
    const reply = await client.call("POST", `/operations?action=${action}`, body, headers);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body.value;
  };
}

/** Rows per second of restoreIndices. The best published rate of DataHub is 2,500 rows/s. */
async function restored(act: Act): Promise<void> {
  const asked = { urnLike: "urn:li:dataset:%", batchSize: rowsRestored };
  const text: string = await act("restoreIndices", asked);
  const job = await ended(act, /taskId=([^,]+)/.exec(text)?.[1] ?? "");
  const shown = `${job.updated.toLocaleString("en")} rows in ${job.seconds.toFixed(1)} s`;
  report("restoring them by a pattern of urns", `${shown}, ${rate(job.updated / job.seconds)}`);
}

interface Job {
  readonly seconds: number;
  readonly updated: number;
  readonly deleted: number;
  /** The position of the log's head when the job ended. */
  readonly head: number;
}

async function ended(act: Act, id: string): Promise<Job> {
  for (;;) {
    const job = await act("getJob", { id });
    if (job.state === "failed" || job.state === "cancelled") throw new Error(JSON.stringify(job));
    if (job.state === "done") {
      const { log } = await act("getStatus", {});
      const { runNanos, counts } = job;
      const { updated, deleted } = counts;
      return { seconds: runNanos / 1e9, updated, deleted, head: log.position };
    }
    await pause(50);
  }
}

/** The rates of reads, and optionally of writes in turn with them, alone and during the job. */
async function beside(
  service: ServiceProcess,
  entities: number,
  wanted: { readonly reads: number; readonly writes?: number },
  begin: () => Promise<string>,
  act: Act,
): Promise<Job> {
  const reads = (): Load => ({
    ...{ url: service.address, method: "GET", connections, seconds },
    requests: Array.from({ length: 10_000 }, (_, n) => ({
      path: `/entitiesV2/${encoded(urnOf((n * 37) % entities))}`,
    })),
  });
  let generation = 1_000_000;
  const writes = (): Load => {
    generation++;
    return {
      ...{ url: service.address, method: "POST", connections, seconds },
      requests: Array.from({ length: 10_000 }, (_, n) => ({
        path: "/aspects?action=ingestProposal",
        body: single((n * 37) % entities, generation),
      })),
    };
  };
  const kinds = { reads, writes };
  const alone = { reads: [] as number[], writes: [] as number[] };
  const meanwhile = { reads: [] as number[], writes: [] as number[] };
  const asked = wanted.writes === undefined ? (["reads"] as const) : (["reads", "writes"] as const);
  const measureAlone = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      for (const kind of asked) {
        await settled(service);
        alone[kind].push((await load(kinds[kind]())).perSecond);
      }
    }
    await settled(service);
  };
  for (const kind of asked) await load(kinds[kind]());
  await measureAlone(ALONE_ROUNDS.before);
  const id = await begin();
  const running = async () => (await act("getJob", { id })).state === "running";
  for (let turn = 0; await running(); turn++) {
    const kind = asked[turn % asked.length] ?? "reads";
    // Projecting the writes of the last turn is not part of the job.
    await settled(service);
    if (!(await running())) break;
    const { perSecond } = await load(kinds[kind]());
    if (await running()) meanwhile[kind].push(perSecond);
  }
  const job = await ended(act, id);
  await measureAlone(ALONE_ROUNDS.after);
  for (const kind of asked) {
    const [now, quiet] = [median(meanwhile[kind]), median(alone[kind])];
    if (Number.isNaN(now)) continue;
    const against = { ratio: now / quiet, target: wanted[kind] ?? 0, of: `${rate(quiet)} alone` };
    report(`${kind} meanwhile`, rate(now), against);
  }
  return job;
}

/** Profiles of some tables, each of which has a key aspect. */
async function fillEvents(config: Configured, events: number): Promise<void> {
  const log = await openLog(config);
  const pending: Promise<unknown>[] = [];
  let appends: Append[] = [];
  const flush = async () => {
    pending.push(log.append(appends));
    appends = [];
    if (pending.length > 4) await pending.shift();
  };
  for (let n = 0; n < tables; n++) {
    const key = change(n, "datasetKey", { name: `table_${n}` });
    const records = [encodeChange({ ...key, system: { ...key.system, version: "1" } })];
    appends.push({ stream: entityStream(urnOf(n)), expected: EMPTY_STREAM, records });
  }
  for (let n = 0; n < events; n++) {
    const table = n % tables;
    const stream = timeseriesStream(urnOf(table), "datasetProfile");
    const profile = change(table, "datasetProfile", profileOf(table, n));
    appends.push({ stream, expected: "any", records: [encodeChange(profile)] });
    if (appends.length >= 1_000) await flush();
  }
  await flush();
  await Promise.all(pending);
  await log.close();
}

/** Waits until every view has reached the head of the log. */
async function settled({ address }: ServiceProcess): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${address}/metrics`)).text();
    const lags = [...text.matchAll(/^annals_view_lag_records\{[^}]*\} (\d+)/gm)];
    if (lags.length > 0 && lags.every(([, lag]) => lag === "0")) return;
    await pause(200);
  }
}
