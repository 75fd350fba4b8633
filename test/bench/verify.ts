/**
 * Verification of all views at two sizes, as `annals verify` does it: records per second, CPU time
 * and memory.
 */
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog, openLogReader } from "../../src/app/open-log.ts";
import { viewNames } from "../../src/app/store-locations.ts";
import { type StoresConfig, storesConfig } from "../../src/app/stores.ts";
import { verifyStoredViews } from "../../src/app/verification/verified-views.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { readConfig } from "../../src/config/config.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { fill } from "./offline-rebuild.ts";
import { plainRowsIn } from "./plain-rows.ts";
import { rate, ratio, report } from "./report.ts";

const target = 20_000;

export async function benchVerify(sizes: readonly number[] = [100_000, 1_000_000]): Promise<void> {
  for (const size of sizes) {
    using directory = temporaryDirectory("annals-bench");
    const config = readConfig({ data: directory.path }, {});
    await fill(await openLog(config), size);
    await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
    const log = await openLogReader(config);
    const stores = await storesConfig(config, viewRules(loadModel()), log);
    await log.close();
    const shown = `${size.toLocaleString("en")} records`;

    const plain = await plainRowsIn(config);
    const whole = await timed(stores);
    const reached = `${rate(size / whole.seconds)} (target ${target.toLocaleString("en")})`;
    const how = `${reached}, ${ratio(size / whole.seconds / plain)} of plain rows`;
    report(`verify all four views, ${shown}`, how);
    const ofCore = `${rate(size / whole.cpuSeconds)} of processor time`;
    report("the same for a second of one core", ofCore);
    report("memory of the process", `${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
  }
}

interface Timed {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

async function timed(stores: StoresConfig): Promise<Timed> {
  const begun = performance.now();
  const before = process.cpuUsage();
  const { views } = await verifyStoredViews(stores, { views: viewNames });
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(before);
  const differing = views.filter(({ count }) => count > 0);
  if (differing.length > 0) throw new Error(`views differ: ${JSON.stringify(differing)}`);
  return { seconds, cpuSeconds: (user + system) / 1e6 };
}
