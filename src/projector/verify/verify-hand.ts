/** A thread that works for a verification; hands.ts is its other end. */
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError, saidBy } from "../../core/errors.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { createVerifying } from "./batches.ts";
import type { FromHand, HandData, ToHand, Work } from "./hands.ts";
import type { VerifiedView } from "./view-rows.ts";

/** What the module that opens the stores exports. */
export interface VerifyStores<Config = unknown> {
  openVerifiedViews(
    config: Config,
    names: readonly string[],
    beside?: unknown,
  ): Promise<readonly VerifiedView[]>;
  openLogReader(config: Config): Promise<ChangeLog>;
}

const port = parentPort;

async function run(data: HandData): Promise<void> {
  assert(port !== null, "this file is a thread's own");
  const stores = (await import(data.module)) as VerifyStores;
  const log = await stores.openLogReader(data.config);
  const views = await stores.openVerifiedViews(data.config, data.views, data.beside);
  const work = createVerifying(log, views);
  const tell = (message: FromHand) => port.postMessage(message);
  port.on("message", async (message: ToHand) => {
    if (message === "close") {
      port.close();
      for (const { rows } of views) await rows.close();
      await log.close();
      return;
    }
    const { id } = message;
    try {
      tell({ id, done: await doneBy(work, message) });
    } catch (error) {
      const code = error instanceof CatalogError ? error.code : "internal";
      const text = saidBy(error);
      tell({ id, failure: { code, message: text } });
    }
  });
  tell("started");
}

function doneBy(work: Work, message: Exclude<ToHand, "close">) {
  if ("batch" in message) return work.verify(message.batch);
  if ("sum" in message) return work.sum(message.sum);
  return work.faults(message.faults);
}

await run(workerData as HandData);
