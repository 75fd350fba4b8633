/**
 * Memory limits of threads that project, build or verify views. Objects live as long as a batch, so a
 * small young generation makes garbage collection ten times faster.
 */
import type { ResourceLimits } from "node:worker_threads";

export const threadLimits: ResourceLimits = { maxYoungGenerationSizeMb: 48 };
