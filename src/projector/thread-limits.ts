import type { ResourceLimits } from "node:worker_threads";

/**
 * Of threads that feed views, grow them or compare them. Most of a batch is gone with it: collected in
 * less room, it takes a tenth of the time.
 */
export const threadLimits: ResourceLimits = { maxYoungGenerationSizeMb: 48 };
