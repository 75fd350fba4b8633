/**
 * What rebuilding all views, and truncating a million events, costs those who read and write
 * meanwhile: rates beside them, held against rates alone, in the same run on the same service.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readConfig } from "../../src/config/config.ts";
import { rebuild } from "../../src/offline.ts";
import { openLog } from "../../src/stores.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createClient, encoded, proposal } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { type Load, load, median } from "./load.ts";
import { fill } from "./regrow.ts";
import { rate, report } from "./report.ts";
import { single, urnOf } from "./sample.ts";

const connections = 32;
const seconds = 3;
const readers = 0.7;
const writers = 0.6;

/** `records`: of the log that views are rebuilt from; as many events are truncated. */
export async function benchRebuild(records: number): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), records);
  await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
  const service = await startService(directory.path);
  try {
    const act = operator(service, directory.path);
    await settled(service);
    await beside("rebuilding all views", service, records / 5, () => act("rebuildViews", {}), act);
    const index = { entityType: "dataset", aspect: "datasetprofile", dryRun: false };
    const events = await fillEvents(service, records);
    await settled(service);
    const truncate = () => act("truncateTimeseriesAspect", { ...index, ...all });
    const what = `truncating ${events.toLocaleString("en")} events`;
    await beside(what, service, records / 5, truncate, act);
  } finally {
    await service.stop();
  }
}

const all = { endTimeMillis: Number.MAX_SAFE_INTEGER };

type Act = ReturnType<typeof operator>;

function operator({ address }: ServiceProcess, directory: string) {
  const token = readFileSync(join(directory, "operator.token"), "utf8").trim();
  return async (action: string, body: object) => {
    const headers = { Authorization: `Bearer ${token}` };
    const client = createClient(address);
    const reply = await client.call("POST", `/operations?action=${action}`, body, headers);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body.value;
  };
}

/** Reads and writes in turn, alone and beside the job, which is begun again when it has ended. */
async function beside(
  what: string,
  service: ServiceProcess,
  entities: number,
  begin: () => Promise<string>,
  act: Act,
): Promise<void> {
  const reads = (): Load => ({
    ...{ url: service.address, method: "GET", connections, seconds },
    requests: Array.from({ length: 10_000 }, (_, n) => ({
      path: `/entitiesV2/${encoded(urnOf((n * 37) % entities))}`,
    })),
  });
  let edition = 1_000_000;
  const writes = (): Load => {
    edition++;
    return {
      ...{ url: service.address, method: "POST", connections, seconds },
      requests: Array.from({ length: 10_000 }, (_, n) => ({
        path: "/aspects?action=ingestProposal",
        body: single((n * 37) % entities, edition),
      })),
    };
  };
  await load(reads());
  await load(writes());
  const alone = { reads: [] as number[], writes: [] as number[] };
  for (let round = 0; round < 2; round++) {
    alone.reads.push((await load(reads())).perSecond);
    alone.writes.push((await load(writes())).perSecond);
  }
  await settled(service);
  const id = await begin();
  const meanwhile = { reads: [] as number[], writes: [] as number[] };
  let job = await act("getJob", { id });
  while (job.state === "running") {
    meanwhile.reads.push((await load(reads())).perSecond);
    if ((await act("getJob", { id })).state !== "running") meanwhile.reads.pop();
    else {
      meanwhile.writes.push((await load(writes())).perSecond);
      if ((await act("getJob", { id })).state !== "running") meanwhile.writes.pop();
    }
    job = await act("getJob", { id });
  }
  if (job.state !== "done") throw new Error(JSON.stringify(job));
  const took = job.runNanos / 1e9;
  const shown = `${took.toFixed(1)} s, ${rate(job.counts.total / took)}`;
  report(`${what}, read from and written to`, shown);
  if (meanwhile.reads.length === 0) report("it ended before anything was measured", "");
  for (const [name, target] of [["reads", readers] as const, ["writes", writers] as const]) {
    const [now, before] = [median(meanwhile[name]), median(alone[name])];
    if (Number.isNaN(now)) continue;
    const against = { ratio: now / before, target, of: `${rate(before)} alone` };
    report(`${name} meanwhile`, rate(now), against);
  }
}

/** Profiles of a thousand tables, as many as asked for; how many there are. */
async function fillEvents({ address }: ServiceProcess, events: number): Promise<number> {
  const client = createClient(address);
  const size = 2_000;
  for (let from = 0; from < events; from += size) {
    const proposals = Array.from({ length: size }, (_, i) => {
      const n = from + i;
      return proposal(urnOf(n % 1_000), "datasetProfile", { timestampMillis: n, rowCount: n });
    });
    await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  }
  return events;
}

/** Until no view is behind. */
async function settled({ address }: ServiceProcess): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${address}/metrics`)).text();
    const lags = [...text.matchAll(/^annals_view_lag_records\{[^}]*\} (\d+)/gm)];
    if (lags.length > 0 && lags.every(([, lag]) => lag === "0")) return;
    await pause(200);
  }
}
