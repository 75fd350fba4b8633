/** Starts the projector's thread (projector-thread.ts), which loads its modules and then waits for its configuration. */
import { Worker } from "node:worker_threads";
import { threadLimits } from "./thread-limits.ts";

/** `module`: the module that opens the stores (ThreadStores); src/app/stores.ts when absent. */
export const startProjectorWorker = (module?: URL): Worker =>
  new Worker(new URL("projector-thread.ts", import.meta.url), {
    resourceLimits: threadLimits,
    workerData: module?.href,
    name: "projector",
  });
