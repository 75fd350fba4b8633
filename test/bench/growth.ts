/**
 * The cost of requests on catalogs of several sizes: CPU time of the service for each write
 * (projected into all views), read and search; files, idle memory, and the start after a crash.
 * The log is written by the append path, the views by `annals rebuild`.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { caughtUp } from "../support/caught-up.ts";
import { createClient, encoded } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { idle, processTime } from "./cpu.ts";
import { type Figures, milliseconds } from "./figures.ts";
import { type Load, load } from "./load.ts";
import { fill } from "./offline-rebuild.ts";
import { single, urnOf } from "./sample.ts";

const connections = 16;
const seconds = 4;
const warmSeconds = 2;
/** Entities that the requests of a load name. */
const named = 20_000;
const files = ["log", "aspects", "timeseries", "graph", "search"];

export async function* benchGrowth(sizes: readonly number[]): Figures {
  for (const size of sizes) {
    for await (const figure of benchSize(size)) yield { ...figure, size };
  }
}

async function* benchSize(size: number): Figures {
  using directory = temporaryDirectory("annals-bench");
  const data = directory.path;
  const config = readConfig({ data }, {});
  const filledMs = await milliseconds(async () => fill(await openLog(config), size));
  yield { name: "records appended", value: (size * 1_000) / filledMs, unit: "/s" };
  const rebuiltMs = await milliseconds(() =>
    rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") }),
  );
  yield { name: "records rebuilt into all views", value: (size * 1_000) / rebuiltMs, unit: "/s" };
  for (const name of files) {
    const bytes = statSync(join(data, `${name}.sqlite`)).size;
    yield { name: `${name}.sqlite for 1,000,000 records`, value: bytes / size, unit: "MB" };
  }
  // The first start writes the compile cache.
  await (await startService(data, { asInstalled: true })).stop();
  await using service = await startService(data, { asInstalled: true });
  yield { name: "start", value: service.startedInMs, unit: "ms", goal: 1_000 };
  // A rebuild leaves merges to the service.
  await idle(service.pid);
  yield { name: "idle memory", value: residentMegabytes(service.pid), unit: "MB" };
  yield* benchRequests(service, data, Math.floor(size / 5));
  await service.stop("SIGKILL");
  const begun = performance.now();
  await using again = await startService(data, { asInstalled: true });
  await ready(again);
  const value = performance.now() - begun;
  await again.stop();
  yield { name: "ready after kill -9", value, unit: "ms", goal: 1_500 };
}

async function* benchRequests(service: ServiceProcess, directory: string, entities: number) {
  const numbers = Array.from({ length: named }, (_, n) => (n * 7_907) % entities);
  const client = createClient(service.address);
  const searched = (input: (n: number) => string) =>
    numbers.map((n) => ({
      path: "/entities?action=search",
      body: JSON.stringify({ entity: "dataset", input: input(n), start: 0, count: 10 }),
    }));
  const loads: Readonly<Record<string, Pick<Load, "method" | "requests">>> = {
    write: {
      method: "POST",
      requests: numbers.map((n, i) => ({
        path: "/aspects?action=ingestProposal",
        body: single(n, 1_000_000 + i),
      })),
    },
    read: {
      method: "GET",
      requests: numbers.map((n) => ({ path: `/entitiesV2/${encoded(urnOf(n))}` })),
    },
    "search for a name": { method: "POST", requests: searched((n) => `table_${n}`) },
    "search for a word of all documents": { method: "POST", requests: searched(() => "table") },
  };
  for (const [name, one] of Object.entries(loads)) {
    const run = (seconds: number) => load({ ...one, url: service.address, connections, seconds });
    const applied = () => caughtUp({ client, directory }, { secondsMax: 600 });
    await run(warmSeconds);
    await applied();
    const before = processTime(service.pid);
    const { perSecond, p99Ms } = await run(seconds);
    // The views apply the last writes, and search merges its segments, after the responses.
    await applied();
    await idle(service.pid);
    const spent = processTime(service.pid) - before;
    const note = `p99 ${p99Ms} ms, ${connections} connections`;
    yield { name: `${name}: requests`, value: perSecond, unit: "/s" as const, note };
    // A search beyond the time limit has an error for a response, and no cost.
    if (perSecond > 0) yield { name, value: spent / (perSecond * seconds), unit: "us" as const };
  }
}

/** Waits until the service answers that it is ready. */
async function ready({ address }: ServiceProcess): Promise<void> {
  while (!(await fetch(`${address}/health/ready`)).ok) await pause(5);
}

/** Linux only: the resident set, as the kernel counts it. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024) / 1e6;
}
