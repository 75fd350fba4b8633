/**
 * The time that a view stands still when its projector is killed: during slow writes, the active
 * one of two projectors gets SIGKILL, and the time runs until the other one advances the aspect
 * table.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";
import { median } from "./load.ts";
import { report } from "./report.ts";

const rounds = 7;
const targetSeconds = 5;
const writeEveryMs = 50;
const lookEveryMs = 10;
/** The standby watches the view for this long before the kill. */
const watchedMs = 2_000;
/** The last batch of the killed projector may be committed in the server after the kill. */
const settlingMs = 100;
const waitMsMax = 60_000;

export async function benchTakeover(): Promise<void> {
  const stores = await reachCluster(["postgres"]);
  if ("skipped" in stores) return report("takeover", "left out");
  await using cluster = await startCluster(stores);
  await using place = await openPlace(cluster);
  const api = await cluster.startNode("api");
  let active = await cluster.startNode("projector");
  const writing = trickle(api);
  const stoodStill: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const next = await cluster.startNode("projector");
    await pause(watchedMs);
    const killed = performance.now();
    await active.stop("SIGKILL");
    await pause(settlingMs);
    await untilMoved(place);
    stoodStill.push(performance.now() - killed);
    active = next;
  }
  await writing.end();
  report(
    `a view whose feeder is killed moves again, ${rounds} times, median`,
    shown(median(stoodStill)),
  );
  report("the worst of them", `${shown(Math.max(...stoodStill))} (target ${targetSeconds} s)`);
}

const shown = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

interface Place extends AsyncDisposable {
  /** The position of the view in its store, as every node reads it. */
  position(): Promise<number>;
}

async function openPlace({ settings }: Cluster): Promise<Place> {
  const client = new pg.Client({ connectionString: settings.ANNALS_ASPECTS });
  await client.connect();
  const text = `SELECT position FROM "${settings.ANNALS_STORE_NAME}".view WHERE live`;
  return {
    position: async () => Number((await client.query(text)).rows[0]?.position),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function untilMoved(place: Place): Promise<void> {
  const end = performance.now() + waitMsMax;
  const before = await place.position();
  while ((await place.position()) === before) {
    if (performance.now() > end) throw new Error("nobody feeds the view");
    await pause(lookEveryMs);
  }
}

/** Writes at a steady rate until it is stopped. */
function trickle({ client }: ClusterNode): { end(): Promise<void> } {
  let ended = false;
  const writing = (async () => {
    for (let n = 0; !ended; n++) {
      const { status } = await client.upsert(`urn:li:tag:t${n % 50}`, "tagProperties", {
        name: `name ${n}`,
      });
      if (status !== 200) throw new Error(`a write was answered with ${status}`);
      await pause(writeEveryMs);
    }
  })();
  writing.catch(() => {});
  return {
    async end() {
      ended = true;
      await writing;
    },
  };
}

if (import.meta.main) await benchTakeover();
